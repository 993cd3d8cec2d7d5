/* dwell replay: prints the calls in order of time. It reads only the selected part of the file. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "analysis/loaded_values.h"
#include "analysis/selection_request.h"
#include "base/counted_text.h"
#include "base/progress.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/within_values.h"
#include "report/replay.h"
#include "trace/counted_calls.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS_AT_ANY_DEPTH, NULL },
    { SHARED_FILTER, "(of these, only conditions on recorded values)" },
    { SHARED_MIN, "of single calls and waits; percentages are of the time from --from to --to" },
    { SHARED_LIMIT, "(default); a row is a line" },
    { SHARED_FORMAT, "(an object a line)" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct replay_settings {
    struct shared_options shared;
    const char *file;
    struct replay_options what;
    unsigned long last; /* rows; zero: all */
    bool no_events;
};

static const struct option_row options[] = {
    { "depth", "N", "Show only the N outermost levels",
      STORE_NUMBER(struct replay_settings, what.depth, 1, SIZE_MAX, "must be 1 or more") },
    { "last", "N", "Print only the last N rows",
      STORE_NUMBER(struct replay_settings, last, 1, SIZE_MAX, "must be 1 or more") },
    { "no-events", NULL, "Leave out trace events and PerfLog timers", STORE_FLAG(struct replay_settings, no_events) },
    { TAKE_SESSION(struct replay_settings, file) },
    { 0 },
};

static void replay_find_part(struct replay_settings *s, const struct session_file *file)
{
    struct selection_request *part = &s->shared.load.selection;
    struct error error = { NULL };
    if (!selection_moments_find(&part->from, &part->to, file, &s->what.from, &s->what.to, &error) ||
        !selection_ranges_find(part, file, s->what.from, s->what.to, &error) ||
        !selection_check_names(&part->selection, file, &error))
        die_of(&error);
    s->what.threads = &part->selection;
    s->what.roots = part->roots.count ? &part->roots : NULL;
    const uint64_t start = s->what.from > file->header.start_ticks ? s->what.from : file->header.start_ticks;
    const uint64_t last = session_file_last_time(file), end = s->what.to < last ? s->what.to : last;
    s->what.shortest = s->shared.min.ns ? selection_ticks(s->shared.min.ns, file)
                                        : (uint64_t)amount_ticks(&s->shared.min, end > start ? end - start : 0,
                                                                 file->header.ticks_per_second);
}

/* Conditions may have read them. */
static void replay_find_values(struct replay_settings *s, const struct session_file *file)
{
    const struct recorded_values *values = loaded_values_of(&s->shared.load.selection.values, file);
    s->what.values = values->function_count ? values : NULL;
}

struct replay_count {
    struct replay_printer *printer;
    unsigned long left; /* lines; zero if unlimited */
    uint64_t before;    /* lines that are not printed before these */
    bool any;
};

static bool replay_print_counted(void *context, const struct replay_line *line)
{
    struct replay_count *c = context;
    if (c->before) {
        c->before--;
        return true;
    }
    if (!c->any)
        progress_output();
    c->any = true;
    return replay_print(c->printer, line) && (!c->left || --c->left);
}

static bool replay_add_to_count(void *context, const struct replay_line *line)
{
    uint64_t *count = context;
    (void)line;
    ++*count;
    return true;
}

/* How many rows there are before the last ones that are asked for. */
static uint64_t replay_count_before(const struct replay_settings *s, struct session_file *file)
{
    uint64_t count = 0;
    if (s->last)
        (void)replay(file, &s->what, replay_add_to_count, &count);
    return count > s->last ? count - s->last : 0;
}

