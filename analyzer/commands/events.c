#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/event_settings.h"
#include "report/etw.h"
#include "report/events.h"
#include "trace/event_cost.h"

enum {
    OPTION_FORMAT = 256,
    OPTION_CLASS,
    OPTION_LEVEL,
    OPTION_TYPE,
    OPTION_THREAD,
    OPTION_PROCESS,
    OPTION_FROM,
    OPTION_TO,
    OPTION_RESOLUTION,
    OPTION_STACK,
    OPTION_PAIRS,
    OPTION_QUEUES,
    OPTION_KEY,
    OPTION_PROCESSOR_TIME
};

static const struct argp_option options[] = {
    { "pairs", OPTION_PAIRS, NULL, 0, "Activities instead of events: from START to END, or to the last REPLY", 0 },
    { "queues", OPTION_QUEUES, NULL, 0,
      "By class: how long activities waited (START to DEQUEUE), and how long they took then", 0 },
    { "key", OPTION_KEY, "N", 0,
      "--pairs, --queues: events with the same first N bytes of data belong together (1 to 64), whatever their threads",
      0 },
    { "format", OPTION_FORMAT, "FORMAT", 0,
      "text (default), csv, json, or etw: the events as binary "
      "EVENT_TRACE_HEADER records of 48 bytes, each with its data behind it",
      0 },
    { "output", 'o', "OUT", 0, "Write to this file (default: standard output)", 0 },
    { "processor-time", OPTION_PROCESSOR_TIME, NULL, 0,
      "--format etw: ProcessorTime (in user mode, in ticks of the session's clock) instead of KernelTime and UserTime",
      0 },
    { "limit", 'n', "N", 0, "Show N rows, 0: all (default: all)", 0 },
    { "stack", OPTION_STACK, NULL, 0, "Show all functions that were open, not the innermost alone", 0 },
    { "resolution", OPTION_RESOLUTION, "N", 0,
      "The timer's resolution in units of 100 ns, in which CPU times are counted (default: 10000, which is 1 ms)", 0 },
    { NULL, 0, NULL, 0, "Which events; each may be given several times:", 1 },
    { "class", OPTION_CLASS, "CLASS", 0, "Of this class: a name, a glob for names, or a GUID", 1 },
    { "type", OPTION_TYPE, "TYPE", 0, "Of this type: a number, or INFO, START, END, DEQUEUE, REPLY and so on", 1 },
    { "level", OPTION_LEVEL, "LEVEL", 0,
      "Of this level or a lower one: a number, or critical, error, warning and so on", 1 },
    { "thread", OPTION_THREAD, "THREAD", 0, "Of this thread: a tid, or a glob for names", 1 },
    { "process", OPTION_PROCESS, "PID", 0, "Of this process", 1 },
    { "from", OPTION_FROM, "TIME", 0, "Not before TIME since the session began (500us, 2.5ms, 1s)", 1 },
    { "to", OPTION_TO, "TIME", 0, "Before TIME", 1 },
    { 0 },
};

enum events_view { WHAT_EVENTS, WHAT_PAIRS, WHAT_QUEUES };

struct events_settings {
    const char *file, *output;
    enum events_view what;
    bool etw;
    enum etw_times times;
    size_t key;
    table_printer *print;
    struct event_filter filter;
    struct event_options view;
};

/* A GUID in any spelling as guid_text has it. */
static void events_add_class(struct event_filter *f, const char *text)
{
    uint8_t guid[16];
    char spelled[GUID_TEXT];
    if (guid_parse(text, guid)) {
        guid_text(guid, spelled);
        text = spelled;
    }
    GROW(f->classes, f->class_count, f->class_room);
    f->classes[f->class_count++] = need_copy(text, strlen(text));
}

static void events_add_type(struct event_filter *f, const char *text)
{
    const int type = event_type(text);
    if (type < 0)
        die(STATUS_ERROR,
            "--type: '%s' is no type: a number from 0 to 255, INFO, START, END, DC_START, DC_END, EXTENSION, "
            "REPLY, DEQUEUE, CHECKPOINT, SEND or RECEIVE",
            text);
    f->types[type] = f->some_types = true;
}

static bool events_parse_filter(struct event_filter *f, int key, char *argument)
{
    switch (key) {
    case OPTION_CLASS:
        events_add_class(f, argument);
        return true;
    case OPTION_TYPE:
        events_add_type(f, argument);
        return true;
    case OPTION_LEVEL:
        f->level = event_level(argument);
        if (f->level < 0)
            die(STATUS_ERROR,
                "--level: '%s' is no level: a number from 0 to 255, critical, error, warning, information or "
                "verbose",
                argument);
        return true;
    case OPTION_THREAD:
        GROW(f->threads, f->thread_count, f->thread_room);
        f->threads[f->thread_count++] = argument;
        return true;
    case OPTION_PROCESS:
        GROW(f->processes, f->process_count, f->process_room);
        f->processes[f->process_count++] = (uint32_t)option_number("--process", argument);
        return true;
    case OPTION_FROM:
        f->from = option_time("--from", argument);
        return true;
    case OPTION_TO:
        f->to = option_time("--to", argument);
        return true;
    default:
        return false;
    }
}

