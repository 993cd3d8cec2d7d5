/* Comparisons of runs in the store: percentiles of what a prepared server answers, tested as those of sessions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/statistics.h"
#include "comparison/diff.h"
#include "fleet/ids.h"
#include "profile/durations.h"
#include "support/store_answers.h"
#include "support/success.h"

static void fleet_diff_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

TestSuite(unit_fleet_diff, .init = fleet_diff_begin, .timeout = 300);

enum { MODULE = 5, FUNCTION = 71, PATH = 81, RUNS = 3, MOST_ANSWERS = 4 };

/* A run in which a thousand calls of main take `usual`, but for `slow` ones, which take `time`: all in ns. */
struct run_of_calls {
    uint64_t usual, slow, time;
};
static const struct run_of_calls steady = { 1000, 20, 10000 }, longer_tail = { 796, 20, 20000 };

static const uint64_t part_of_runs = 7;

/* ---- what the server answers ---- */

static uint64_t column_of_run(const char *name, const struct run_of_calls *run)
{
    return strcmp(name, "calls") == 0      ? 1000
           : strstr(name, "elapsed")       ? (1000 - run->slow) * run->usual + run->slow * run->time
           : strstr(name, "application")   ? (1000 - run->slow) * run->usual + run->slow * run->time
           : strcmp(name, "shortest") == 0 ? run->usual
           : strcmp(name, "longest") == 0  ? run->time
                                           : 0;
}

static void put_sum(struct binary_rows *rows, uint64_t place, const struct run_of_calls *run)
{
#define PUT_COLUMN(name, add) binary_put(rows, column_of_run(#name, run), 8);
    binary_put(rows, place, 8);
    binary_put(rows, MODULE, 8);
    binary_put(rows, FUNCTION, 8);
    FLEET_OWN_COLUMNS(PUT_COLUMN)
    binary_put_double(rows, 0);
    FLEET_INCLUSIVE_COLUMNS(PUT_COLUMN, function_)
    binary_put_double(rows, 0);
}

static void put_path(struct binary_rows *rows, uint64_t place, const struct run_of_calls *run)
{
    binary_put(rows, place, 8);
    binary_put(rows, 1, 4);
    binary_put(rows, FLEET_PATH, 1);
    binary_put(rows, PATH, 8);
    binary_put(rows, FLEET_NO_ID, 8);
    binary_put(rows, MODULE, 8);
    binary_put(rows, 0x1000, 8);
    FLEET_OWN_COLUMNS(PUT_COLUMN)
    binary_put_double(rows, 0);
}

static void put_counter(struct binary_rows *rows, enum diff_by by, uint64_t place, uint64_t ns, uint64_t calls)
{
    binary_put(rows, place, 8);
    binary_put(rows, by == DIFF_PATHS ? PATH : MODULE, 8);
    if (by == DIFF_FUNCTIONS)
        binary_put(rows, FUNCTION, 8);
    binary_put(rows, durations_counter(ns), 4);
    binary_put(rows, calls, 8);
    binary_put(rows, 0, 8);
}

/* In the order of the questions; that about durations comes last. Returns their number without it. */
static size_t prepare_answers(struct binary_rows *rows, enum diff_by by, const struct run_of_calls *runs, size_t count)
{
    struct binary_rows sums = { 0 }, *names = by == DIFF_PATHS ? rows : rows + 1;
    const size_t last = by == DIFF_MODULES ? 2 : 3;
    answers_put_module(&names[0], MODULE);
    if (by != DIFF_MODULES)
        answers_put_function(&names[1], MODULE, 0x1000, FUNCTION, "main");
    for (size_t i = 0; i < count; i++) {
        if (by == DIFF_PATHS)
            put_path(&sums, i + 1, &runs[i]);
        else
            put_sum(&sums, i + 1, &runs[i]);
        if (by != DIFF_MODULES) {
            put_counter(&rows[last], by, i + 1, runs[i].usual, 1000 - runs[i].slow);
            put_counter(&rows[last], by, i + 1, runs[i].time, runs[i].slow);
        }
    }
    rows[by == DIFF_PATHS ? 2 : 0] = sums;
    return last;
}

