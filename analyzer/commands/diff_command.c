/* dwell diff: reads its options, loads the sessions before and after a change, and prints how functions, modules or
 * call paths differ. */
#include <string.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/diff_result.h"
#include "commands/sessions.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_MIN, "of elapsed inclusive time, on both sides" },
    { SHARED_SORT, "(default: cpu_exclusive, or elapsed_exclusive if that is unknown); the largest change first" },
    { SHARED_LIMIT, "(default: 40 in text)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, "; also markdown (a comment), github (annotations of a workflow) or junit (XML)" },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct diff_settings {
    struct shared_options shared;
    struct session_list sides[DIFF_SIDES];
    enum diff_side side; /* being parsed */
    enum diff_by by;
    struct diff_result result;
};

static void diff_take(void *settings, const struct option_row *row, char *argument)
{
    struct diff_settings *s = settings;
    (void)row;
    session_list_add(&s->sides[s->side], argument);
}

static const struct option_row options[] = {
    { "by", "WHAT", "A row for each function (default), module or call path (path)",
      STORE_CHOICE(struct diff_settings, by, diff_ways) },
    { "large", "AMOUNT", "Mark changes of at least AMOUNT of the session's time (default: 1%)",
      STORE_AMOUNT(struct diff_settings, result.options.large) },
    { "fail-if", "CONDITION",
      "Exit with status 1 if a row meets it: 'calls > +0', 'cpu_exclusive > +10%', 'elapsed_inclusive < -5ms'; may be "
      "repeated; 'all_calls > +0' counts calls that chance decides, too; 'exponent(sort:n) > +0.2' is about how the "
      "time of sort grows with n",
      READ_INTO(struct diff_settings, result, struct diff_result, diff_result_add_gate) },
    { TAKE_BY(diff_take) },
    { 0 },
};

static bool diff_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct diff_settings *s = settings;
    return diff_result_read_shared(&s->result, option, argument);
}

static const struct command_line line = {
    .name = "diff",
    .daily = "by fail-if large min from to sort limit columns format",
    .arguments = "BEFORE AFTER\nBEFORE... -- AFTER...",
    .text =
        "Compares sessions from before and after a change: calls, times, time on the CPU, and percentiles.\v"
        "Functions are matched by the file name of their module and their own name. Several sessions on a side "
        "count as their mean. With two or more on both sides, times are tested. Only what chance does not explain can "
        "fail --fail-if. Calls are compared exactly. docs/diff.md has the formulas.\n\nExamples:\n"
        "  dwell diff before.data after.data\n"
        "  dwell diff --by path --sort calls before.data after.data\n"
        "  dwell diff --sort p99 before.data after.data\n"
        "  dwell diff old-*.data -- new-*.data --fail-if 'cpu_exclusive > +10%'\n"
        "  dwell diff old-*.data -- new-*.data --format markdown > comment.md",
    .options = options,
    .shared = shared,
    .formats = DIFF_FORMATS,
    .read_shared = diff_read_shared,
};

static void diff_go_over(void *settings)
{
    struct diff_settings *s = settings;
    s->side = DIFF_AFTER;
}

/* Parses the sessions of before, a --, and those of after; or one of each. */
static void diff_parse_sides(struct diff_settings *s, int argc, char **argv)
{
    struct session_list *before = &s->sides[DIFF_BEFORE], *after = &s->sides[DIFF_AFTER];
    if (command_line_parse_sides(&line, argc, argv, s, &s->shared, diff_go_over)) {
        /* each side has its own */
    } else if (before->count == 2) {
        GROW(after->paths, after->count, after->room);
        after->paths[after->count++] = before->paths[--before->count];
    } else if (before->count > 2) {
        die(STATUS_ERROR, "diff: %zu sessions: write -- between those of before and those of after", before->count);
    }
    session_list_unique(before);
    session_list_unique(after);
    if (!before->count || !after->count)
        die(STATUS_ERROR, "diff: give a session of before and one of after");
}

/* The patterns of filters need not match in both sides. */
static void diff_check_filters(const struct diff_settings *s)
{
    struct error error = { NULL };
    if (!call_filters_check(&s->shared.load.selection.filters, "all sessions", &error))
        die_of(&error);
}

static void diff_load_side(struct diff_settings *s, struct diff *d, enum diff_side side)
{
    for (size_t i = 0; i < s->sides[side].count; i++) {
        struct error error = { NULL };
        struct analysis loaded;
        command_load(&loaded, s->sides[side].paths[i], &s->shared.load);
        if (!diff_add(d, side, &loaded, &error))
            die_of(&error);
        diff_result_add_sources(&s->result, d, &loaded);
        diff_result_add_values(&s->result, side, &loaded);
        analysis_drop(&loaded);
    }
}

int command_diff(int argc, char **argv)
{
    struct diff_settings s = { .result = DIFF_RESULT(&s.shared) };
    diff_parse_sides(&s, argc, argv);
    diff_result_check(&s.result);
    struct diff *d = diff_new(s.by);
    s.shared.load.durations = diff_result_wants_percentiles(&s.result);
    s.shared.load.selection.filters.several = true;
    diff_load_side(&s, d, DIFF_BEFORE);
    diff_load_side(&s, d, DIFF_AFTER);
    diff_check_filters(&s);
    const int status = diff_result_finish(&s.result, d, s.sides[DIFF_BEFORE].paths[0]);
    diff_free(d);
    diff_result_drop(&s.result);
    for (int side = 0; side < DIFF_SIDES; side++)
        session_list_drop(&s.sides[side]);
    shared_options_drop(&s.shared);
    return status;
}
