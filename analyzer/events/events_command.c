/* dwell events: reads its options and prints trace events, or the pairs of their start and end. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/loaded_values.h"
#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/within_values.h"
#include "events/etw.h"
#include "events/event_views.h"
#include "events/events_feature.h"
#include "report/text_lines.h"
#include "trace/event_cost.h"
#include "trace/event_names.h"

static const struct shared_use shared[] = {
    { SHARED_FROM, NULL },
    { SHARED_TO, NULL },
    { SHARED_WITHIN, NULL },
    { SHARED_THREAD, NULL },
    { SHARED_PROCESS, NULL },
    { SHARED_LIMIT, "(default)" },
    { SHARED_FORMAT, ", or etw: binary EVENT_TRACE_HEADER records of 48 bytes, each followed by its data" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_OUTPUT, "(default: standard output)" },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

enum events_view { WHAT_EVENTS, WHAT_PAIRS, WHAT_QUEUES };

struct events_settings {
    struct shared_options shared;
    const char *file;
    enum events_view what;
    bool etw;
    enum etw_times times;
    size_t key;
    struct event_filter filter;
    struct event_options view;
};

/* Adds a class. A GUID in any spelling becomes that of guid_text. */
static void events_add_class(void *settings, const struct option_row *row, char *argument)
{
    struct event_filter *f = &((struct events_settings *)settings)->filter;
    uint8_t guid[16];
    char spelled[GUID_TEXT];
    const char *text = argument;
    (void)row;
    if (guid_parse(text, guid)) {
        guid_text(guid, spelled);
        text = spelled;
    }
    GROW(f->classes, f->class_count, f->class_room);
    f->classes[f->class_count++] = need_copy(text, strlen(text));
}

static void events_add_type(void *settings, const struct option_row *row, char *text)
{
    struct event_filter *f = &((struct events_settings *)settings)->filter;
    const int type = event_type(text);
    (void)row;
    if (type < 0)
        die(STATUS_ERROR,
            "--type: '%s' is not a type: a number from 0 to 255, INFO, START, END, DC_START, DC_END, EXTENSION, "
            "REPLY, DEQUEUE, CHECKPOINT, SEND or RECEIVE",
            text);
    f->types[type] = f->some_types = true;
}

static void events_read_severity(void *settings, const struct option_row *row, char *text)
{
    struct event_filter *f = &((struct events_settings *)settings)->filter;
    (void)row;
    f->severity = event_severity(text);
    if (f->severity < 0)
        die(STATUS_ERROR,
            "--level: '%s' is not a level: a number from 0 to 255, critical, error, warning, information or verbose",
            text);
}

static void events_read_timer_period(void *settings, const struct option_row *row, char *text)
{
    enum { UNIT = 100, LONGEST = 1000000000 };
    struct events_settings *s = settings;
    const uint64_t ns = option_time("--timer-period", text);
    (void)row;
    if (ns < UNIT || ns > LONGEST || ns % UNIT)
        die(STATUS_ERROR, "--timer-period: '%s' is not a multiple of 100ns up to 1s", text);
    s->view.resolution = (uint32_t)(ns / UNIT);
}

static void events_check_settings(void *settings)
{
    const struct events_settings *s = settings;
    if (s->what != WHAT_EVENTS && s->filter.some_types)
        die(STATUS_ERROR, "--type: an activity has events of several types; leave it out with --pairs and --queues");
    if (s->what == WHAT_EVENTS && s->key)
        die(STATUS_ERROR, "--key: only with --pairs or --queues");
    if (s->what != WHAT_EVENTS && s->etw)
        die(STATUS_ERROR, "--format etw: only of events, without --pairs and --queues");
    if (s->times == ETW_PROCESSOR && !s->etw)
        die(STATUS_ERROR, "--processor-time: only with --format etw");
}