/* ---- comparisons ---- */

struct compared_side {
    struct diff *diff;
    enum diff_side side;
};

static bool take_run(void *context, const struct analysis *run, struct error *error)
{
    const struct compared_side *to = context;
    return diff_add(to->diff, to->side, run, error);
}

static bool ask_runs(struct answers *a, struct compared_side *to, size_t count, uint32_t knows, struct error *error)
{
    static const enum fleet_rows rows[] = {
        [DIFF_FUNCTIONS] = FLEET_FUNCTIONS, [DIFF_MODULES] = FLEET_MODULES, [DIFF_PATHS] = FLEET_CALL_PATHS
    };
    struct fleet_run runs[RUNS];
    for (size_t i = 0; i < count; i++)
        runs[i] = (struct fleet_run){ .day = 20000,
                                      .run = 100 + i,
                                      .file = (char *)"file",
                                      .parts = (uint64_t *)&part_of_runs,
                                      .part_count = 1,
                                      .rows = 3,
                                      .knows = knows };
    return fleet_answer_runs(&a->store, runs, count, rows[to->diff->by],
                             &(struct analysis_options){ .durations = true }, take_run, to, error);
}

/* Adds runs that know durations, or not: then nothing is asked about them. */
static void add_runs(struct diff *d, enum diff_side side, const struct run_of_calls *calls, size_t count, bool known)
{
    struct binary_rows rows[MOST_ANSWERS] = { { 0 } };
    struct compared_side to = { d, side };
    struct answers a;
    size_t answers = prepare_answers(rows, d->by, calls, count);
    answers += known && d->by != DIFF_MODULES;
    answers_start(&a, rows, answers);
    EXPECT_SUCCESS(ask_runs(&a, &to, count, known ? FLEET_KNOWS_DURATIONS : 0, &error));
    const char *question = (const char *)http_stub_wait(a.stub)[answers - 1].body;
    cr_assert(eq(int, strstr(question, "durations_2") != NULL, known && d->by != DIFF_MODULES));
    answers_stop(&a);
    answers_drop_rows(rows, MOST_ANSWERS);
}

static void expect_pair(const struct diff *d, enum diff_value value, uint64_t before, uint64_t after,
                        enum diff_judged judged)
{
    const struct diff_pair *pair = &d->rows[0].values[value];
    cr_assert(eq(sz, d->row_count, 1));
    cr_assert(diff_row_knows(d, &d->rows[0], value));
    cr_assert(eq(u64, pair->mean[DIFF_BEFORE], before), "%s", diff_value_name(value));
    cr_assert(eq(u64, pair->mean[DIFF_AFTER], after), "%s", diff_value_name(value));
    cr_assert(eq(int, pair->judged, judged), "%s", diff_value_name(value));
}

static const struct diff_options by_p99 = { .sort = DIFF_P99, .large.percent = 1 };

/* The middles of the counters: 1,000 ns are in that of 992 to 1,007. */
static void check_moved_tail(enum diff_by by)
{
    struct diff *d = diff_new(by);
    add_runs(d, DIFF_BEFORE, &steady, 1, true);
    add_runs(d, DIFF_AFTER, &longer_tail, 1, true);
    diff_judge(d, &by_p99);
    expect_pair(d, DIFF_CALLS, 1000, 1000, JUDGED_NOTHING);
    expect_pair(d, DIFF_ELAPSED_INCLUSIVE, 1180000, 1180080, JUDGED_NOTHING);
    expect_pair(d, DIFF_P50, 1000, 792, JUDGED_LARGE);
    expect_pair(d, DIFF_P90, 1000, 792, JUDGED_LARGE);
    expect_pair(d, DIFF_P99, 10112, 20224, JUDGED_LARGE);
    expect_pair(d, DIFF_MAX, 10112, 20224, JUDGED_LARGE);
    const struct diff_pair *pair = &d->rows[0].values[DIFF_P99];
    cr_assert(epsilon_eq(dbl, pair->probability, 2 * share_test(0, 1000, 20, 1000), 1e-12));
    diff_free(d);
}

