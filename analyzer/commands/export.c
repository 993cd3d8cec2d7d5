#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/progress.h"
#include "base/suggest.h"
#include "commands/commands.h"
#include "commands/selection_options.h"
#include "export/exports.h"
#include "export/measures.h"

enum { OPTION_LIST = 256, OPTION_LIMIT, OPTION_MIN, OPTION_FILTER, OPTION_AGGREGATE, OPTION_TIME };
enum { OUTPUT_BUFFER = 1 << 20 };

static const struct argp_option options[] = {
    { "output", 'o', "OUT", 0,
      "Write to this file (default: standard output); of formats of several files: how their names begin", 0 },
    { "list", OPTION_LIST, NULL, 0, "List the formats", 0 },
    { "limit", OPTION_LIMIT, "N", 0, "Only the N functions with the most elapsed exclusive time", 0 },
    { "min", OPTION_MIN, "PERCENT", 0, "Only functions with that share of the elapsed inclusive time", 0 },
    { "filter", OPTION_FILTER, "GLOB", 0, "Only functions whose name matches", 0 },
    { "aggregate", OPTION_AGGREGATE, NULL, 0, "A line for each function instead of one for each activation", 0 },
    { "time", OPTION_TIME, "WHAT", 0,
      "What is told of each call path: elapsed (default), application, blocked or calls", 0 },
    { 0 },
};

struct export_settings {
    const struct export_format *format;
    const char *file, *output;
    unsigned used; /* enum export_heeds */
    struct export_options options;
    struct analysis_options load;
};

static void export_list_formats(void)
{
    for (const struct export_format *format = export_formats; format->name; format++)
        printf("%-12s %s\n", format->name, format->does);
}

static void __attribute__((noreturn)) export_refuse_format(const char *name)
{
    enum { MAX = 64 };
    const char *names[MAX];
    size_t count = 0;
    for (const struct export_format *format = export_formats; format->name && count < MAX; format++)
        names[count++] = format->name;
    die(STATUS_ERROR, "no format '%s'%s dwell export --list lists them", name, suggestion(name, names, count, ";"));
}

static void export_parse_argument(struct export_settings *s, const struct argp_state *state, const char *argument)
{
    if (!s->format) {
        s->format = export_find(argument);
        if (!s->format)
            export_refuse_format(argument);
        return;
    }
    if (state->arg_num > 1)
        die(STATUS_ERROR, "one session at a time: '%s' is a second one", argument);
    s->file = argument;
}

static error_t export_parse_option(int key, char *argument, struct argp_state *state)
{
    struct export_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return raw_options_begin(state, &s->load);
    case 'o':
        s->output = argument;
        return 0;
    case OPTION_LIST:
        export_list_formats();
        exit(finish_output());
    case OPTION_LIMIT:
        s->used |= EXPORT_LIMIT;
        s->options.limit = option_number("--limit", argument);
        return 0;
    case OPTION_MIN:
        s->used |= EXPORT_MIN;
        s->options.min_percent = option_percent("--min", argument);
        return 0;
    case OPTION_FILTER:
        s->used |= EXPORT_FILTER;
        s->options.filter = argument;
        return 0;
    case OPTION_AGGREGATE:
        s->used |= EXPORT_AGGREGATE;
        s->options.aggregate = true;
        return 0;
    case OPTION_TIME:
        s->used |= EXPORT_TIME;
        if (!measure_find(argument, &s->options.time))
            option_refuse("--time", argument, measure_names);
        return 0;
    case ARGP_KEY_ARG:
        export_parse_argument(s, state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool export_is_compressed(const struct export_settings *s)
{
    const size_t length = s->output ? strlen(s->output) : 0;
    return !s->format->compressed && length > 3 && strcmp(s->output + length - 3, ".gz") == 0;
}

static void export_check_settings(const struct export_settings *s)
{
    static const char *const names[] = { "--limit", "--min", "--filter", "--aggregate", "--time" };
    if (!s->format)
        die(STATUS_ERROR, "export: name a format; dwell export --list lists them");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (s->used & ~s->format->heeds & 1u << i)
            die(STATUS_ERROR, "%s means nothing to %s", names[i], s->format->name);
    if (s->format->write_files && !s->output)
        die(STATUS_ERROR, "export %s does not write to standard output: say where, with -o OUT", s->format->name);
}

/* Removes what was written, so that no half of an export is taken for the whole. */
static void __attribute__((noreturn)) export_fail(const char *path, FILE *out, const struct error *error)
{
    struct stat status;
    if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
    if (out != stdout)
        fclose(out);
    die_of(error);
}

static int export_write_stream(const struct export_settings *s, const struct analysis *session)
{
    struct error error = { NULL };
    FILE *out = output_open(s->output);
    if (s->format->binary && isatty(fileno(out)))
        die(STATUS_ERROR, "export %s does not write to a terminal: say where, with -o OUT", s->format->name);
    setvbuf(out, NULL, _IOFBF, OUTPUT_BUFFER);
    if (export_is_compressed(s))
        out = gzip_stream(out);
    if (!s->format->write(session, &s->options, out, &error))
        export_fail(s->output, out, &error);
    return output_close(s->output, out);
}

static int export_write(const struct export_settings *s, const struct analysis *session)
{
    struct error error = { NULL };
    if (s->format->check && !s->format->check(session, &s->options, &error))
        die_of(&error);
    if (!s->format->write_files)
        return export_write_stream(s, session);
    if (!s->format->write_files(session, &s->options, s->output, &error))
        die_of(&error);
    return STATUS_OK;
}

int command_export(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        export_parse_option,
        "FORMAT [FILE]\n--list",
        "Writes a session (dwell.data) in a format that other tools read.\vExamples:\n"
        "  dwell export --list\n"
        "  dwell export callgrind -o callgrind.out\n"
        "  dwell export collapsed run.data | flamegraph.pl >flame.svg",
        raw_children,
        NULL,
        NULL,
    };
    struct export_settings s = { .file = DEFAULT_SESSION };
    parse_options(&argp, "export", argc, argv, &s);
    export_check_settings(&s);
    struct analysis loaded;
    s.load.lines = s.format->heeds & EXPORT_LINES ? LINES_IF_KNOWN : LINES_NONE;
    command_load(&loaded, s.file, &s.load);
    for (size_t i = 0; i < loaded.summary.loss_count; i++)
        say("%s: %s", s.file, loaded.summary.remarks[i]);
    output_spare(s.output, loaded.file->path);
    if (!s.output)
        progress_output();
    const int status = export_write(&s, &loaded);
    analysis_drop(&loaded);
    return status;
}
