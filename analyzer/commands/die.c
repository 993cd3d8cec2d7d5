/* Prints an error as one line on standard error and ends the program. */
#include "commands/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "report/table_formats.h"
#include "trace/session_file.h"

static bool as_json, reads_usage;

void die_with_json(bool json)
{
    as_json = json;
}

void die_read_usage(bool reads)
{
    reads_usage = reads;
}

/* What was printed before is left alone: nothing was if no byte was written or waits in the buffer. */
static void die_print_json(const char *text)
{
    static const char missing[] = ": No such file or directory";
    const size_t length = strlen(text), end = sizeof missing - 1;
    const char *code = reads_usage                                                  ? "usage"
                       : length >= end && strcmp(text + length - end, missing) == 0 ? "no-session"
                                                                                    : "failed";
    if (!as_json || json_has_begun())
        return;
    printf("{\"schema\": \"dwell-error-1\",\n \"error\": {\"code\": \"%s\", \"message\": ", code);
    json_put_text(stdout, text);
    fputs("}}\n", stdout);
    fflush(stdout);
}

/* Adds a hint if there is no default session. */
static void die_say(const char *text)
{
    const bool none = strcmp(text, DWELL_USUAL_FILE ": No such file or directory") == 0;
    die_print_json(text);
    say("%s%s", text, none ? "; record a program first: dwell record ./prog" : "");
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    die_say(text);
    free(text);
    exit(status);
}

void die_of(const struct error *error)
{
    die_say(error->text);
    fputs(error->list ? error->list : "", stderr);
    exit(STATUS_ERROR);
}
