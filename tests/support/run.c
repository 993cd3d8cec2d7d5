/* Runs shell commands for tests, and reads and compares the reports that they print. */
#include "support/run.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/scenario.h"

static char *run_read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL);
    size_t length = 0, room = 4096;
    char *text = malloc(room);
    for (size_t got; (got = fread(text + length, 1, room - length - 1, in)) > 0;) {
        length += got;
        if (room - length < 2)
            text = realloc(text, room *= 2);
    }
    text[length] = '\0';
    fclose(in);
    return text;
}

static void run_redirect(const char *name, int to)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(99);
    close(fd);
}

static void __attribute__((noreturn)) run_exec_shell(const char *command, const char *folder)
{
    const bool special = getenv("DWELL_RANDOM_LEVELS") || getenv("DWELL_FSGSBASE"), slow = getenv("DWELL_SLOW");
    setenv("DWELL", special ? DWELL_RANDOM_EXE : slow ? DWELL_SLOW_EXE : DWELL_EXE, 1);
    if (getenv("DWELL_FSGSBASE"))
        setenv("TEST_FSGSBASE", getenv("DWELL_FSGSBASE"), 1); /* for the program, which does not see the other one */
    setenv("XDG_CONFIG_HOME", "/proc/none", 1); /* no options from the user's own configuration: nobody can make it */
    setenv("RUNTIME", slow ? DWELL_SLOW_RUNTIME : DWELL_RUNTIME, 1);
    setenv("SAMPLES", DWELL_SAMPLES, 1);
    setenv("PROGRAMS", DWELL_PROGRAMS, 1);
    setenv("ORACLE", DWELL_ORACLE, 1);
    setenv("BUILD", DWELL_BUILD, 1);
    unsetenv("COLUMNS");     /* of whoever runs the tests */
    signal(SIGINT, SIG_DFL); /* shells start background jobs with these two signals ignored */
    signal(SIGQUIT, SIG_DFL);
    if (chdir(folder) < 0)
        _exit(99);
    run_redirect(".out", STDOUT_FILENO);
    run_redirect(".err", STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(99);
}

static struct ran run_command(const char *command)
{
    const char *folder = test_folder();
    pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0)
        run_exec_shell(command, folder);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        cr_assert(eq(int, errno, EINTR));
    struct ran r;
    r.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    r.out = run_read_file(test_path(".out"));
    r.err = run_read_file(test_path(".err"));
    return r;
}

struct ran run(const char *format, ...)
{
    char *command = NULL;
    va_list arguments;
    va_start(arguments, format);
    cr_assert(ge(int, vasprintf(&command, format, arguments), 0));
    va_end(arguments);
    struct ran r = run_command(command);
    free(command);
    return r;
}

void ran_drop(struct ran *r)
{
    free(r->out);
    free(r->err);
}

static char *run_formatted(const char *format, va_list arguments)
{
    char *command = NULL;
    cr_assert(ge(int, vasprintf(&command, format, arguments), 0));
    struct ran r = run_command(command);
    cr_assert(eq(int, r.status, 0), "%s\n%s%s", command, r.out, r.err);
    free(command);
    free(r.err);
    return r.out;
}

char *run_well(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *out = run_formatted(format, arguments);
    va_end(arguments);
    return out;
}

char *run_until(const char *wanted, const char *format, ...)
{
    char *out = NULL;
    for (int try = 0; try < MOST_TRIES && !(out && strcmp(out, wanted) == 0); try++) {
        va_list arguments;
        free(out);
        va_start(arguments, format);
        out = run_formatted(format, arguments);
        va_end(arguments);
    }
    return out;
}

/* Tests compare whole recordings, unless they are about the budget. With this variable, they have a budget, too. */
static void __attribute__((constructor)) run_without_budget(void)
{
    setenv("DWELL_OVERHEAD", "none", 0);
}

void without_os_calls(void)
{
    setenv("DWELL_OS_CALLS", "off", 1);
    setenv("DWELL_SAMPLE", "0", 1);
}

bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