Test(unit_fleet_diff, a_tail_that_moved_while_the_mean_stayed)
{
    check_moved_tail(DIFF_FUNCTIONS);
    check_moved_tail(DIFF_PATHS);
}

/* Each run has its own percentiles; those of all calls together would be the longest ones. */
static void check_runs(enum diff_by by)
{
    const struct run_of_calls before[RUNS] = { { 1000, 20, 10000 }, { 1000, 20, 11000 }, { 1000, 20, 12000 } };
    const struct run_of_calls after[RUNS] = { { 1000, 20, 20000 }, { 1000, 20, 21000 }, { 1000, 20, 22000 } };
    struct diff *d = diff_new(by);
    add_runs(d, DIFF_BEFORE, before, RUNS, true);
    add_runs(d, DIFF_AFTER, after, RUNS, true);
    diff_judge(d, &by_p99);
    expect_pair(d, DIFF_P50, 1000, 1000, JUDGED_NOTHING);
    expect_pair(d, DIFF_P99, (10112 + 10880 + 11904) / 3, (20224 + 21248 + 21760) / 3, JUDGED_SIGNIFICANT);
    diff_free(d);
}

Test(unit_fleet_diff, each_run_has_its_own_percentiles)
{
    check_runs(DIFF_FUNCTIONS);
    check_runs(DIFF_PATHS);
}

/* If one run was pushed without durations, and by module. */
Test(unit_fleet_diff, unknown_percentiles)
{
    struct diff *d = diff_new(DIFF_FUNCTIONS);
    add_runs(d, DIFF_BEFORE, &steady, 1, true);
    add_runs(d, DIFF_AFTER, &longer_tail, 1, false);
    cr_assert(not(d->known[DIFF_P99]));
    cr_assert(d->known[DIFF_ELAPSED_INCLUSIVE]);
    diff_free(d);
    d = diff_new(DIFF_MODULES);
    add_runs(d, DIFF_BEFORE, &steady, 1, true);
    cr_assert(not(d->known[DIFF_P99]));
    diff_free(d);
}

/* ---- wrong answers ---- */

static void check_durations(enum diff_by by, const uint64_t *places, size_t cut, const char *expected)
{
    struct binary_rows rows[MOST_ANSWERS] = { { 0 } };
    const struct run_of_calls runs[] = { steady, longer_tail };
    struct diff *d = diff_new(by);
    struct compared_side to = { d, DIFF_BEFORE };
    struct error error = { NULL };
    struct answers a;
    const size_t last = prepare_answers(rows, by, runs, 2);
    rows[last].length = 0;
    for (size_t i = 0; i < 2; i++)
        put_counter(&rows[last], by, places[i], 1000, 1000);
    rows[last].length -= cut;
    answers_start(&a, rows, last + 1);
    answers_check(ask_runs(&a, &to, 2, FLEET_KNOWS_DURATIONS, &error), &error, expected);
    answers_stop(&a);
    answers_drop_rows(rows, MOST_ANSWERS);
    diff_free(d);
}

Test(unit_fleet_diff, durations_are_of_runs_that_were_asked_for_and_in_their_order)
{
    static const enum diff_by ways[] = { DIFF_FUNCTIONS, DIFF_PATHS };
    static const uint64_t right[] = { 1, 2 }, one[] = { 2, 2 }, turned[] = { 2, 1 }, none[] = { 0, 1 },
                          more[] = { 1, 3 };
    for (size_t i = 0; i < 2; i++) {
        check_durations(ways[i], right, 0, NULL);
        check_durations(ways[i], one, 0, NULL);
        check_durations(ways[i], turned, 0, ANSWER_WRONG);
        check_durations(ways[i], none, 0, ANSWER_WRONG);
        check_durations(ways[i], more, 0, ANSWER_WRONG);
        for (size_t cut = 1; cut < 8; cut++)
            check_durations(ways[i], right, cut, ANSWER_WRONG);
    }
}
