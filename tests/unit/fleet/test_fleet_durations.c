/* Durations of calls in the store: the rows of a session, percentiles of what a prepared server answers, and answers
 * that cannot be. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fleet/sum_rows.h"
#include "profile/durations.h"
#include "profile/path_probes.h"
#include "sums/sums.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/store_answers.h"
#include "support/timed_session.h"
#include "tables/percentiles.h"

TestSuite(unit_fleet_durations, .timeout = 300);

enum { MODULE = 5, RUN = 11, FUNCTIONS = 3 };

/* By function, from that at the lowest address on. */
struct wanted {
    struct durations *list[FUNCTIONS];
};

static void wanted_drop(struct wanted *w)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        free(w->list[i]);
}

static size_t wanted_place(uint64_t address)
{
    const size_t place = (size_t)(address / TIMED_SESSION_FUNCTION) - 1;
    cr_assert(lt(sz, place, FUNCTIONS));
    return place;
}

/* The percentiles that a report of the recorded session has, brought to nanoseconds. */
static struct wanted wanted_of(const char *path, uint64_t rate)
{
    struct wanted w = { { NULL } };
    struct analysis analysis;
    load_with(&analysis, path, &(struct analysis_options){ .durations = true });
    for (size_t i = 0; i < analysis.profile->node_count; i++) {
        const struct profile_node *node = &analysis.profile->nodes[i];
        struct durations *d = NULL;
        if (node->function == PROFILE_NONE)
            continue;
        durations_merge(&d, node->durations);
        durations_scale(&d, rate);
        durations_merge(&w.list[wanted_place(analysis.profile->functions[node->function].offset)], d);
        free(d);
    }
    analysis_drop(&analysis);
    return w;
}

/* ---- rows ---- */

static bool durations_take_row(void *context, const struct fleet_row *row)
{
    struct wanted *w = context;
    if (row->durations)
        durations_merge(&w->list[wanted_place(row->place.address)], row->durations);
    return true;
}

static struct wanted durations_of_rows(const char *path)
{
    struct wanted w = { { NULL } };
    struct error error = { NULL };
    struct fleet_session session;
    cr_assert(fleet_session_open(&session, path, &error), "%s", error.text);
    cr_assert(fleet_follow_rows(&session, durations_take_row, &w, &error), "%s", error.text);
    fleet_session_drop(&session);
    return w;
}

static void durations_expect_same(const struct durations *found, const struct durations *wanted)
{
    size_t count, expected;
    struct durations_step *x = durations_list(found, &count), *y = durations_list(wanted, &expected);
    cr_assert(eq(sz, count, expected));
    cr_assert(gt(sz, count, 0));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(u64, x[i].ticks, y[i].ticks));
        cr_assert(eq(u64, x[i].calls, y[i].calls));
    }
    free(x);
    free(y);
}

Test(unit_fleet_durations, rows_have_those_of_the_report)
{
    static const uint64_t rates[] = { 1000000000, 2400000000 };
    for (size_t i = 0; i < 2; i++) {
        timed_session_save(test_path("recorded"), 7, rates[i], (uint32_t)i);
        struct wanted wanted = wanted_of(test_path("recorded"), rates[i]),
                      found = durations_of_rows(test_path("recorded"));
        for (size_t j = 0; j < FUNCTIONS; j++)
            durations_expect_same(found.list[j], wanted.list[j]);
        cr_assert(eq(u64, durations_calls(found.list[0]), 400 * TIMED_SESSION_THREADS));
        cr_assert(eq(u64, durations_calls(found.list[2]), TIMED_SESSION_THREADS));
        wanted_drop(&wanted);
        wanted_drop(&found);
    }
}

/* ---- damaged sums ---- */

