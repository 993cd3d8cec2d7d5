/* Parses and checks the arguments that options of several commands take, such as numbers, times, columns and sort
 * keys. It also opens sessions and ends output for commands. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/find_function.h"
#include "base/counted_text.h"
#include "base/duration.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/within_values.h"
#include "profile/counted.h"
#include "report/table_formats.h"
#include "tables/row_order.h"
#include "tables/views.h"
#include "trace/read_error.h"

unsigned long option_number(const char *option, const char *text)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || *end || end == text || *text == '-')
        die(argp_err_exit_status, "%s: '%s' is not a number", option, text);
    return number;
}

struct amount option_amount(const char *option, const char *text)
{
    struct amount amount;
    const char *wrong = amount_parse(text, &amount);
    if (wrong)
        die(argp_err_exit_status, "%s: '%s' %s", option, text, wrong);
    return amount;
}

uint32_t option_overhead(const char *option, const char *text)
{
    char *end;
    const double percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || (*end && strcmp(end, "%") != 0) || !(percent >= 1 && percent <= 1000))
        die(argp_err_exit_status, "%s: '%s' is not a percentage from 1 to 1000", option, text);
    return (uint32_t)(percent * 10);
}

uint64_t option_size(const char *option, const char *text, uint64_t min, uint64_t max, const char *wanted)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    const bool fits = size <= max >> shift;
    size <<= shift;
    end += unit != NULL;
    if (errno || end == text || *end || *text == '-' || size < min || !fits)
        die(argp_err_exit_status, "%s: '%s' is not %s", option, text, wanted);
    return size;
}

uint64_t option_time(const char *option, const char *text)
{
    uint64_t ns;
    if (duration_parse(text, &ns))
        return ns;
    die(argp_err_exit_status, "%s: '%s' is not a time such as 500ns, 10us, 2.5ms or 1s", option, text);
}

void option_refuse(const char *option, const char *text, const char *names)
{
    die(argp_err_exit_status, "%s: '%s' is none of %s%s", option, text, names, suggestion_of(text, names, ""));
}

void option_check(const char *option, const char *text, const char *names)
{
    const size_t length = strlen(text);
    for (const char *name = names; name; name = strchr(name, ' ')) {
        name += *name == ' ';
        if (length && strcspn(name, ",") == length && strncmp(name, text, length) == 0)
            return;
    }
    option_refuse(option, text, names);
}

size_t option_find_row(const char *option, const char *text, const char *const *first, size_t row_size, size_t count)
{
    char *names = NULL;
    size_t length;
    FILE *out = need_stream(&names, &length);
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)first + i * row_size);
        if (strcmp(name, text) == 0) {
            need_stream_end(out);
            free(names);
            return i;
        }
        fprintf(out, "%s%s", i ? ", " : "", name);
    }
    need_stream_end(out);
    option_refuse(option, text, names);
}

unsigned option_jobs(const char *text)
{
    const unsigned long jobs = option_number("--jobs", text);
    if (jobs < 1 || jobs > 1024)
        die(STATUS_ERROR, "--jobs: must be from 1 to 1024");
    return (unsigned)jobs;
}

void option_check_sort(const char *text, bool recent)
{
    char *message = view_refuse_sort(text, recent, ";");
    if (message)
        die(STATUS_ERROR, "--sort: %s --columns help lists them", message);
}

table_printer *option_format(const char *text)
{
    table_printer *print = table_format(text);
    if (!print)
        option_refuse("--format", text, table_format_names);
    return print;
}

bool option_read_times(void *settings, enum shared_option option, const char *argument)
{
    (void)settings;
    if (option == SHARED_SORT)
        option_check_sort(argument, false);
    if (option == SHARED_COLUMNS && strcmp(argument, "help") == 0) {
        terminal_page();
        view_list_columns(stdout, false);
        exit(finish_output());
    }
    return false;
}

void option_list_columns(const char *text, const struct column *columns, size_t count)
{
    if (strcmp(text, "help") != 0)
        return;
    terminal_page();
    for (size_t i = 0; i < count; i++)
        printf("%-24s %s\n", columns[i].key, columns[i].title);
    exit(finish_output());
}

void option_filter(struct table *t, const struct row_filters *filters)
{
    struct error error = { NULL };
    if (!table_filter(t, filters, &error))
        die_of_line(&error);
}

void option_order(struct table *t, const struct sorting *sorting)
{
    struct error error = { NULL };
    if (!view_sort(t, sorting, &error))
        die_of_line(&error);
}

void option_choose(struct table *t, const char *columns)
{
    struct error error = { NULL };
    if (!table_choose(t, columns, &error))
        die_of_line(&error);
}

void option_arrange(struct table *t, const char *sort, const char *columns, bool all)
{
    struct error error = { NULL };
    if (sort && !table_sort(t, sort, &error))
        die_of_line(&error);
    if (all && columns)
        t->first_value = 0;
    if (columns)
        option_choose(t, columns);
}

void option_arrange_first(struct table *t, const char *sort, size_t limit, const char *columns)
{
    option_arrange(t, sort, NULL, true);
    if (limit)
        table_limit(t, limit);
    option_arrange(t, NULL, columns, true);
}

bool option_is_pid(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Prints why a session could not be read. The output lacks that part. */
static bool options_read_failed(void)
{
    const int error = read_error_take_any();
    if (error)
        say("a part of the session could not be read: %s", strerror(error));
    return error;
}