/* A closed pipe is not an error. */
static int replay_finish_print(const struct replay_settings *s, const struct replay_result *result, bool any)
{
    fflush(stdout);
    if (ferror(stdout) && errno == EPIPE)
        return STATUS_OK;
    if (result->counts.damaged_chunks)
        say("%s: %s left out, wholly or in part", s->file, COUNTED_WAS(result->counts.damaged_chunks, "damaged chunk"));
    if (s->what.roots && !result->root_found) {
        struct analysis analysis;
        command_load(&analysis, s->file, &(struct analysis_options){ .jobs = s->shared.load.jobs });
        const char *first = s->what.roots->list[0];
        say("%s: --root: no call of '%s'%s in the selected range%s dwell report -s name lists the functions", s->file,
            first, s->what.roots->count > 1 ? " or the others" : "", hint_function(&analysis, first, ";"));
        analysis_drop(&analysis);
        return STATUS_ERROR;
    }
    if (!any)
        say("%s: no events in the selected range", s->file);
    return finish_output();
}

static const struct command_line line = {
    .name = "replay",
    .daily = "depth no-events last from to thread root min limit format",
    .arguments = "[FILE]",
    .text =
        "Shows the calls as they happened, over all threads in order of time.\v"
        "A call within which nothing is shown is one line. Other calls have a line where they begin ({), and one "
        "where they end (}), with how long they took. '>' marks a line of another thread than the line above. "
        "Lines of marks, trace events, waits and page faults begin with --. "
        "FUNCTION is a name, with or without return type and parameters, or a glob for several; name@file:line is one of several.\n\nExamples:\n"
        "  dwell replay --from 2.5ms --to 3ms\n"
        "  dwell replay --root handle_request --min 100us\n"
        "  dwell replay --last 40\n"
        "  dwell replay --within 'handle: kind = GET'\n"
        "  dwell replay --from mark:1 --to mark:2 --thread 'worker*'",
    .options = options,
    .needs = SESSION_SINGLE_CALLS,
    .shared = shared,
};

static struct session_file *replay_open(const char *path, const struct analysis_options *load)
{
    const char *wrong;
    struct error error = { NULL };
    const struct call_filters *filters = &load->selection.filters;
    die_enter(DIE_WORKS);
    struct session_file *file = session_file_open(path, &wrong);
    if (!file)
        die(STATUS_ERROR, "%s: %s", path, wrong);
    damage_report(path, damage_of(file), load->strict);
    if (!session_needs_check(line.needs, file, NULL, &error) ||
        !call_filters_apply(filters, file, load->jobs, &error) || !call_filters_check(filters, path, &error))
        die_of(&error);
    return file;
}

/* Rows have no columns that could be compared. */
static void replay_check_options(const struct replay_settings *s)
{
    if (s->last && shared_is_set(&s->shared, SHARED_LIMIT))
        die(STATUS_ERROR, "--last: -n, --limit prints the first rows; use one of them");
    if (s->shared.filters.count)
        die(STATUS_ERROR, "--filter: this view takes conditions on recorded values alone: 'FUNCTION.WHAT > VALUE'");
}

int command_replay(int argc, char **argv)
{
    struct replay_settings s = { .file = DEFAULT_SESSION };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    signal(SIGPIPE, SIG_IGN);
    replay_check_options(&s);
    struct session_file *file = replay_open(s.file, &s.shared.load);
    within_values_find(s.file, &s.shared.load);
    replay_find_part(&s, file);
    replay_find_values(&s, file);
    struct replay_count counted = { .left = s.shared.limit };
    counted.printer = replay_printer_new(s.shared.format, file, &s.what, stdout);
    struct trace_events events = { 0 };
    if (!s.no_events) {
        events = trace_events_read(file);
        s.what.events = &events;
    }
    counted.before = replay_count_before(&s, file);
    const bool lacks_counted = counts_any(file);
    const struct replay_result result = replay(file, &s.what, replay_print_counted, &counted);
    replay_printer_free(counted.printer);
    if (!s.no_events)
        trace_events_free(&events);
    loaded_values_drop(s.shared.load.selection.values);
    session_file_close(file);
    if (lacks_counted)
        say_counted(s.file, "left out");
    const int status = replay_finish_print(&s, &result, counted.any);
    shared_options_drop(&s.shared);
    return status;
}