/* Changes the first row of durations, without checksums. */
static void durations_damage(const char *path, const struct dwell_duration_row *row)
{
    static const uint8_t none[sizeof(struct dwell_seal)];
    FILE *file = fopen(path, "r+");
    struct dwell_chunk_header h = { 0 };
    cr_assert(file != NULL);
    for (long at = DWELL_UNIT; h.kind != DWELL_CHUNK_DURATIONS || h.magic != DWELL_CHUNK_MAGIC; at += DWELL_UNIT) {
        fseek(file, at, SEEK_SET);
        cr_assert(eq(sz, fread(&h, sizeof h, 1, file), 1));
        if (h.kind == DWELL_CHUNK_DURATIONS && h.magic == DWELL_CHUNK_MAGIC) {
            h.sealed = 0;
            fseek(file, at, SEEK_SET);
            fwrite(&h, sizeof h, 1, file);
            fwrite(row, sizeof *row, 1, file);
        }
    }
    fseek(file, DWELL_SEAL_OFFSET, SEEK_SET);
    fwrite(none, sizeof none, 1, file);
    fclose(file);
}

Test(unit_fleet_durations, sums_with_rows_that_cannot_be_are_not_pushed)
{
    static const struct dwell_duration_row rows[] = {
        { 1, DWELL_DURATION_COUNTERS, 1 }, { 1, 5, UINT64_MAX }, { 1, 5, 0 }, { 4000, 5, 1 }, { 3, 5, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = { NULL };
        struct wanted w = { { NULL } };
        struct fleet_session session;
        struct sums *sums = sums_new();
        timed_session_save(test_path("recorded"), 7, 1000000000, 0);
        cr_assert(sums_add_recorded(sums, test_path("recorded"), (struct sums_shard){ 0, 1 }, 1, &error));
        unlink(test_path("sums"));
        cr_assert(sums_write(sums, test_path("sums")) == NULL);
        sums_free(sums);
        durations_damage(test_path("sums"), &rows[i]);
        cr_assert(fleet_session_open(&session, test_path("sums"), &error), "%s", error.text);
        cr_assert(not(fleet_follow_rows(&session, durations_take_row, &w, &error)), "row %zu", i);
        cr_assert(strstr(error.text, "/sums: is damaged: it has durations of calls that cannot be") != NULL, "%s",
                  error.text);
        cr_assert(strchr(error.text, '\n') == NULL);
        error_drop(&error);
        wanted_drop(&w);
        fleet_session_drop(&session);
    }
}

/* ---- answers ---- */

static void durations_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

static const struct fleet_run durations_run = { .run = RUN, .file = (char *)"file", .knows = FLEET_KNOWS_DURATIONS };
static const struct fleet_run older_run = { .run = RUN + 1, .file = (char *)"older" };

static uint64_t durations_number(size_t function)
{
    return 70 + function;
}

static uint64_t durations_address(size_t function)
{
    return (function + 1) * TIMED_SESSION_FUNCTION;
}

/* The server's sum of these rows. */
static void durations_put(struct binary_rows *rows, size_t function, const struct durations *d, bool by_path)
{
    size_t count;
    struct durations_counter *list = durations_counters(d, &count);
    for (size_t i = 0; i < count; i++) {
        binary_put(rows, by_path ? 90 + function : MODULE, 8);
        if (!by_path)
            binary_put(rows, durations_number(function), 8);
        binary_put(rows, list[i].counter, 4);
        binary_put(rows, list[i].calls, 8);
        binary_put(rows, durations_are_one(d) ? call_ticks(d->sum) : 0, 8);
    }
    free(list);
}

struct durations_answers {
    struct binary_rows sums, modules, functions, durations;
};

static void durations_answer_names(struct durations_answers *a)
{
    answers_put_module(&a->modules, MODULE);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        char name[] = { 'f', (char)('0' + i), 0 };
        answers_put_function(&a->functions, MODULE, durations_address(i), durations_number(i), name);
    }
}

static struct durations_answers durations_answer_sums(const struct wanted *wanted)
{
    struct durations_answers a = { 0 };
    for (size_t i = 0; i < FUNCTIONS; i++) {
        binary_put(&a.sums, MODULE, 8);
        binary_put(&a.sums, durations_number(i), 8);
        answers_put_own(&a.sums, 1);
        answers_put_inclusive(&a.sums, 1);
        durations_put(&a.durations, i, wanted->list[i], false);
    }
    durations_answer_names(&a);
    return a;
}