static const struct option_row options[] = {
    { "pairs", NULL, "Show activities: from START to END, or to the last REPLY",
      STORE_VALUE(struct events_settings, what, WHAT_PAIRS) },
    { "queues", NULL, "Show for each class how long activities waited (START to DEQUEUE), and how long they took then",
      STORE_VALUE(struct events_settings, what, WHAT_QUEUES) },
    { "key", "N",
      "With --pairs or --queues: events with the same first N bytes of data (1 to 64) belong together, on any threads",
      STORE_NUMBER(struct events_settings, key, 1, EVENT_LONGEST_KEY, "between 1 and 64 bytes") },
    { "processor-time", NULL,
      "With --format etw: write ProcessorTime (in user mode, in ticks of the session's clock) instead of KernelTime "
      "and UserTime",
      STORE_VALUE(struct events_settings, times, ETW_PROCESSOR) },
    { "raw-timestamp", NULL,
      "Show time stamps in ticks of the session's clock, as recorded, instead of units of 100 ns since 1601",
      STORE_FLAG(struct events_settings, view.raw_timestamps) },
    { "stack", NULL, "Show all open functions, not only the innermost",
      STORE_FLAG(struct events_settings, view.stacks) },
    { "timer-period", "TIME", "Count CPU times in units of this time, a multiple of 100ns (default: 1ms)",
      READ_BY(events_read_timer_period) },
    { .help = "Which events; these may be repeated:", .kind = OPTION_HEADING },
    { "class", "CLASS", "Only this class: a name, a glob for names, or a GUID", READ_BY(events_add_class) },
    { "type", "TYPE", "Only this type: a number, or INFO, START, END, DEQUEUE, REPLY and so on",
      READ_BY(events_add_type) },
    { "level", "LEVEL", "Only up to this level: a number, or critical, error, warning and so on",
      READ_BY(events_read_severity) },
    { TAKE_SESSION(struct events_settings, file) },
    { 0 },
};

static bool events_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct events_settings *s = settings;
    if (option != SHARED_FORMAT)
        return false;
    s->etw = strcmp(argument, "etw") == 0;
    if (!s->etw && !table_format(argument))
        option_refuse("--format", argument, "text, csv, json, etw");
    return s->etw;
}

/* Helps a user who finds no events to record some. */
static void events_report_none(const struct events_settings *s, const struct trace_events *events, bool imported)
{
    char *names = NULL;
    size_t length = 0;
    FILE *list = open_memstream(&names, &length);
    for (size_t i = 0; list && i < events->registered; i++)
        fprintf(list, "%s%s", i ? ", " : "", event_class_name(events, (uint32_t)i));
    if (!list || fclose(list) != 0)
        die(STATUS_ERROR, "out of memory");
    if (length)
        say("%s: no trace events; dwell record --event CLASS records them. The program has registered: %s", s->file,
            names);
    else if (imported)
        say("%s: no trace events: an imported report has none", s->file);
    else
        say("%s: no trace events; the program has registered no class of them (dwell/event.h)", s->file);
    free(names);
}

static void events_free_filter(struct event_filter *f)
{
    for (size_t i = 0; i < f->class_count; i++)
        free(f->classes[i]);
    free(f->classes);
}

/* csv, json and etw have no place for remarks. */
static void events_print_remarks(const struct events_settings *s, const struct summary *summary)
{
    for (size_t i = 0; s->shared.print != table_print_text && i < summary->remark_count; i++)
        say("%s: %s", s->file, summary->remarks[i]);
}

static void events_print_pairs(const struct events_settings *s, struct analysis *loaded,
                               const struct trace_events *events, FILE *out)
{
    struct event_pairs pairs = event_pairs_match(events, s->key);
    event_remark_unmatched(loaded, events, &pairs, &s->filter);
    struct table table = s->what == WHAT_PAIRS ? view_event_pairs(loaded, events, &pairs, &s->view)
                                               : view_event_queues(loaded, events, &pairs, &s->view);
    events_print_remarks(s, &loaded->summary);
    s->shared.print(&table, out);
    table_drop(&table);
    event_pairs_free(&pairs);
}

