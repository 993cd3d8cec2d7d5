/* dwell tree: reads its options and prints the call tree, from its roots or for one function. */
#include <string.h>

#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "commands/sessions.h"
#include "tables/first_screen.h"
#include "tables/row_probes.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS_AT_ANY_DEPTH, NULL },
    { SHARED_FILTER, NULL },
    { SHARED_MIN, "(default: 1%); such branches are folded into one row" },
    { SHARED_SORT,
      "(default: cpu_inclusive if it is known and in text, else elapsed_inclusive); branches of one path" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

enum { WAIT_LIMIT = 5 };

struct tree_settings {
    struct shared_options shared;
    struct session_list sessions;
    struct tree_options tree;
};

enum { TREE_BY_THREAD, TREE_BY_LINE };

static const struct option_word ways[] = { { "thread", TREE_BY_THREAD }, { "line", TREE_BY_LINE }, { NULL, 0 } };

static void tree_read_by(void *settings, const struct option_row *row, char *argument)
{
    struct tree_settings *s = settings;
    *(option_word_value(row, argument) == TREE_BY_THREAD ? &s->tree.by_thread : &s->tree.by_line) = true;
}

static void tree_read_collapse(void *settings, const struct option_row *row, char *argument)
{
    struct tree_settings *s = settings;
    (void)row;
    s->tree.collapse = true;
    s->tree.own = argument ? option_amount("--collapse", argument) : (struct amount){ .percent = 1 };
}

static const struct option_row options[] = {
    { "depth", "N", "Fold calls that are deeper than N (default: 40)",
      STORE_NUMBER(struct tree_settings, tree.depth, 0, UINT32_MAX, "a number") },
    { "by", "WHAT",
      "thread: a tree for each thread; line: keep calls from different lines apart and show the lines (needs record "
      "--call-sites); may be repeated",
      READ_BY(tree_read_by), .words = ways },
    { "collapse", "AMOUNT",
      "Show a function that has a single callee, and no more than AMOUNT of exclusive time (default: 1%), in one row "
      "with it",
      READ_BY(tree_read_collapse), .optional = true },
    { "fold-recursion", NULL, "Show functions once a path, and how deep they recursed",
      STORE_FLAG(struct tree_settings, tree.fold_recursion) },
    { TAKE_SESSIONS(struct tree_settings, sessions) },
    { 0 },
};

static const struct command_line line = {
    .name = "tree",
    .daily = "by depth from to thread root min filter columns format",
    .arguments = "[FILE...]",
    .text =
        "Shows the call paths of one or more sessions (default: dwell.data) with their times, the largest "
        "first.\v"
        "In text, the order is by inclusive CPU time where that is known, otherwise by inclusive elapsed time. A star "
        "marks the hot path: it follows the largest callee while that has at least half of its caller's time. w marks "
        "functions that mostly wait, and in imported reports those that are known to wait; they are never hot. The "
        "five longest waits come first, unless there are filters, or another order or columns. csv and json go by "
        "elapsed time.\n\nExamples:\n"
        "  dwell tree\n"
        "  dwell tree --min 5% --collapse --fold-recursion\n"
        "  dwell tree --root parse --filter 'elapsed_exclusive>1ms'",
    .options = options,
    .shared = shared,
    .read_shared = option_read_times,
};

/* Work hides the rows that wait, so a tree of all by CPU time has the longest waits above it. */
static bool tree_shows_waits(const struct tree_settings *s)
{
    return s->tree.by_cpu && !s->shared.sort && !s->shared.columns && !s->shared.filters.count;
}

static void tree_print_waits(const struct analysis *analysis, struct table *tree)
{
    struct table waits = view_longest_waits(analysis, WAIT_LIMIT);
    waits.own_summary = true;
    table_print_text(&waits, stdout);
    table_drop(&waits);
    tree->heading = first_screen_work_heading(&analysis->summary, "inclusive CPU time");
    tree->follows = true;
}

/* A function is given by --root, as a tree of several sessions has many words. */
static void tree_check_words(const struct session_list *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        if (function_words_is_no_session(sessions->paths[i]))
            die(STATUS_ERROR,
                "tree: takes sessions, and '%s' is no file. For a function: dwell callers %s, or dwell tree --root %s",
                sessions->paths[i], sessions->paths[i], sessions->paths[i]);
}

int command_tree(int argc, char **argv)
{
    struct tree_settings s = { .tree = { .depth = 40 } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    tree_check_words(&s.sessions);
    s.shared.load.lines = s.tree.by_line ? LINES_NEEDED : LINES_NONE;
    s.tree.min = s.shared.min;
    s.tree.unfolded = s.shared.filters.count > 0;
    if (!shared_is_set(&s.shared, SHARED_MIN) &&
        !s.tree.unfolded) /* any path may lead to a row that the filter keeps */
        s.tree.min = (struct amount){ .percent = 1 };
    struct analysis loaded;
    session_list_load(&s.sessions, &loaded, &s.shared);
    option_check_times("--collapse", s.tree.own, loaded.summary.samples, loaded.summary.path);
    s.tree.by_cpu = s.shared.print == table_print_text && first_screen_is_known(&loaded.summary);
    struct table table = view_tree(&loaded, &s.tree);
    option_filter(&table, &s.shared.filters);
    option_arrange(&table, s.shared.sort, s.shared.columns, false);
    row_probes_remark(&loaded.summary, &table);
    if (tree_shows_waits(&s))
        tree_print_waits(&loaded, &table);
    s.shared.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    session_list_drop(&s.sessions);
    return finish_output();
}
