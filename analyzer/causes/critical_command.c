/* dwell critical: reads its options, and prints the critical path of a run, of a part of it, or of one call. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "base/units.h"
#include "causes/causes_feature.h"
#include "causes/critical.h"
#include "causes/critical_rows.h"
#include "causes/path_sleeps.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/die.h"
#include "commands/within_values.h"
#include "report/text_summary.h"

enum { TEXT_ROWS = 20 };

static const struct shared_use shared[] = {
    { SHARED_FROM, NULL },
    { SHARED_TO, NULL },
    { SHARED_WITHIN, "; the path is that of the longest one" },
    { SHARED_THREAD, "; the path ends on it" },
    { SHARED_PROCESS, "; the path ends on its first thread" },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: total)" },
    { SHARED_LIMIT, "(default: 20 of each table in text, else all)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

enum critical_by { BY_ALL, BY_FUNCTIONS, BY_SEGMENTS, BY_THREADS };

struct critical_settings {
    struct shared_options shared;
    enum critical_by by;
    bool slowest; /* is so anyway */
    const char *call, *file;
};

static const struct option_word ways[] = {
    { "function", BY_FUNCTIONS }, { "segment", BY_SEGMENTS }, { "thread", BY_THREADS }, { NULL, 0 }
};

static const struct option_row options[] = {
    { "by", "WHAT", "only a table of function, segment or thread (default: in text all three; in csv, function)",
      STORE_CHOICE(struct critical_settings, by, ways) },
    { "call", "FUNCTION", "the path of one call of FUNCTION: its slowest", STORE_TEXT(struct critical_settings, call) },
    { "slowest", NULL, "with --call: the slowest call (default)", STORE_FLAG(struct critical_settings, slowest) },
    { TAKE_SESSION(struct critical_settings, file) },
    { 0 },
};

static void critical_list_columns(const struct critical_settings *s, const char *argument)
{
    if (s->by == BY_SEGMENTS)
        option_list_columns(argument, view_critical_segment_columns, view_critical_segment_count);
    else if (s->by == BY_THREADS)
        option_list_columns(argument, view_critical_thread_columns, view_critical_thread_count);
    else
        option_list_columns(argument, view_critical_function_columns, view_critical_function_count);
}

static bool critical_read_shared(void *settings, enum shared_option option, const char *argument)
{
    if (option == SHARED_COLUMNS)
        critical_list_columns(settings, argument);
    return false;
}

static const struct command_line line = {
    .name = "critical",
    .daily = "by call slowest from to thread sort limit columns format",
    .arguments = "[FILE]",
    .text =
        "Shows the critical path: what the length of a run consisted of, across threads. It goes back from the end, "
        "and at each wait to the thread that ended the wait.\v"
        "The path ends where the first thread of the first process ends. WORK is time on the CPU, RUNNABLE is time in "
        "which a thread was to run and did not, and OUTSIDE is time in which it waited for something that is not "
        "recorded. All are exclusive times, with the time of the probes in them, and add up to the length. SLACK is "
        "the time in which a thread waited for other threads, or had ended.\n\nExamples:\n"
        "  dwell critical\n"
        "  dwell critical --from mark:loaded --by segment --limit 0\n"
        "  dwell critical --call handle_request --slowest --format json run.data",
    .options = options,
    .needs = SESSION_ORDER,
    .shared = shared,
    .read_shared = critical_read_shared,
};

/* ---- the part ---- */

static struct critical_part critical_choose_part(const struct analysis *analysis, struct critical_settings *s)
{
    struct critical_part part, call;
    struct error error = { NULL };
    if (!critical_find_part(analysis, &s->shared.load.selection, &part, &error))
        die_of(&error);
    if (!s->call)
        return part;
    if (!critical_find_slowest(analysis, option_timed_function(analysis, s->call), &part, &call, &error))
        die_of(&error);
    return call;
}

