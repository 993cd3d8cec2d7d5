/* An analysis of each of many runs, from a few answers of a prepared server. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "fleet/ids.h"
#include "support/store_answers.h"

static void answer_runs_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

TestSuite(unit_fleet_answer_runs, .init = answer_runs_begin, .timeout = 300);

enum { MODULE = 5, FUNCTION = 71, FIRST_RUN = 100, RUNS = 40, MANY_ROWS = 1 << 20 };

static const uint64_t part_of_runs = 7;

static void answer_runs_list(struct fleet_run *runs, size_t count, uint64_t rows)
{
    for (size_t i = 0; i < count; i++)
        runs[i] = (struct fleet_run){ .day = 20000,
                                      .run = FIRST_RUN + count - i,
                                      .file = (char *)"file",
                                      .parts = (uint64_t *)&part_of_runs,
                                      .part_count = 1,
                                      .rows = rows };
}

/* What the analyses had, one after the other. */
struct taken {
    size_t count, reported, nodes;
    uint64_t elapsed[RUNS]; /* exclusive, of the first function or call path */
    size_t refused;         /* the run that is refused, from 1 */
};

static bool answer_runs_take(void *context, const struct analysis *run, struct error *error)
{
    struct taken *t = context;
    cr_assert(lt(sz, t->count, RUNS));
    const struct profile *p = run->profile;
    t->reported += p->reported_count;
    t->nodes += p->node_count - 1;
    cr_assert(eq(str, run->file->path, "file"));
    for (size_t i = 0; i < p->function_count; i++)
        cr_assert(eq(str, run->names[i].name, "main"));
    t->elapsed[t->count] = p->reported_count   ? p->reported[0].times.elapsed_exclusive
                           : p->node_count > 1 ? p->nodes[1].elapsed
                                               : 0;
    if (p->reported_count) /* the root has the sums of the session */
        cr_assert(eq(u64, p->nodes[0].elapsed, run->rollup->session.elapsed_exclusive));
    if (++t->count == t->refused)
        return error_set(error, "refused");
    return true;
}

/* ---- rows ---- */

static void answer_runs_put_sum(struct binary_rows *rows, uint64_t place, uint64_t function, uint64_t number)
{
    binary_put(rows, place, 8);
    binary_put(rows, MODULE, 8);
    binary_put(rows, function, 8);
    answers_put_own(rows, number);
    answers_put_inclusive(rows, number);
}

static void answer_runs_put_path(struct binary_rows *rows, uint64_t place, uint64_t parent, uint64_t number)
{
    binary_put(rows, place, 8);
    binary_put(rows, parent == FLEET_NO_ID ? 1 : 2, 4);
    binary_put(rows, FLEET_PATH, 1);
    binary_put(rows, parent == FLEET_NO_ID ? 81 : 82, 8);
    binary_put(rows, parent, 8);
    binary_put(rows, MODULE, 8);
    binary_put(rows, parent == FLEET_NO_ID ? 0x1000 : 0x2000, 8);
    answers_put_own(rows, number);
}

static struct binary_rows answer_runs_modules(void)
{
    struct binary_rows rows = { 0 };
    answers_put_module(&rows, MODULE);
    return rows;
}

static struct binary_rows answer_runs_functions(size_t count)
{
    struct binary_rows rows = { 0 };
    for (size_t i = 0; i < count; i++)
        answers_put_function(&rows, MODULE, 0x1000 * (i + 1), FUNCTION + i, "main");
    return rows;
}

static void answer_runs_ask(const struct binary_rows *rows, size_t answers, const struct fleet_run *runs, size_t count,
                            enum fleet_rows of, struct taken *taken, const char *expected)
{
    struct answers a;
    struct error error = { NULL };
    answers_start(&a, rows, answers);
    const bool good =
        fleet_answer_runs(&a.store, runs, count, of, &(struct analysis_options){ 0 }, answer_runs_take, taken, &error);
    answers_check(good, &error, expected);
    if (good)
        http_stub_wait(a.stub);
    answers_stop(&a);
}

/* ---- the number of questions ---- */

