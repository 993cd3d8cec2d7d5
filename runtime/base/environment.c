/* Takes the variables of a recording out of the program's environment, keeps copies, and adds them to the environment
 * of executed programs. */

#include <stdint.h>
#include <string.h>

#include "environment.h"
#include "interposed.h"
#include "modules.h"
#include "runtime.h"
#include "secure.h"
#include "sys.h"

enum { MAX_SETTINGS = 32 };

static const char preload_name[] = "LD_PRELOAD=";
static const char library_name[] = "libdwell.so";
enum { PRELOAD_LENGTH = sizeof preload_name - 1 };

/* These are copies: some programs overwrite their initial environment to change their title. */
static struct {
    char *settings[MAX_SETTINGS]; /* NAME=value */
    int count;
    char *own;    /* this library's entry in LD_PRELOAD; NULL if it has none */
    uint32_t pid; /* of the process that the program was started in */
} kept;

extern char **environ;

/* DWELL_PERFLOG, the path of a program's own log (perflog.h), stays visible to the program. */
static bool environment_is_setting(const char *variable)
{
    return strncmp(variable, "DWELL_", 6) == 0 && strncmp(variable, "DWELL_PERFLOG=", 14) != 0;
}

static bool environment_is_preload(const char *variable)
{
    return strncmp(variable, preload_name, PRELOAD_LENGTH) == 0;
}

/* Colons or blanks separate entries. The loader accepts both. */
static size_t environment_entry_length(const char *entry)
{
    return strcspn(entry, ": ");
}

/* The file's name may end with a version, such as ".0". */
static bool environment_is_library(const char *entry, size_t length)
{
    const size_t name = sizeof library_name - 1;
    while (length > name && (entry[length - 1] == '.' || (entry[length - 1] >= '0' && entry[length - 1] <= '9')))
        length--;
    if (length < name || strncmp(entry + length - name, library_name, name) != 0)
        return false;
    return length == name || entry[length - name - 1] == '/';
}

/* Returns this library's entry in the value of LD_PRELOAD, or NULL. */
static const char *environment_find_library(const char *value)
{
    while (*value) {
        const size_t length = environment_entry_length(value);
        if (environment_is_library(value, length))
            return value;
        value += length + (value[length] != '\0');
    }
    return NULL;
}

static char *environment_keep(const char *text, size_t length)
{
    static char first[2 * PAGE]; /* enough for what `dwell record` sets, so that this cannot fail */
    static char *place = first;
    static size_t left = sizeof first;
    if (left < length + 1) {
        const size_t size = length + 1 > PAGE ? (length + PAGE) / PAGE * PAGE : PAGE;
        char *fresh = sys_memory(size);
        if (!fresh)
            return NULL;
        place = fresh;
        left = size;
    }
    char *copy = place;
    memcpy(copy, text, length);
    copy[length] = '\0';
    place += length + 1;
    left -= length + 1;
    return copy;
}

static void environment_remember(const char *variable)
{
    if (environment_is_setting(variable) && kept.count < MAX_SETTINGS) {
        char *copy = environment_keep(variable, strlen(variable));
        if (copy)
            kept.settings[kept.count++] = copy;
    } else if (environment_is_preload(variable)) {
        const char *entry = environment_find_library(variable + PRELOAD_LENGTH);
        if (entry)
            kept.own = environment_keep(entry, environment_entry_length(entry));
    }
}

static void environment_cut_entry(char *value, char *entry)
{
    char *rest = entry + environment_entry_length(entry);
    if (*rest)
        rest++;
    else if (entry > value)
        entry--; /* the separator before the entry */
    memmove(entry, rest, strlen(rest) + 1);
}

/* Removes this library from a variable LD_PRELOAD=..., however often it is there. Returns false if nothing remains of
 * the value. */
static bool environment_cut_library(char *variable)
{
    char *value = variable + PRELOAD_LENGTH;
    bool cut = false;
    for (const char *entry; (entry = environment_find_library(value)); cut = true)
        environment_cut_entry(value, (char *)entry);
    return !cut || *value != '\0';
}

void environment_hide(char **list)
{
    char **to = list;
    for (char **from = list; *from; from++)
        if (!environment_is_setting(*from) && (!environment_is_preload(*from) || environment_cut_library(*from)))
            *to++ = *from;
    *to = NULL;
}

bool environment_is_there(void)
{
    return environ != NULL;
}