int finish_output(void)
{
    const bool failed = options_read_failed();
    if (fflush(stdout) == 0 && !ferror(stdout))
        return failed ? STATUS_ERROR : STATUS_OK;
    if (errno == EPIPE && terminal_is_paged())
        return STATUS_OK;
    if (errno != EPIPE)
        say("standard output: %s", strerror(errno));
    return STATUS_ERROR;
}

uint32_t option_function(const struct analysis *analysis, const char *text)
{
    struct error error = { NULL };
    uint32_t function;
    if (!function_find(analysis, text, &function, &error))
        die_of(&error);
    return function;
}

/* Of calls that were not timed, no durations are known. */
static void option_check_timed(const struct analysis *analysis, uint32_t function)
{
    const struct counted_calls calls = counted_calls_of(analysis->profile, function);
    const char *name = analysis->names[function].name;
    if (!calls.recorded && calls.counted)
        die(STATUS_ERROR,
            "%s: calls of %s were only counted: they have no times. To time them, record with --level 'timed=%s'",
            analysis->file->path, name, name);
    if (!calls.recorded && calls.sampled)
        die(STATUS_ERROR, "%s: %s has no probes: it is known by samples, not by its calls", analysis->file->path, name);
    if (calls.counted)
        say("%s: %" PRIu64 " of %s of %s were timed, the others only counted. To time all, record with "
            "--level 'timed=%s'",
            analysis->file->path, calls.timed, COUNTED(calls.timed + calls.counted, "call"), name, name);
}

uint32_t option_timed_function(const struct analysis *analysis, const char *text)
{
    const uint32_t function = option_function(analysis, text);
    option_check_timed(analysis, function);
    return function;
}

void say_counted(const char *file, const char *where)
{
    say("%s: calls that were only counted (dwell info lists them) are %s. To time those of F, record with --level "
        "timed=F",
        file, where);
}

void command_load(struct analysis *analysis, const char *path, const struct analysis_options *options)
{
    struct error error = { NULL };
    struct analysis_options part = *options;
    within_values_find(path, &part);
    if (!analysis_load(analysis, path, &part, &error))
        die_of(&error);
    die_enter(DIE_WORKS);
}

struct damage damage_of(const struct session_file *file)
{
    return (struct damage){
        .chunks = file->health.damaged_chunks + file->health.missing_chunks,
        .records = file->health.damaged_records,
        .bytes = file->health.damaged_bytes + file->health.missing_bytes,
        .any = session_file_is_damaged(file),
    };
}

void damage_report(const char *path, struct damage damage, bool strict)
{
    if (!damage.any)
        return;
    char *text =
        need_text("%s: is damaged: %s, %s and %s are missing or were left out, wholly or in part", path,
                  COUNTED(damage.chunks, "chunk"), COUNTED(damage.records, "record"), COUNTED(damage.bytes, "byte"));
    if (strict)
        die(STATUS_ERROR, "%s", text);
    say("%s", text);
    free(text);
}

static bool options_is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

void output_spare(const char *path, const char *session)
{
    if (path && options_is_same_file(path, session))
        die(STATUS_ERROR, "%s: is the session itself", path);
}