static void critical_add_remarks(struct analysis *analysis, const struct critical_path *p,
                                 const struct wait_causes *causes)
{
    const struct path_sleeps sleeps = path_sleeps_find(analysis, p, causes);
    path_sleeps_remark(analysis, &sleeps, &p->part);
    if (!(analysis->file->header.also & DWELL_ALSO_CAUSES))
        summary_remark(&analysis->summary, "no-causes",
                       "causes of waits were not recorded, so the path stays on one thread: record again");
    if (p->unknown_origins)
        summary_remark(&analysis->summary, "unknown-origin",
                       "it is unknown which thread made the first thread of the path: the time before its "
                       "start is not recorded");
}

/* ---- output ---- */

static const struct critical_view {
    enum critical_by by;
    const char *key; /* in json */
    struct table (*make)(const struct analysis *analysis, const struct critical_path *p);
} views[] = {
    { BY_FUNCTIONS, "rows", view_critical_functions },
    { BY_SEGMENTS, "segments", view_critical_segments },
    { BY_THREADS, "threads", view_critical_threads },
};
enum { VIEW_COUNT = sizeof views / sizeof *views };

/* Conditions, the order and columns are those of one table, the first of several. */
static struct table critical_make_table(const struct critical_settings *s, const struct critical_view *view,
                                        const struct analysis *analysis, const struct critical_path *p, size_t limit)
{
    struct table t = view->make(analysis, p);
    const bool arranged = s->by == view->by || (s->by == BY_ALL && view->by == BY_FUNCTIONS);
    if (arranged) {
        option_filter(&t, &s->shared.filters);
        option_arrange_first(&t, s->shared.sort, limit, s->shared.columns);
    } else if (limit) {
        table_limit(&t, limit);
    }
    return t;
}

static void critical_print_json(const struct critical_settings *s, const struct analysis *analysis,
                                const struct critical_path *p)
{
    json_begin(stdout);
    json_print_remarks(&analysis->summary, stdout);
    printf("\"length_ns\": %" PRIu64, ticks_to_ns(p->part.to - p->part.from, analysis->summary.ticks_per_second));
    for (size_t i = 0; i < VIEW_COUNT; i++) {
        struct table t = critical_make_table(s, &views[i], analysis, p, s->shared.limit);
        fputs(",\n ", stdout);
        table_print_json_rows(&t, views[i].key, stdout);
        table_drop(&t);
    }
    fputs("}\n", stdout);
}

static void critical_print_tables(const struct critical_settings *s, const struct analysis *analysis,
                                  const struct critical_path *p)
{
    static char segments[] = "segments, in order of time", threads[] = "threads";
    const bool text = s->shared.print == table_print_text;
    const enum critical_by by = s->by == BY_ALL && !text ? BY_FUNCTIONS : s->by;
    const size_t limit = shared_is_set(&s->shared, SHARED_LIMIT) || !text ? s->shared.limit : TEXT_ROWS;
    bool follows = false;
    for (size_t i = 0; i < VIEW_COUNT; i++) {
        if (by != BY_ALL && by != views[i].by)
            continue;
        struct table t = critical_make_table(s, &views[i], analysis, p, limit);
        t.follows = follows;
        t.own_summary = text;
        t.heading = follows ? strdup(views[i].by == BY_SEGMENTS ? segments : threads) : critical_heading(analysis, p);
        s->shared.print(&t, stdout);
        table_drop(&t);
        follows = true;
    }
    if (text)
        text_print_facts(&analysis->summary, true, stdout);
}

int critical_command(int argc, char **argv)
{
    struct critical_settings s = { .file = DEFAULT_SESSION };
    struct analysis loaded;
    command_line_parse(&line, argc, argv, &s, &s.shared);
    /* The path may go through any thread at any time before its end: the whole session is loaded. */
    shared_options_load_moments(&loaded, s.file, &s.shared);
    within_values_find(s.file, &s.shared.load);
    const struct critical_part part = critical_choose_part(&loaded, &s);
    loaded_values_drop(s.shared.load.selection.values);
    struct wait_causes causes = wait_causes_find_wakers(&loaded);
    struct critical_path path = critical_path_find(&loaded, &part, &causes, NULL);
    critical_add_remarks(&loaded, &path, &causes);
    wait_causes_drop(&causes);
    if (s.shared.print == table_print_json)
        critical_print_json(&s, &loaded, &path);
    else
        critical_print_tables(&s, &loaded, &path);
    critical_path_drop(&path);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    return finish_output();
}
