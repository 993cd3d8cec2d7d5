/*
 * The fuzzer's target for what the environment, a fleet's file and conditions say. Input: which of them, then lines.
 * The runtime's variables must be hidden from the program, and come back for the programs that it executes. The
 * settings of a fleet must fit into a header of a request, and conditions must be data in SQL.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "environment.h"
#include "fleet/push.h"
#include "fleet/runs.h"
#include "fuzz/fuzz.h"
#include "process.h"
#include "runtime.h"

extern char **environ;
struct runtime runtime;

/* ---- instead of the runtime's other files ---- */

struct dwell_record *metadata_append(const struct dwell_record *record, size_t size, const struct text *texts,
                                     int count)
{
    (void)record, (void)size, (void)texts, (void)count;
    return NULL;
}

bool metadata_append_in_helper(const struct dwell_record *record, size_t size)
{
    (void)record, (void)size;
    return false;
}

/* ---- lines ---- */

enum { MOST = 100 };

static size_t settings_split(char *text, char *lines[MOST + 1])
{
    size_t count = 0;
    for (char *line; count < MOST && (line = strsep(&text, "\n"));)
        lines[count++] = line;
    lines[count] = NULL;
    return count;
}

/* ---- the runtime ---- */

static bool settings_is_variable(const char *line)
{
    return strncmp(line, "DWELL_", 6) == 0 && strncmp(line, "DWELL_PERFLOG=", 14) != 0;
}

static bool settings_is_library(const char *entry, size_t length)
{
    static const char name[] = "libdwell.so";
    const char *slash = memrchr(entry, '/', length);
    const char *base = slash ? slash + 1 : entry;
    const size_t left = length - (size_t)(base - entry);
    return left >= strlen(name) && strncmp(base, name, strlen(name)) == 0 &&
           strspn(base + strlen(name), ".0123456789") >= left - strlen(name);
}

static bool settings_preload_library(const char *line)
{
    if (strncmp(line, "LD_PRELOAD=", 11) != 0)
        return false;
    for (line += 11; *line; line += strspn(line, ": ")) {
        const size_t length = strcspn(line, ": ");
        if (settings_is_library(line, length))
            return true;
        line += length;
    }
    return false;
}

static bool settings_have(char *const *list, const char *line)
{
    for (; *list; list++)
        if (strcmp(*list, line) == 0)
            return true;
    return false;
}

/* Executes a program with an environment that lacks the variables: it gets them, once. */
static void settings_execute(char **hidden, char *const *kept, bool preload)
{
    const size_t size = environment_room(hidden, true, preload);
    if (!size)
        return;
    void *room = malloc(size);
    fuzz_require(room != NULL);
    char **filled = environment_fill(hidden, room, preload);
    for (; *kept; kept++)
        fuzz_require(settings_have(filled, *kept));
    fuzz_require(environment_room(filled, true, preload) == 0);
    free(room);
}

static void settings_try_runtime(char *text)
{
    enum { VARIABLES = 32, HOUR = 3600000 };
    static struct process process;
    char *lines[MOST + 1], *kept[VARIABLES + 1], **before = environ;
    char *copy = need_copy(text, strlen(text));
    size_t count = 0;
    process = (struct process){ .pid = (uint32_t)getpid() };
    runtime.process = &process;
    settings_split(copy, lines);
    for (size_t i = 0; lines[i] && count < VARIABLES; i++)
        if (settings_is_variable(lines[i]))
            kept[count++] = strdup(lines[i]);
    kept[count] = NULL;
    environ = lines;
    environment_adopt();
    monitor_begin();
    fuzz_require(process.monitor.interval <= (uint64_t)HOUR * 1000000);
    environment_hide(lines);
    environ = before;
    for (char **line = lines; *line; line++)
        fuzz_require(!settings_is_variable(*line) && !settings_preload_library(*line));
    settings_execute(lines, kept, false);
    settings_execute(lines, kept, true);
    for (size_t i = 0; i < count; i++)
        free(kept[i]);
    free(copy);
}

/* ---- a fleet ---- */

static const char FILE_BEGINS[] = "\n--FILE--\n";
static char settings_folder[] = "/tmp/dwell-fuzz-XXXXXX";

static void settings_remove_folder(void)
{
    char *inner = need_text("%s/dwell", settings_folder), *file = need_text("%s/fleet", inner);
    unlink(file);
    rmdir(inner);
    rmdir(settings_folder);
    free(file);
    free(inner);
}

