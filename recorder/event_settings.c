/* Parses and checks the trace events to enable: a GUID or a name, with an optional severity. */
#include "recorder/event_settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/event_names.h"
#include "trace/trace_event_list.h"

/* Whether it is a name that dwell_event_register takes. */
static bool event_settings_is_subject(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (strcmp(text, "*") == 0)
        return true;
    return *text && text[strspn(text, letters)] == '\0' && !strchr("._-", *text);
}

char *event_setting(const char *text, const char *place, struct error *error)
{
    const char *colon = strrchr(text, ':');
    char *subject = need_copy(text, colon ? (size_t)(colon - text) : strlen(text));
    const char *severity_text = colon ? colon + 1 : "255";
    const int severity = event_severity(severity_text);
    const bool off = strcmp(severity_text, "off") == 0;
    uint8_t guid[16];
    char guid_name[GUID_TEXT];
    const bool is_guid = guid_parse(subject, guid);
    if (is_guid)
        guid_text(guid, guid_name);
    else if (!event_settings_is_subject(subject))
        error_set(error, "%s: '%s' is neither the name of a class of events, nor a GUID, nor *", place, subject);
    if (severity < 0 && !off)
        error_set(
            error,
            "%s: '%s' is not a level: a number from 0 to 255, critical, error, warning, information, verbose, or off",
            place, severity_text);
    const char *name = is_guid ? guid_name : subject;
    char *setting = error->text ? NULL : off ? need_text("%s:off", name) : need_text("%s:%d", name, severity);
    free(subject);
    return setting;
}
