/* dwell export: reads its options and writes a session in the format of another tool. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/loaded_values.h"
#include "analysis/session_needs.h"
#include "base/counted_text.h"
#include "base/gzip.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/features.h"
#include "export/exports.h"
#include "export/measures.h"
#include "tables/hot.h"
#include "tables/views.h"
#include "trace/samples.h"

enum { OUTPUT_BUFFER = 1 << 20 };

static const struct shared_use shared[] = {
    { SHARED_FROM, NULL },
    { SHARED_TO, NULL },
    { SHARED_WITHIN, NULL },
    { SHARED_THREAD, NULL },
    { SHARED_PROCESS, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_FILTER, "(a row is a function)" },
    { SHARED_MIN, "of elapsed inclusive time" },
    { SHARED_SORT,
      "(default: cpu_exclusive, and functions that only wait last); decides which functions --limit keeps" },
    { SHARED_LIMIT, "(default); a row is a function" },
    { SHARED_VALUE,
      "elapsed_exclusive (default), application_exclusive, cpu_exclusive, blocked_exclusive or calls of each call path" },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_OUTPUT, "(default: standard output), or to several files whose names begin with FILE" },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct export_settings {
    struct shared_options shared;
    const struct export_format *format;
    const char *file;
    struct export_options options;
    struct analysis_options load;
    bool with_values;
};

static void export_list_formats(void *settings, const struct option_row *row, char *argument)
{
    (void)settings, (void)row, (void)argument;
    for (const struct export_format *const *format = all_exports(); *format; format++)
        printf("%-12s %s\n", (*format)->name, (*format)->summary);
    exit(finish_output());
}

static void __attribute__((noreturn)) export_refuse_format(const char *name)
{
    enum { MAX = 64 };
    const char *names[MAX];
    size_t count = 0;
    for (const struct export_format *const *format = all_exports(); *format && count < MAX; format++)
        names[count++] = (*format)->name;
    die(STATUS_ERROR, "no format '%s'%s dwell export --list lists them", name, suggestion(name, names, count, ";"));
}

static void export_take(void *settings, const struct option_row *row, char *argument)
{
    struct export_settings *s = settings;
    (void)row;
    if (!s->format) {
        s->format = find_export(argument);
        if (!s->format)
            export_refuse_format(argument);
        return;
    }
    if (s->file)
        die(STATUS_ERROR, "one session at a time: '%s' is a second one", argument);
    s->file = argument;
}

static const struct option_row options[] = {
    { "list", NULL, "List the formats", READ_BY(export_list_formats) },
    { "aggregate", NULL, "Write a line for each function instead of one for each call",
      STORE_FLAG(struct export_settings, options.aggregate) },
    { "with-values", NULL, "Also write recorded values of arguments, which can be secrets (record --values)",
      STORE_FLAG(struct export_settings, with_values) },
    { TAKE_BY(export_take) },
    { 0 },
};

static enum export_time export_parse_measure(const char *text)
{
    enum export_time measure;
    char names[256];
    measure_names(names, sizeof names);
    if (!measure_find(text, &measure))
        option_refuse("--value", text, names);
    return measure;
}

static bool export_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct export_settings *s = settings;
    if (option == SHARED_VALUE)
        s->options.time = export_parse_measure(argument);
    return option_read_times(settings, option, argument);
}

static bool export_is_compressed(const struct export_settings *settings)
{
    const size_t length = settings->shared.output ? strlen(settings->shared.output) : 0;
    return !settings->format->compressed && length > 3 && strcmp(settings->shared.output + length - 3, ".gz") == 0;
}

static void export_check_settings(const struct export_settings *settings)
{
    static const struct {
        const char *name;
        enum shared_option option;
        enum export_uses use;
    } choices[] = {
        { "--limit", SHARED_LIMIT, EXPORT_FUNCTIONS },   { "--min", SHARED_MIN, EXPORT_FUNCTIONS },
        { "--filter", SHARED_FILTER, EXPORT_FUNCTIONS }, { "--sort", SHARED_SORT, EXPORT_FUNCTIONS },
        { "--value", SHARED_VALUE, EXPORT_TIME },        { "--csv-safe", SHARED_CSV_SAFE, EXPORT_CSV },
    };
    if (!settings->format)
        die(STATUS_ERROR, "export: name a format; dwell export --list lists them");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (shared_is_set(&settings->shared, choices[i].option) && !(settings->format->uses & choices[i].use))
            die(STATUS_ERROR, "%s: format %s has no use for it; leave it out", choices[i].name, settings->format->name);
    if (settings->options.aggregate && !(settings->format->uses & EXPORT_AGGREGATE))
        die(STATUS_ERROR, "--aggregate: format %s has no use for it; leave it out", settings->format->name);
    if (settings->with_values && !(settings->format->uses & EXPORT_VALUES))
        die(STATUS_ERROR, "--with-values: format %s has no values of arguments; try sqlite or chrome",
            settings->format->name);
    if (settings->format->write_files && !settings->shared.output)
        die(STATUS_ERROR, "export %s does not write to standard output; say where, with -o FILE",
            settings->format->name);
}

/* Whether a function has calls or time, and not less of it than `min` ticks. */
static bool export_is_long_enough(const struct times *times, double min)
{
    return (times->calls || times->elapsed_inclusive) && (double)times->elapsed_inclusive >= min;
}