/* Callers come before what they call. */
static struct durations_answers durations_answer_paths(const struct wanted *wanted)
{
    struct durations_answers a = { 0 };
    for (size_t i = 0; i < FUNCTIONS; i++) {
        binary_put(&a.sums, 1 + (i > 0), 4);
        binary_put(&a.sums, FLEET_PATH, 1);
        binary_put(&a.sums, 90 + i, 8);
        binary_put(&a.sums, i ? 90 : 0, 8);
        binary_put(&a.sums, MODULE, 8);
        binary_put(&a.sums, durations_address(i), 8);
        answers_put_own(&a.sums, 1);
        durations_put(&a.durations, i, wanted->list[i], true);
    }
    durations_answer_names(&a);
    return a;
}

static void durations_check(const struct analysis *analysis, const struct wanted *wanted)
{
    struct durations **found = percentiles_by_function(analysis->profile);
    size_t checked = 0;
    for (size_t i = 0; i < analysis->profile->function_count; i++) {
        if (!found[i])
            continue;
        durations_expect_same(found[i], wanted->list[wanted_place(analysis->profile->functions[i].offset)]);
        checked++;
    }
    cr_assert(eq(sz, checked, FUNCTIONS));
    percentiles_free_list(found, analysis->profile);
    cr_assert(analysis->durations);
}

static void durations_drop_answers(struct durations_answers *a)
{
    binary_drop(&a->sums);
    binary_drop(&a->modules);
    binary_drop(&a->functions);
    binary_drop(&a->durations);
}

static void durations_ask_sums(const struct wanted *wanted, size_t cut, const char *expected)
{
    struct durations_answers d = durations_answer_sums(wanted);
    struct binary_rows rows[] = { d.sums, d.modules, d.functions, d.durations };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    rows[3].length -= cut;
    answers_start(&a, rows, 4);
    const bool good = fleet_answer_sums(&analysis, &a.store, &durations_run, 1, BY_FUNCTION, true, &error);
    answers_check(good, &error, expected);
    if (good) {
        durations_check(&analysis, wanted);
        cr_assert(analysis.summary.durations_known);
        cr_assert(eq(sz, analysis.summary.remark_count, 0));
        cr_assert(strstr((char *)http_stub_wait(a.stub)[3].body,
                         "SELECT module, function, counter, sum(calls), sum(elapsed) FROM somewhere.durations_2 WHERE "
                         "day >= ") != NULL);
        analysis_drop(&analysis);
    }
    answers_stop(&a);
    durations_drop_answers(&d);
}

static void durations_ask_paths(const struct wanted *wanted)
{
    struct durations_answers d = durations_answer_paths(wanted);
    const struct binary_rows rows[] = { d.modules, d.functions, d.sums, d.durations };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    answers_start(&a, rows, 4);
    answers_check(fleet_answer_paths(&analysis, &a.store, &durations_run, 1,
                                     &(struct analysis_options){ .durations = true }, &error),
                  &error, NULL);
    durations_check(&analysis, wanted);
    analysis_drop(&analysis);
    answers_stop(&a);
    durations_drop_answers(&d);
}

Test(unit_fleet_durations, answers_are_those_of_one_session_and_of_several, .init = durations_begin)
{
    timed_session_save(test_path("recorded"), 7, 1000000000, 0);
    struct wanted wanted = wanted_of(test_path("recorded"), 1000000000);
    durations_ask_sums(&wanted, 0, NULL);
    durations_ask_paths(&wanted);
    durations_ask_sums(&wanted, 1, ANSWER_WRONG);
    timed_session_save(test_path("recorded"), 8, 2400000000, 1);
    struct wanted other = wanted_of(test_path("recorded"), 2400000000);
    for (size_t i = 0; i < FUNCTIONS; i++)
        durations_merge(&wanted.list[i], other.list[i]);
    durations_ask_sums(&wanted, 0, NULL);
    durations_ask_paths(&wanted);
    wanted_drop(&wanted);
    wanted_drop(&other);
}

