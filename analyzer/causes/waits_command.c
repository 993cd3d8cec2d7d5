/* dwell waits: reads its options and prints what threads waited for, and who made them wait. */
#include <inttypes.h>
#include <string.h>

#include "base/counted_text.h"
#include "causes/causes_feature.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/die.h"
#include "tables/cause_rows.h"
#include "tables/first_screen.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: total)" },
    { SHARED_LIMIT, "(default: all)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct waits_settings {
    struct shared_options shared;
    enum waits_by by;
    const char *file;
};

static const struct option_word ways[] = { { "path", WAITS_BY_PATH },         { "lock", WAITS_BY_LOCK },
                                           { "function", WAITS_BY_FUNCTION }, { "thread", WAITS_BY_THREAD },
                                           { "waker", WAITS_BY_WAKER },       { NULL, 0 } };

static const struct option_row options[] = {
    { "by", "WHAT",
      "a row for each lock, function, thread or waker (default: path, for each call path, kind of object and cause)",
      STORE_CHOICE(struct waits_settings, by, ways) },
    { TAKE_SESSION(struct waits_settings, file) },
    { 0 },
};

static const struct command_line line = {
    .name = "waits",
    .daily = "by from to thread root filter sort limit columns format",
    .arguments = "[FILE]",
    .text =
        "Shows what threads waited for, how long, and who made them wait: the thread that held the lock when the wait "
        "began, or the waker, whose unlock, signal, post, arrival, write or end came last before the wait ended.\v"
        "The times are blocked times and add up to those of dwell report. THREAD % is the share of the elapsed time of "
        "the threads that waited. A wait without a recorded cause is shown with the call that waited. "
        "Wakers are recorded in the modes trace and ring only.\n\nExamples:\n"
        "  dwell waits\n"
        "  dwell waits --by lock\n"
        "  dwell waits --thread worker --format json run.data",
    .options = options,
    .shared = shared,
    .columns = view_causes_columns,
    .column_count = &view_causes_column_count,
};

static void waits_add_remark(struct analysis *analysis, const struct wait_causes *causes)
{
    if (analysis->summary.imported)
        summary_remark(&analysis->summary, "imported-without-waits",
                       "an imported report has no blocked times, and no causes of waits");
    else if (!causes->acting && analysis->summary.threads)
        summary_remark(&analysis->summary, "no-causes", "causes of waits were not recorded: record again");
    else if (session_file_has_trees(analysis->file))
        summary_remark(&analysis->summary, "causes-of-sums",
                       "recorded in mode profile: the causes are holders of locks, joined threads and "
                       "children; wakers need mode trace or ring");
    if (causes->rest)
        summary_remark(&analysis->summary, "waits-joined",
                       "%s %s in one row without %s: mode profile keeps %d rows "
                       "for each thread",
                       COUNTED(causes->rest, "wait"), counted_word(causes->rest, "is", "are"),
                       counted_word(causes->rest, "its call and object", "their calls and objects"),
                       DWELL_MAX_WAIT_ROWS);
}

int waits_command(int argc, char **argv)
{
    struct waits_settings s = { .file = DEFAULT_SESSION };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    struct analysis loaded;
    shared_options_load_plain(&loaded, s.file, &s.shared);
    struct wait_causes causes = wait_causes_find(&loaded);
    waits_add_remark(&loaded, &causes);
    struct table table = view_causes(&loaded, &causes, s.by);
    option_filter(&table, &s.shared.filters);
    option_arrange_first(&table, s.shared.sort, s.shared.limit, s.shared.columns);
    if (first_screen_is_known(&loaded.summary))
        table.heading = first_screen_wait_heading(&loaded.summary);
    s.shared.print(&table, stdout);
    table_drop(&table);
    wait_causes_drop(&causes);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    return finish_output();
}