/* The list has the latest number first: the places in the list count, not the numbers. */
Test(unit_fleet_answer_runs, three_questions_are_about_forty_runs)
{
    struct fleet_run runs[RUNS];
    struct binary_rows rows[] = { { 0 }, answer_runs_modules(), answer_runs_functions(1) };
    struct taken taken = { 0 };
    answer_runs_list(runs, RUNS, 3);
    for (uint64_t place = 1; place <= RUNS; place++)
        if (place != 9) /* a run without rows */
            answer_runs_put_sum(&rows[0], place, FUNCTION, 1000 + place);
    answer_runs_ask(rows, 3, runs, RUNS, FLEET_FUNCTIONS, &taken, NULL);
    cr_assert(eq(sz, taken.count, RUNS));
    cr_assert(eq(sz, taken.reported, RUNS - 1));
    for (uint64_t i = 0; i < RUNS; i++)
        cr_assert(eq(u64, taken.elapsed[i], i == 8 ? 0 : 1001 + i));
    answers_drop_rows(rows, 3);
}

Test(unit_fleet_answer_runs, three_questions_are_about_the_paths_of_forty_runs)
{
    struct fleet_run runs[RUNS];
    struct binary_rows rows[] = { answer_runs_modules(), answer_runs_functions(2), { 0 } };
    struct taken taken = { 0 };
    answer_runs_list(runs, RUNS, 3);
    for (uint64_t place = 1; place <= RUNS; place++) {
        answer_runs_put_path(&rows[2], place, FLEET_NO_ID, 1000 + place);
        answer_runs_put_path(&rows[2], place, 81, 5);
    }
    answer_runs_ask(rows, 3, runs, RUNS, FLEET_CALL_PATHS, &taken, NULL);
    cr_assert(eq(sz, taken.count, RUNS));
    cr_assert(eq(sz, taken.nodes, 2 * RUNS));
    cr_assert(eq(sz, taken.reported, 0));
    for (uint64_t i = 0; i < RUNS; i++)
        cr_assert(eq(u64, taken.elapsed[i], 1001 + i));
    answers_drop_rows(rows, 3);
}

/* Runs with many paths are asked for one after the other. */
Test(unit_fleet_answer_runs, a_question_has_a_limited_answer)
{
    struct fleet_run runs[2];
    struct binary_rows rows[6] = { answer_runs_modules(), answer_runs_functions(1), { 0 },
                                   answer_runs_modules(), answer_runs_functions(1), { 0 } };
    struct taken taken = { 0 };
    answer_runs_list(runs, 2, MANY_ROWS);
    answer_runs_put_path(&rows[2], 1, FLEET_NO_ID, 6);
    answer_runs_put_path(&rows[5], 1, FLEET_NO_ID, 7);
    answer_runs_ask(rows, 6, runs, 2, FLEET_CALL_PATHS, &taken, NULL);
    cr_assert(eq(sz, taken.count, 2));
    cr_assert(eq(u64, taken.elapsed[0], 6));
    cr_assert(eq(u64, taken.elapsed[1], 7));
    answers_drop_rows(rows, 6);
}

/* ---- where sums do not suffice ---- */

static void answer_runs_check_paths(uint64_t second_place, uint64_t samples, size_t skipped, size_t reported)
{
    struct fleet_run runs[2];
    struct binary_rows rows[6] = {
        { 0 }, answer_runs_modules(), answer_runs_functions(2), answer_runs_modules(), answer_runs_functions(2), { 0 }
    };
    struct taken taken = { 0 };
    answer_runs_list(runs, 2, 3);
    runs[1].stack_samples = samples;
    answer_runs_put_sum(&rows[0], 1, FUNCTION, 6);
    answer_runs_put_sum(&rows[0], second_place, FUNCTION + 1, 4);
    answer_runs_put_path(&rows[5], 1, FLEET_NO_ID, 6);
    answer_runs_put_path(&rows[5], second_place, second_place == 1 ? 81 : FLEET_NO_ID, 4);
    answer_runs_ask(rows + skipped, reported ? 3 : 6 - skipped, runs, 2, FLEET_FUNCTIONS, &taken, NULL);
    cr_assert(eq(sz, taken.count, 2));
    cr_assert(eq(sz, taken.reported, reported));
    cr_assert(eq(sz, taken.nodes, reported ? 0 : 2));
    answers_drop_rows(rows, 6);
}

/* One of them can call the other; in different runs, it cannot. */
Test(unit_fleet_answer_runs, functions_of_one_name_in_a_run_need_paths)
{
    answer_runs_check_paths(1, 0, 0, 0);
    answer_runs_check_paths(2, 0, 0, 2);
}