static void durations_check_row(uint64_t path, uint64_t counter, uint64_t calls, const char *expected)
{
    struct wanted none = { { NULL } };
    struct durations_answers d = durations_answer_paths(&none);
    binary_put(&d.durations, path, 8);
    binary_put(&d.durations, counter, 4);
    binary_put(&d.durations, calls, 8);
    binary_put(&d.durations, 0, 8);
    const struct binary_rows rows[] = { d.modules, d.functions, d.sums, d.durations };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    answers_start(&a, rows, 4);
    const bool good = fleet_answer_paths(&analysis, &a.store, &durations_run, 1,
                                         &(struct analysis_options){ .durations = true }, &error);
    answers_check(good, &error, expected);
    if (good)
        analysis_drop(&analysis);
    answers_stop(&a);
    durations_drop_answers(&d);
}

Test(unit_fleet_durations, answers_that_cannot_be_are_refused, .init = durations_begin)
{
    durations_check_row(90, DWELL_DURATION_COUNTERS - 1, UINT64_MAX, NULL); /* a sum of many rows */
    durations_check_row(90, DWELL_DURATION_COUNTERS, 1, ANSWER_WRONG);
    durations_check_row(90, UINT32_MAX, 1, ANSWER_WRONG);
    durations_check_row(90, 5, 0, ANSWER_WRONG);
    durations_check_row(99, 5, 1, ANSWER_WRONG);
}

/* ---- runs without ---- */

static void durations_check_unknown(const struct fleet_run *runs, size_t count, const char *code, const char *text)
{
    struct wanted none = { { NULL } };
    struct durations_answers d = durations_answer_sums(&none);
    const struct binary_rows rows[] = { d.sums, d.modules, d.functions, d.durations };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    const bool asked = runs[0].knows != 0;
    answers_start(&a, rows, asked ? 4 : 3);
    answers_check(fleet_answer_sums(&analysis, &a.store, runs, count, BY_FUNCTION, true, &error), &error, NULL);
    http_stub_wait(a.stub); /* and no other question */
    cr_assert(not(analysis.summary.durations_known));
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    cr_assert(eq(str, (char *)analysis.summary.remark_codes[0], (char *)code));
    cr_assert(eq(str, analysis.summary.remarks[0], (char *)text));
    struct cell cells[PERCENTILE_COLUMNS] = { { 0 } };
    percentiles_fill(cells, &analysis, NULL);
    for (size_t i = 0; i < PERCENTILE_COLUMNS; i++)
        cr_assert(not(cells[i].known));
    analysis_drop(&analysis);
    answers_stop(&a);
    durations_drop_answers(&d);
}

Test(unit_fleet_durations, of_older_runs_are_unknown, .init = durations_begin)
{
    const struct fleet_run both[] = { durations_run, older_run };
    durations_check_unknown(&older_run, 1, "percentiles-need-calls",
                            "percentiles are unknown: the runs were pushed without durations of calls, by an older "
                            "dwell, to an older store, or in mode profile");
    durations_check_unknown(both, 2, "percentiles-of-some",
                            "percentiles are those of 1 of the 2 runs: the others were pushed without durations of "
                            "calls");
}

/* A store that lacks the table keeps all that it has, and is asked as before. */
Test(unit_fleet_durations, a_store_of_version_1_is_opened, .init = durations_begin)
{
    for (uint32_t version = 1; version <= 3; version++) {
        struct binary_rows rows = { 0 };
        struct answers a;
        struct error error = { NULL };
        binary_put(&rows, version, 4);
        binary_put(&rows, 0, 1);
        answers_start(&a, &rows, 1);
        answers_check(fleet_check_version(&a.store, &error), &error, version < 3 ? NULL : "use a newer dwell");
        answers_stop(&a);
        binary_drop(&rows);
    }
}