static error_t events_parse_option(int key, char *argument, struct argp_state *state)
{
    struct events_settings *s = state->input;
    if (events_parse_filter(&s->filter, key, argument))
        return 0;
    switch (key) {
    case OPTION_FORMAT:
        s->etw = strcmp(argument, "etw") == 0;
        if (!s->etw && !table_format(argument))
            option_refuse("--format", argument, "text, csv, json, etw");
        s->print = s->etw ? NULL : table_format(argument);
        return 0;
    case OPTION_PROCESSOR_TIME:
        s->times = ETW_PROCESSOR;
        return 0;
    case 'o':
        s->output = argument;
        return 0;
    case OPTION_PAIRS:
        s->what = WHAT_PAIRS;
        return 0;
    case OPTION_QUEUES:
        s->what = WHAT_QUEUES;
        return 0;
    case OPTION_KEY:
        s->key = option_number("--key", argument);
        if (s->key < 1 || s->key > EVENT_LONGEST_KEY)
            die(STATUS_ERROR, "--key: '%s' is not between 1 and %d bytes", argument, EVENT_LONGEST_KEY);
        return 0;
    case OPTION_STACK:
        s->view.stacks = true;
        return 0;
    case OPTION_RESOLUTION: {
        const unsigned long number = option_number("--resolution", argument);
        if (number < 1 || number > 10000000)
            die(STATUS_ERROR, "--resolution: '%s' is not between 1 (100 ns) and 10000000 (1 s)", argument);
        s->view.resolution = (uint32_t)number;
        return 0;
    }
    case 'n':
        s->view.limit = option_number("--limit", argument);
        return 0;
    case ARGP_KEY_ARG:
        option_session(state, argument, &s->file);
        return 0;
    case ARGP_KEY_END:
        if (s->what != WHAT_EVENTS && s->filter.some_types)
            die(STATUS_ERROR,
                "--type: an activity has events of several types; leave it out with --pairs and --queues");
        if (s->what == WHAT_EVENTS && s->key)
            die(STATUS_ERROR, "--key: only with --pairs or --queues");
        if (s->what != WHAT_EVENTS && s->etw)
            die(STATUS_ERROR, "--format etw: is of events, not of what --pairs and --queues make of them");
        if (s->times == ETW_PROCESSOR && !s->etw)
            die(STATUS_ERROR, "--processor-time: only with --format etw");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Whoever finds nothing may not know what could be asked for. */
static void events_report_none(const struct events_settings *s, const struct trace_events *events)
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
    else
        say("%s: no trace events; the program has registered no class of them (dwell/event.h)", s->file);
    free(names);
}

static void events_free_filter(struct event_filter *f)
{
    for (size_t i = 0; i < f->class_count; i++)
        free(f->classes[i]);
    free(f->classes);
    free(f->threads);
    free(f->processes);
}

/* The session is not written over, by whatever name. */
/* Data formats have no place for remarks. */
static void events_print_remarks(const struct events_settings *s, const struct summary *summary)
{
    for (size_t i = 0; s->print != table_print_text && i < summary->remark_count; i++)
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
    s->print(&table, out);
    table_drop(&table);
    event_pairs_free(&pairs);
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
    s->print(&table, out);
    if (s->print == table_print_text && table.row_count)
        fprintf(out,
                "\nKERNEL, USER, COST: CPU time in units of %g ms (timer resolution %" PRIu32
                " x 100 ns). COST and CPU ns "
                "(exact): since the thread's event before.\n",
                s->view.resolution / 1e4, s->view.resolution);
    table_drop(&table);
}

int command_events(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        events_parse_option,
        "[FILE]",
        "Lists the trace events that the program has written (dwell/event.h) and record --event or dwell control has "
        "asked "
        "for, in the order of time.\v"
        "Events belong together by their class, and by their threads and nesting: an END ends what its thread took "
        "from a "
        "queue last (DEQUEUE), else the innermost that it started; a DEQUEUE takes the oldest that its thread started, "
        "else "
        "the oldest of the process. Where that is not so, --key says which they are.\n\nExamples:\n"
        "  dwell events\n"
        "  dwell events --pairs --key 8\n"
        "  dwell events --queues --format csv run.data",
        config_children,
        NULL,
        NULL,
    };
    struct events_settings s = {
        .file = DEFAULT_SESSION,
        .print = table_print_text,
        .filter = { .level = -1, .to = UINT64_MAX },
        .view = { .resolution = EVENT_RESOLUTION_USUAL },
    };
    s.view.filter = &s.filter;
    parse_options_with_config(&argp, "events", argc, argv, &s);
    struct analysis loaded;
    command_load(&loaded, s.file, &(struct analysis_options){ 0 });
    struct trace_events events = trace_events_read(loaded.file);
    if (events.damaged_chunks)
        event_remark(&loaded, events.damaged_chunks, "damaged chunks of trace events were left out, wholly or in part");
    if (!events.count)
        events_report_none(&s, &events);
    if (s.etw && !s.output && isatty(STDOUT_FILENO))
        die(STATUS_ERROR, "--format etw: binary data is not for a terminal; use -o, or send it elsewhere");
    output_spare(s.output, s.file);
    FILE *out = output_open(s.output);
    if (s.what == WHAT_EVENTS)
        events_print_rows(&s, &loaded, &events, out);
    else
        events_print_pairs(&s, &loaded, &events, out);
    const int status = output_close(s.output, out);
    trace_events_free(&events);
    analysis_drop(&loaded);
    events_free_filter(&s.filter);
    return status;
}