/* A folder of configuration whose file is what `fd` is open for. */
static const char *settings_variable_of(int fd)
{
    enum { AT = 100 };
    static char *variable;
    fuzz_require(dup2(fd, AT) == AT);
    if (!variable) {
        fuzz_require(mkdtemp(settings_folder) != NULL);
        atexit(settings_remove_folder);
        variable = need_text("XDG_CONFIG_HOME=%s", settings_folder);
        char *inner = need_text("%s/dwell", settings_folder), *file = need_text("%s/fleet", inner);
        char *opened = need_text("/proc/self/fd/%d", AT);
        fuzz_require(mkdir(inner, 0700) == 0 && symlink(opened, file) == 0);
        free(inner);
        free(file);
        free(opened);
    }
    return variable;
}

/* In a header, a control character would begin another one. */
static void settings_check_text(const char *text)
{
    for (; text && *text; text++)
        fuzz_require((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void settings_check_store(const struct fleet_store *store, bool good, struct error *error)
{
    fuzz_require(good ? !error->text : error->text && error->text[0]);
    error_drop(error);
    if (!good)
        return;
    fuzz_require(store->url && store->database && !strpbrk(store->database, "'\"` ;-"));
    settings_check_text(store->url);
    settings_check_text(store->user);
    settings_check_text(store->password);
}

static void settings_try_store(char *text)
{
    char path[FUZZ_PATH], *lines[MOST + 2], **before = environ, *file = strstr(text, FILE_BEGINS);
    struct fleet_store store = { 0 };
    struct error error = { NULL };
    const char *content = file ? file + strlen(FILE_BEGINS) : "";
    const int fd = fuzz_file(content, strlen(content), path);
    if (file)
        *file = 0;
    lines[0] = (char *)settings_variable_of(fd);
    settings_split(text, lines + 1);
    environ = lines;
    const bool good = fleet_store_find(&store, &error);
    environ = before;
    settings_check_store(&store, good, &error);
    fleet_store_drop(&store);
    close(fd);
}

static void settings_try_password(const char *text)
{
    char path[FUZZ_PATH];
    struct fleet_store store = { .url = need_copy("http://h", 8) };
    struct error error = { NULL };
    char *none[] = { NULL }, **before = environ;
    const int fd = fuzz_file(text, strlen(text), path);
    environ = none;
    const bool good = fleet_store_read_password(&store, path, &error) && fleet_store_find(&store, &error);
    environ = before;
    settings_check_store(&store, good, &error);
    fuzz_require(!good || store.password);
    fleet_store_drop(&store);
    close(fd);
}

/* What is not digits of a text has no quote, and none of what ends a question. */
static void settings_check_sql(const char *sql)
{
    static const char begin[] = "unhex('";
    while (sql && *sql) {
        if (strncmp(sql, begin, strlen(begin)) == 0) {
            sql += strlen(begin);
            sql += strspn(sql, "0123456789abcdefABCDEF");
            fuzz_require(strncmp(sql, "')", 2) == 0);
            sql += 2;
        }
        fuzz_require(!*sql || !strchr("'\"`\\;#\n\r\t", *sql));
        sql += *sql != 0;
    }
}

static void settings_try_conditions(char *text)
{
    char *lines[MOST + 1];
    struct fleet_conditions conditions = { NULL };
    struct fleet_labels labels = { 0 };
    const size_t count = settings_split(text, lines);
    for (size_t i = 0; i < count; i++) {
        struct error error = { NULL };
        fuzz_require(fleet_condition_add(&conditions, lines[i], &error) || (error.text && error.text[0]));
        error_drop(&error);
        fuzz_require(fleet_labels_add(&labels, lines[i], &error) || (error.text && error.text[0]));
        error_drop(&error);
    }
    settings_check_sql(conditions.sql);
    fuzz_require(conditions.run_count <= count);
    fleet_conditions_drop(&conditions);
    fleet_labels_drop(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t what = fuzz_byte(&data, &size);
    char *text = need_memory(size + 2, 1); /* glibc's getenv reads two bytes of each variable, even of an empty one */
    if (size)
        memcpy(text, data, size);
    if (what % 4 == 0)
        settings_try_runtime(text);
    else if (what % 4 == 1)
        settings_try_store(text);
    else if (what % 4 == 2)
        settings_try_password(text);
    else
        settings_try_conditions(text);
    free(text);
    return 0;
}