void environment_adopt(void)
{
    if (!environ || secure_is_privileged())
        return;
    kept.count = 0;
    kept.own = NULL;
    kept.pid = (uint32_t)SYS0(getpid);
    for (char **variable = environ; *variable; variable++)
        environment_remember(*variable);
}

const char *environment_get(const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < kept.count; i++)
        if (strncmp(kept.settings[i], name, length) == 0 && kept.settings[i][length] == '=')
            return kept.settings[i] + length + 1;
    return NULL;
}

void environment_replace(char *setting)
{
    const size_t length = strcspn(setting, "=") + 1;
    int at = 0;
    while (at < kept.count && strncmp(kept.settings[at], setting, length) != 0)
        at++;
    if (at == MAX_SETTINGS)
        return;
    __atomic_store_n(&kept.settings[at], setting, __ATOMIC_RELEASE);
    if (at == kept.count)
        __atomic_store_n(&kept.count, at + 1, __ATOMIC_RELEASE);
}

bool environment_follows(void)
{
    const char *follow = environment_get("DWELL_FOLLOW");
    return !follow || strcmp(follow, "no") != 0;
}

/* ---- for the programs that are executed ---- */

/* libdwell.a does not interpose exec and could not put the variables back. They stay, with those that are new. */
static void environment_complete(void)
{
    const size_t size = environment_room(environ, false, false);
    void *room = size ? sys_memory(size) : NULL;
    if (room)
        environ = environment_fill(environ, room, false);
}

void environment_conceal(void)
{
    if (!environ || !environment_get("DWELL_OUTPUT"))
        return;
    if (&dwell_interposed || !environment_follows())
        environment_hide(environ);
    else
        environment_complete();
}

static bool environment_has_setting(char *const *list, const char *setting)
{
    const size_t length = strcspn(setting, "=") + 1;
    for (; list && *list; list++)
        if (strncmp(*list, setting, length) == 0)
            return true;
    return false;
}

/* The last one, as the loader uses it if there are several. */
static const char *environment_preload_of(char *const *list)
{
    const char *last = NULL;
    for (; list && *list; list++)
        if (environment_is_preload(*list))
            last = *list;
    return last;
}

static bool environment_lacks_library(char *const *list)
{
    const char *preload = environment_preload_of(list);
    return kept.own && (!preload || !environment_find_library(preload + PRELOAD_LENGTH));
}

/* Appends the library to the existing value, as `dwell record` does. */
static char *environment_join_preload(char *at, const char *preload)
{
    char *end = stpcpy(at, preload ? preload : preload_name);
    if (end - at > PRELOAD_LENGTH) /* the value is not empty */
        *end++ = ':';
    strcpy(end, kept.own);
    return at;
}

/* The first process stays the first when it executes another program. */
bool environment_is_first_process(void)
{
    return kept.pid == (uint32_t)SYS0(getpid);
}

size_t environment_room(char *const *list, bool in_place, bool preload)
{
    if (!environment_get("DWELL_OUTPUT") || (!environment_follows() && !(in_place && environment_is_first_process())))
        return 0;
    const bool lacks = preload && environment_lacks_library(list);
    bool complete = !lacks;
    for (int i = 0; complete && i < kept.count; i++)
        complete = environment_has_setting(list, kept.settings[i]);
    if (complete)
        return 0;
    size_t count = 0;
    while (list && list[count])
        count++;
    const char *before = environment_preload_of(list);
    const size_t text = lacks ? (before ? strlen(before) : PRELOAD_LENGTH) + strlen(kept.own) + 2 : 0;
    return (count + (size_t)kept.count + 2) * sizeof(char *) + text;
}

char **environment_fill(char *const *list, void *room, bool preload)
{
    const bool lacks = preload && environment_lacks_library(list);
    const char *before = environment_preload_of(list);
    size_t count = 0;
    while (list && list[count])
        count++;
    char **filled = room, **to = filled;
    char *text = (char *)(filled + count + (size_t)kept.count + 2);
    for (size_t i = 0; i < count; i++)
        if (!lacks || list[i] != before)
            *to++ = list[i];
    if (lacks)
        *to++ = environment_join_preload(text, before);
    for (int i = 0; i < kept.count; i++)
        if (!environment_has_setting(list, kept.settings[i]))
            *to++ = kept.settings[i];
    *to = NULL;
    return filled;
}