static void events_print_units(uint32_t resolution, FILE *out)
{
    fputs("\n", out);
    text_print_lines(out,
                     "KERNEL, USER, COST: CPU time in units of %g ms (timer resolution %" PRIu32
                     " x 100 ns). COST and CPU (exact): since the thread's event before.",
                     resolution / 1e4, resolution);
}

static void events_print_rows(const struct events_settings *s, const struct analysis *loaded,
                              const struct trace_events *events, FILE *out)
{
    events_print_remarks(s, &loaded->summary);
    if (s->etw) {
        etw_write(loaded->file, events, &s->view, s->times, out);
        return;
    }
    struct table table = view_events(loaded, events, &s->view);
    s->shared.print(&table, out);
    if (s->shared.print == table_print_text && table.row_count)
        events_print_units(s->view.resolution, out);
    table_drop(&table);
}

static const struct command_line line = {
    .name = "events",
    .daily = "pairs queues class type level from to thread limit format",
    .arguments = "[FILE]",
    .text = "Lists the trace events that the program has written (dwell/event.h), in order of time. Record them "
            "with dwell record --event or dwell control.\v"
            "Events belong together by class, thread and nesting. An END ends what its thread took from a queue last "
            "(DEQUEUE), else the innermost activity that it started. A DEQUEUE takes the oldest activity that its "
            "thread started, else the oldest of the process. If a program uses other rules, use --key.\n\nExamples:\n"
            "  dwell events\n"
            "  dwell events --pairs --key 8\n"
            "  dwell events --queues --format csv run.data",
    .options = options,
    .check = events_check_settings,
    .shared = shared,
    .formats = "etw",
    .read_shared = events_read_shared,
};

/* Finds the requested part of the session. */
static void events_find_part(struct events_settings *s, const struct session_file *file)
{
    struct selection_request *part = &s->shared.load.selection;
    struct error error = { NULL };
    within_values_find(s->file, &s->shared.load);
    if (!selection_moments_find(&part->from, &part->to, file, &s->filter.from, &s->filter.to, &error) ||
        !selection_ranges_find(part, file, s->filter.from, s->filter.to, &error) ||
        !selection_check_names(&part->selection, file, &error))
        die_of(&error);
    s->filter.threads = &part->selection;
}

static int events_print(const struct events_settings *s, struct analysis *loaded, const struct trace_events *events)
{
    if (s->etw && !s->shared.output && isatty(STDOUT_FILENO))
        die(STATUS_ERROR, "--format etw: binary data is not for a terminal; redirect it, or give -o FILE");
    output_spare(s->shared.output, s->file);
    FILE *out = output_open(s->shared.output);
    if (s->what == WHAT_EVENTS)
        events_print_rows(s, loaded, events, out);
    else
        events_print_pairs(s, loaded, events, out);
    return output_close(s->shared.output, out);
}

int events_command(int argc, char **argv)
{
    struct events_settings s = {
        .file = DEFAULT_SESSION,
        .filter = { .severity = -1 },
        .view = { .resolution = EVENT_RESOLUTION_USUAL },
    };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    s.view.filter = &s.filter;
    s.view.limit = s.shared.limit;
    struct analysis loaded;
    command_load(&loaded, s.file, &(struct analysis_options){ .jobs = s.shared.load.jobs });
    events_find_part(&s, loaded.file);
    struct trace_events events = trace_events_read(loaded.file);
    if (events.damaged_chunks)
        event_remark(&loaded, events.damaged_chunks, "damaged chunks of trace events were left out, wholly or in part");
    if (!events.count)
        events_report_none(&s, &events, loaded.summary.imported);
    const int status = events_print(&s, &loaded, &events);
    trace_events_free(&events);
    loaded_values_drop(s.shared.load.selection.values);
    analysis_drop(&loaded);
    events_free_filter(&s.filter);
    shared_options_drop(&s.shared);
    return status;
}