/* Returns by function whether its row in `dwell report` is one of those that the options choose. The caller frees it.
 */
static bool *export_choose_functions(const struct analysis *analysis, const struct shared_options *o)
{
    const size_t limit = o->limit ? o->limit : SIZE_MAX;
    const double min = amount_ticks(&o->min, analysis->summary.elapsed_inclusive, analysis->summary.ticks_per_second);
    struct sorting sorting = { .key = o->sort, .numbered = true, .filters = &o->filters };
    if (!sorting.key) {
        sorting.key = hot_measure_of(&analysis->summary)->key;
        sorting.waiting_last = true;
    }
    sorting.calls = view_needs_calls(sorting.key);
    for (size_t i = 0; i < o->filters.count; i++)
        sorting.calls |= view_needs_calls(o->filters.list[i].key);
    struct table rows = view_rows(analysis, BY_FUNCTION, &sorting);
    option_order(&rows, &sorting);
    struct times *times = rollup_groups(analysis->rollup, BY_FUNCTION);
    bool *only = need_memory(analysis->profile->function_count + 1, sizeof *only);
    for (size_t i = 0, chosen = 0; i < rows.row_count && chosen < limit; i++) {
        const size_t function = view_row_number(&rows, i);
        only[function] = export_is_long_enough(&times[function], min);
        chosen += only[function];
    }
    table_drop(&rows);
    free(times);
    return only;
}

static int export_write_stream(const struct export_settings *settings, const struct analysis *session)
{
    struct error error = { NULL };
    FILE *out = output_open(settings->shared.output);
    if (settings->format->binary && isatty(fileno(out)))
        die(STATUS_ERROR, "export %s does not write to a terminal; say where, with -o FILE", settings->format->name);
    setvbuf(out, NULL, _IOFBF, OUTPUT_BUFFER);
    FILE *seen = terminal_is_seen(out) ? visible_stream(out) : NULL;
    if (export_is_compressed(settings))
        out = gzip_stream(out);
    if (!settings->format->write(session, &settings->options, seen ? seen : out, &error))
        output_abandon(settings->shared.output);
    if (error.text)
        die_of(&error);
    if (seen)
        fclose(seen);
    return output_close(settings->shared.output, out);
}

static int export_write(const struct export_settings *settings, const struct analysis *session)
{
    struct error error = { NULL };
    const struct export_format *format = settings->format;
    if (!session_needs_check_loaded(format->needs, session, format->instead, &error) ||
        (format->check && !format->check(session, &settings->options, &error)))
        die_of(&error);
    if (!format->write_files)
        return export_write_stream(settings, session);
    if (!format->write_files(session, &settings->options, settings->shared.output, &error))
        die_of(&error);
    return STATUS_OK;
}

/* What the format does not show, or not as measured. */
static void export_say_remarks(const struct export_settings *settings, const struct analysis *analysis)
{
    const bool single = settings->format->uses & EXPORT_SINGLE && !settings->options.aggregate;
    for (size_t i = 0; i < analysis->summary.loss_count; i++)
        say("%s: %s", settings->file, analysis->summary.remarks[i]);
    if (analysis->summary.has_counts && settings->shared.load.timed_only)
        say_counted(settings->file, "left out");
    else if (analysis->summary.counted && single)
        say_counted(settings->file, "in numbers of calls alone");
    if (single && samples_count(analysis->file))
        say("%s: samples are left out, as this format has single calls", settings->file);
    else if (analysis->summary.stack_samples && !(settings->format->uses & EXPORT_TIMING))
        say("%s: functions without probes have estimated times, from %s", settings->file,
            COUNTED(analysis->summary.stack_samples, "sample"));
}

static const struct command_line line = {
    .name = "export",
    .daily = "list output value from to thread filter min limit",
    .arguments = "FORMAT [FILE]\n--list",
    .text = "Writes a session (default: dwell.data) in a format that other tools read.\vExamples:\n"
            "  dwell export --list\n"
            "  dwell export callgrind -o callgrind.out\n"
            "  dwell export collapsed run.data | flamegraph.pl >flame.svg",
    .options = options,
    .shared = shared,
    .read_shared = export_read_shared,
};

int command_export(int argc, char **argv)
{
    struct export_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    export_check_settings(&s);
    s.file = s.file ? s.file : DEFAULT_SESSION;
    struct analysis loaded;
    s.shared.load.lines = s.format->uses & EXPORT_LINES ? LINES_IF_KNOWN : LINES_NONE;
    s.shared.load.limits = s.format->uses & EXPORT_LIMITS;
    s.shared.load.timed_only = !(s.format->uses & EXPORT_COUNTED);
    s.shared.load.unsampled = s.format->uses & EXPORT_MOMENTS;
    shared_options_load(&loaded, s.file, &s.shared);
    export_say_remarks(&s, &loaded);
    output_spare(s.shared.output, loaded.file->path);
    if (!s.shared.output)
        progress_output();
    bool *only = s.format->uses & EXPORT_FUNCTIONS ? export_choose_functions(&loaded, &s.shared) : NULL;
    s.options.only = only;
    if (s.with_values)
        s.options.values = loaded_values(&loaded);
    const int status = export_write(&s, &loaded);
    free(only);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    return status;
}