uint64_t truth(const char *out, const char *name)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "calls %s ", name);
    const char *at = strstr(out, wanted);
    cr_assert(at != NULL, "no '%s' in: %s", wanted, out);
    return strtoull(at + strlen(wanted), NULL, 10);
}

struct report {
    struct json_object *root, *rows;
};

struct report *report_of(const char *arguments)
{
    char *text = run_well("$DWELL report --format json %s", arguments);
    struct report *r = malloc(sizeof *r);
    r->root = json_tokener_parse(text);
    cr_assert(r->root != NULL, "no JSON: %s", text);
    cr_assert(json_object_object_get_ex(r->root, "rows", &r->rows));
    free(text);
    return r;
}

void report_drop(struct report *r)
{
    json_object_put(r->root);
    free(r);
}

static struct json_object *report_row_value(struct json_object *row, const char *key)
{
    struct json_object *value = NULL;
    cr_assert(json_object_object_get_ex(row, key, &value), "no key '%s'", key);
    return value;
}

static bool report_is_row(struct json_object *row, const char *by, const char *name)
{
    return !name || strcmp(json_object_get_string(report_row_value(row, by)), name) == 0;
}

uint64_t report_sum(const struct report *r, const char *by, const char *name, const char *key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < json_object_array_length(r->rows); i++) {
        struct json_object *row = json_object_array_get_idx(r->rows, i);
        if (report_is_row(row, by, name))
            sum += json_object_get_uint64(report_row_value(row, key));
    }
    return sum;
}

bool report_null(const struct report *r, const char *by, const char *name, const char *key)
{
    for (size_t i = 0; i < json_object_array_length(r->rows); i++) {
        struct json_object *row = json_object_array_get_idx(r->rows, i);
        if (report_is_row(row, by, name))
            return report_row_value(row, key) == NULL;
    }
    return false;
}

uint64_t report_session(const struct report *r, const char *key)
{
    return json_object_get_uint64(report_row_value(report_row_value(r->root, "session"), key));
}

void check_counts(const char *out, const struct report *r, int least)
{
    int lines = 0;
    char *copy = strdup(out), *rest = copy, wrong[1024] = "";
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *blank = strrchr(line, ' ');
        if (strncmp(line, "calls ", 6) != 0)
            continue;
        *blank = '\0';
        uint64_t calls = strtoull(blank + 1, NULL, 10);
        const uint64_t recorded = report_sum(r, "function", line + 6, "calls");
        const size_t length = strlen(wrong);
        if (recorded != calls)
            snprintf(wrong + length, sizeof wrong - length, "%s: %" PRIu64 " recorded, %" PRIu64 " made\n", line + 6,
                     recorded, calls);
        lines++;
    }
    char *info = *wrong ? run_well("$DWELL info") : NULL;
    cr_assert(eq(str, wrong, ""), "%s%s", wrong, info);
    cr_assert(ge(int, lines, least));
    free(copy);
}

void check_sums(const struct report *r, const char *by)
{
    static const char *const kinds[] = { "elapsed", "application" };
    for (int i = 0; i < 2; i++) {
        char exclusive[64], inclusive[64];
        snprintf(exclusive, sizeof exclusive, "%s_exclusive_ns", kinds[i]);
        snprintf(inclusive, sizeof inclusive, "%s_inclusive_ns", kinds[i]);
        const uint64_t sum = report_sum(r, by, NULL, exclusive), whole = report_session(r, inclusive);
        cr_assert(le(u64, sum, whole + json_object_array_length(r->rows)), "%s", kinds[i]);
        cr_assert(ge(u64, sum + json_object_array_length(r->rows), whole), "%s", kinds[i]);
    }
}

char *report_paths(const char *arguments)
{
    return run_well("$DWELL tree --min 0 --depth 999 --format csv %s | tr -d '\\r' | "
                    "awk -F, 'NR > 1 { p[$1] = $1 > 1 ? p[$1 - 1] \"/\" $3 : $3; print p[$1], $5 }' | LC_ALL=C sort",
                    arguments);
}