Test(unit_fleet_answer_runs, estimated_times_need_paths)
{
    answer_runs_check_paths(2, 1, 3, 0);
}

/* A module's sums do not have the number of its functions that were only counted. */
Test(unit_fleet_answer_runs, counted_calls_of_modules_need_paths)
{
    struct fleet_run runs[2];
    struct binary_rows rows[5] = {
        { 0 }, answer_runs_modules(), answer_runs_modules(), answer_runs_functions(1), { 0 }
    };
    struct taken taken = { 0 };
    answer_runs_list(runs, 2, 3);
    answer_runs_put_sum(&rows[0], 1, MODULE, 6);
    answer_runs_put_path(&rows[4], 2, FLEET_NO_ID, 4);
    answer_runs_ask(rows, 5, runs, 2, FLEET_MODULES, &taken, NULL);
    cr_assert(eq(sz, taken.count, 2));
    cr_assert(eq(sz, taken.nodes, 1));
    cr_assert(eq(u64, taken.elapsed[1], 4));
    answers_drop_rows(rows, 5);
}

/* ---- wrong answers ---- */

static void answer_runs_check_sums(const uint64_t *places, size_t count, size_t cut, const char *expected)
{
    struct fleet_run runs[3];
    struct binary_rows rows[] = { { 0 }, answer_runs_modules(), answer_runs_functions(1) };
    struct taken taken = { 0 };
    answer_runs_list(runs, 3, 3);
    for (size_t i = 0; i < count; i++)
        answer_runs_put_sum(&rows[0], places[i], FUNCTION, 6);
    rows[0].length -= cut;
    answer_runs_ask(rows, 3, runs, 3, FLEET_FUNCTIONS, &taken, expected);
    cr_assert(expected || taken.count == 3);
    answers_drop_rows(rows, 3);
}

Test(unit_fleet_answer_runs, rows_are_of_runs_that_were_asked_for_and_in_their_order)
{
    const struct {
        uint64_t places[3];
        const char *expected;
    } cases[] = { { { 1, 2, 3 }, NULL },
                  { { 1, 3, 2 }, ANSWER_WRONG },
                  { { 0, 2, 3 }, ANSWER_WRONG },
                  { { 1, 2, 4 }, ANSWER_WRONG },
                  { { 1, 2, UINT64_MAX }, ANSWER_WRONG } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        answer_runs_check_sums(cases[i].places, 3, 0, cases[i].expected);
    for (size_t cut = 1; cut < 8; cut++)
        answer_runs_check_sums(cases[0].places, 3, cut, ANSWER_WRONG);
}

static void answer_runs_check_path(uint64_t place, uint64_t parent, const char *expected)
{
    struct fleet_run runs[2];
    struct binary_rows rows[] = { answer_runs_modules(), answer_runs_functions(2), { 0 } };
    struct taken taken = { 0 };
    answer_runs_list(runs, 2, 3);
    answer_runs_put_path(&rows[2], 1, FLEET_NO_ID, 6);
    answer_runs_put_path(&rows[2], place, parent, 6);
    answer_runs_ask(rows, 3, runs, 2, FLEET_CALL_PATHS, &taken, expected);
    answers_drop_rows(rows, 3);
}

/* The callers of a run are those of its own rows. */
Test(unit_fleet_answer_runs, paths_have_callers_in_their_run)
{
    answer_runs_check_path(1, 81, NULL);
    answer_runs_check_path(2, FLEET_NO_ID, NULL);
    answer_runs_check_path(2, 81, "lacks the caller of a path");
    answer_runs_check_path(3, FLEET_NO_ID, ANSWER_WRONG);
}

Test(unit_fleet_answer_runs, a_refused_run_ends_the_answer)
{
    struct fleet_run runs[3];
    struct binary_rows rows[] = { { 0 }, answer_runs_modules(), answer_runs_functions(1) };
    struct taken taken = { .refused = 2 };
    answer_runs_list(runs, 3, 3);
    for (uint64_t place = 1; place <= 3; place++)
        answer_runs_put_sum(&rows[0], place, FUNCTION, 6);
    answer_runs_ask(rows, 3, runs, 3, FLEET_FUNCTIONS, &taken, "refused");
    cr_assert(eq(sz, taken.count, 2));
    answers_drop_rows(rows, 3);
}
