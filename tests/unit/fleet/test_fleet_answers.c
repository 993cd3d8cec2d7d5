/* Answers of a server that is broken or hostile: each is refused as a whole. A prepared server gives them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fleet/ids.h"
#include "profile/durations.h"
#include "support/store_answers.h"

static void answers_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

TestSuite(unit_fleet_answers, .init = answers_begin, .timeout = 300);

enum { MODULE = 5, FUNCTION = 71, RUN = 11 };

/* ---- runs ---- */

static void answers_put_texts(struct binary_rows *rows, size_t count)
{
    binary_put_length(rows, count);
    for (size_t i = 0; i < count; i++)
        binary_put_text(rows, "text");
}

static struct binary_rows answers_run(size_t keys, size_t values, uint32_t losses)
{
    struct binary_rows rows = { 0 };
    binary_put(&rows, 20000, 2);
    binary_put(&rows, RUN, 8);
    binary_put(&rows, 1728000000, 4);
    for (int i = 0; i < 3; i++)
        binary_put_text(&rows, "name");
    answers_put_texts(&rows, 1); /* builds */
    answers_put_texts(&rows, keys);
    answers_put_texts(&rows, values);
    binary_put_length(&rows, 1);
    binary_put(&rows, 7, 8); /* the part */
    for (int i = 0; i < 9; i++)
        binary_put(&rows, 1, 8);
    binary_put(&rows, 7, 4);
    binary_put(&rows, losses, 4);
    answers_put_texts(&rows, 1); /* remarks */
    return rows;
}

static void answers_check_runs(const struct binary_rows *rows, const char *expected)
{
    static const struct fleet_conditions all;
    struct answers a;
    struct fleet_runs runs;
    struct error error = { NULL };
    answers_start(&a, rows, 1);
    const bool good = fleet_runs_find(&a.store, &all, &runs, &error);
    answers_check(good, &error, expected);
    cr_assert(eq(sz, runs.count, good));
    fleet_runs_drop(&runs);
    answers_stop(&a);
}

Test(unit_fleet_answers, a_run_must_have_a_value_for_each_label_and_a_remark_for_each_loss)
{
    const struct {
        size_t keys, values;
        uint32_t losses;
        const char *expected;
    } cases[] = { { 3, 3, 1, NULL },
                  { 3, 0, 1, ANSWER_WRONG },
                  { 3, 2, 1, ANSWER_WRONG },
                  { 2, 3, 1, ANSWER_WRONG },
                  { 3, 3, 2, ANSWER_WRONG } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_rows rows = answers_run(cases[i].keys, cases[i].values, cases[i].losses);
        answers_check_runs(&rows, cases[i].expected);
        binary_drop(&rows);
    }
}

Test(unit_fleet_answers, a_run_that_ends_early_is_refused)
{
    const struct binary_rows rows = answers_run(2, 2, 0);
    for (size_t length = 1; length < rows.length; length++)
        answers_check_runs(&(struct binary_rows){ .bytes = rows.bytes, .length = length }, ANSWER_WRONG);
    free(rows.bytes);
}

/* ---- sums ---- */

static struct binary_rows answers_modules(void)
{
    struct binary_rows rows = { 0 };
    answers_put_module(&rows, MODULE);
    return rows;
}

static struct binary_rows answers_functions(void)
{
    struct binary_rows rows = { 0 };
    answers_put_function(&rows, MODULE, 0x1000, FUNCTION, "main");
    return rows;
}

static struct binary_rows answers_part(uint64_t key)
{
    const uint64_t numbers[] = { MODULE, FUNCTION, key, 3, 40, 10, 20 };
    struct binary_rows rows = { 0 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        binary_put(&rows, numbers[i], 8);
    return rows;
}

static void answers_count_part(void *context, const struct fleet_part *part)
{
    cr_assert(eq(u64, part->time, 40));
    cr_assert(eq(u64, part->least, 10));
    cr_assert(eq(u64, part->most, 20));
    ++*(size_t *)context;
}

static const uint64_t part_of_run = 7;
static const struct fleet_run one_run = {
    .day = 20000, .run = RUN, .file = (char *)"file", .parts = (uint64_t *)&part_of_run, .part_count = 1
};

static void answers_check_part(enum fleet_key key, uint64_t number, const char *expected)
{
    struct binary_rows rows[] = { answers_part(number), answers_modules(), answers_functions() };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    size_t taken = 0;
    answers_start(&a, rows, 3);
    const bool good = fleet_answer_parts(&analysis, &a.store, &one_run, 1, &(struct fleet_wanted){ .key = key },
                                         answers_count_part, &taken, &error);
    answers_check(good, &error, expected);
    cr_assert(eq(sz, taken, good));
    if (good)
        analysis_drop(&analysis);
    answers_stop(&a);
    answers_drop_rows(rows, 3);
}

Test(unit_fleet_answers, parts_are_of_runs_that_were_asked_for_and_of_days_that_exist)
{
    answers_check_part(FLEET_BY_RUN, RUN, NULL);
    answers_check_part(FLEET_BY_RUN, RUN + 1, ANSWER_WRONG);
    answers_check_part(FLEET_BY_DAY, UINT16_MAX, NULL);
    answers_check_part(FLEET_BY_DAY, UINT16_MAX + 1, ANSWER_WRONG);
    answers_check_part(FLEET_BY_DAY, UINT64_MAX / 2, ANSWER_WRONG);
}

static void answers_check_run_times(const uint64_t *numbers, size_t count, const char *expected)
{
    static const struct fleet_run runs[] = { { .run = RUN }, { .run = RUN + 1 }, { .run = RUN + 2 } };
    struct binary_rows rows = { 0 };
    struct answers a;
    struct error error = { NULL };
    uint64_t times[] = { 1, 1, 1 };
    for (size_t i = 0; i < count; i++)
        binary_put(&rows, numbers[i], 8);
    answers_start(&a, &rows, 1);
    answers_check(fleet_answer_run_times(&a.store, runs, 3, FLEET_BLOCKED, times, &error), &error, expected);
    if (!expected) {
        cr_assert(eq(u64, times[0], 40));
        cr_assert(eq(u64, times[1], 0));
        cr_assert(eq(u64, times[2], 50));
        cr_assert(eq(str, (char *)http_stub_wait(a.stub)[0].body,
                     "SELECT run, toUInt64(sum(blocked)) FROM somewhere.sums_1 WHERE day >= toDate(0) AND day <= "
                     "toDate(0) AND part IN (0) AND module != 0 GROUP BY run FORMAT RowBinary"));
    }
    answers_stop(&a);
    binary_drop(&rows);
}

Test(unit_fleet_answers, each_run_has_its_time)
{
    const uint64_t numbers[] = { RUN + 2, 50, RUN, 40 }, stranger[] = { RUN, 40, RUN + 3, 50 };
    answers_check_run_times(numbers, 4, NULL);
    answers_check_run_times(numbers, 3, ANSWER_WRONG);
    answers_check_run_times(stranger, 4, ANSWER_WRONG);
}

/* The share is that of a row, of which a run has as many as parts. No time is divided by zero. */
Test(unit_fleet_answers, the_server_leaves_out_functions_with_small_shares)
{
    static const uint64_t parts[] = { 7, 8, 9 }, times[] = { 400, 0 };
    static const struct fleet_run runs[] = {
        { .day = 20000, .run = RUN, .file = (char *)"file", .parts = (uint64_t *)parts, .part_count = 1 },
        { .day = 20000, .run = 12, .file = (char *)"file", .parts = (uint64_t *)parts, .part_count = 3 },
    };
    struct binary_rows rows[] = { answers_part(RUN), answers_modules(), answers_functions() };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    size_t taken = 0;
    answers_start(&a, rows, 3);
    const struct fleet_wanted wanted = { .key = FLEET_BY_RUN,
                                         .time = FLEET_BLOCKED,
                                         .builds_apart = true,
                                         .large = &(struct fleet_large){ .run_times = times, .thousandths = 9 } };
    cr_assert(fleet_answer_parts(&analysis, &a.store, runs, 2, &wanted, answers_count_part, &taken, &error));
    cr_assert(eq(sz, taken, 1));
    const bool asked =
        strstr((char *)http_stub_wait(a.stub)[0].body,
               "AND function GLOBAL IN (SELECT function FROM somewhere.sums_1 WHERE day >= toDate(20000) AND day "
               "<= toDate(20000) AND part IN (7,7,8,9) AND module != 0 GROUP BY function HAVING max((blocked) / "
               "transform(run, [11,12], [400,1], 1)) * 3000 >= 9) AND module != 0 GROUP BY") != NULL;
    cr_assert(asked);
    analysis_drop(&analysis);
    answers_stop(&a);
    answers_drop_rows(rows, 3);
}

/* One build's share may be small where another's is large. */
Test(unit_fleet_answers, the_server_looks_for_all_builds_of_a_large_function)
{
    static const uint64_t times[] = { 400 };
    struct binary_rows rows[] = { answers_part(RUN), answers_modules(), answers_functions() };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    size_t taken = 0;
    const struct fleet_wanted wanted = { .large = &(struct fleet_large){ .run_times = times, .thousandths = 9 } };
    answers_start(&a, rows, 3);
    cr_assert(fleet_answer_parts(&analysis, &a.store, &one_run, 1, &wanted, answers_count_part, &taken, &error));
    const char *asked = (char *)http_stub_wait(a.stub)[0].body;
    cr_assert(strstr(asked, "(function GLOBAL IN (SELECT function FROM somewhere.functions_1 WHERE name GLOBAL IN "
                            "(SELECT name FROM somewhere.functions_1 WHERE function GLOBAL IN (SELECT function FROM "
                            "somewhere.sums_1 WHERE ") != NULL,
              "%s", asked);
    cr_assert(strstr(asked, "GROUP BY module, name HAVING length(numbers) > 1)))") != NULL, "%s", asked);
    analysis_drop(&analysis);
    answers_stop(&a);
    answers_drop_rows(rows, 3);
}

struct answers_order {
    const struct analysis *analysis;
    char text[300];
};

static void answers_note_part(void *context, const struct fleet_part *part)
{
    struct answers_order *o = context;
    const size_t length = strlen(o->text);
    snprintf(o->text + length, sizeof o->text - length, "%s %u %llu;", o->analysis->names[part->function].name,
             (unsigned)part->function, (unsigned long long)part->time);
}

static void answers_note_durations(void *context, uint64_t key, uint32_t function, const struct durations *d)
{
    struct answers_order *o = context;
    const double percents[] = { 50, 100 };
    uint64_t ns[2];
    const size_t length = strlen(o->text);
    durations_percentiles(d, percents, ns, 2);
    snprintf(o->text + length, sizeof o->text - length, " %u of %s %u in %u: %llu %llu;", (unsigned)durations_calls(d),
             o->analysis->names[function].name, (unsigned)function, (unsigned)key, (unsigned long long)ns[0],
             (unsigned long long)ns[1]);
}

static void answers_put_counter(struct binary_rows *rows, uint64_t module, uint64_t function, uint64_t run, uint64_t ns,
                                uint64_t calls)
{
    binary_put(rows, module, 8);
    binary_put(rows, function, 8);
    binary_put(rows, run, 8);
    binary_put(rows, durations_counter(ns), 4);
    binary_put(rows, calls, 8);
    binary_put(rows, 0, 8);
}

/* Two builds of shop with main and help, and two functions of the name help in the first one. */
static void answers_check_builds(bool apart, bool durations, const char *expected)
{
    enum { COLUMNS = 7 };
    static const uint64_t parts[][COLUMNS] = { { 5, 71, RUN, 1, 10 }, { 5, 72, RUN, 1, 20 }, { 5, 73, RUN, 1, 30 },
                                               { 6, 81, RUN, 1, 40 }, { 6, 82, RUN, 1, 50 }, { 6, 82, RUN, 1, 60 } };
    struct binary_rows rows[4] = { { 0 } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            binary_put(&rows[0], parts[i][j], 8);
    answers_put_module(&rows[1], 5);
    answers_put_module(&rows[1], 6);
    answers_put_function(&rows[2], 5, 0x1000, 71, "help");
    answers_put_function(&rows[2], 5, 0x2000, 72, "main");
    answers_put_function(&rows[2], 5, 0x3000, 73, "help");
    answers_put_function(&rows[2], 6, 0x1100, 81, "help");
    answers_put_function(&rows[2], 6, 0x4000, 82, "main");
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    answers_put_counter(&rows[3], 5, 73, RUN, 5, 1);
    answers_put_counter(&rows[3], 5, 73, RUN, 9, 2);
    answers_put_counter(&rows[3], 6, 82, RUN, 50, 4);
    struct answers_order order = { &analysis, "" };
    struct fleet_run run = one_run;
    run.knows = FLEET_KNOWS_DURATIONS;
    answers_start(&a, rows, durations ? 4 : 3);
    const struct fleet_wanted wanted = { .builds_apart = apart,
                                         .durations = durations ? answers_note_durations : NULL };
    cr_assert(fleet_answer_parts(&analysis, &a.store, &run, 1, &wanted, answers_note_part, &order, &error));
    cr_assert(eq(str, order.text, (char *)expected));
    analysis_drop(&analysis);
    answers_stop(&a);
    answers_drop_rows(rows, 4);
}

Test(unit_fleet_answers, builds_of_a_function_come_together)
{
    answers_check_builds(false, false, "help 0 10;help 0 30;help 0 40;main 1 20;main 1 50;main 1 60;");
    answers_check_builds(true, false, "help 0 10;main 1 20;help 2 30;help 3 40;main 4 50;main 4 60;");
}

/* Durations come last, by the number of the function that stands for all builds. */
Test(unit_fleet_answers, durations_of_a_function_are_those_of_its_builds)
{
    answers_check_builds(false, true,
                         "help 0 10;help 0 30;help 0 40;main 1 20;main 1 50;main 1 60;"
                         " 3 of help 0 in 11: 9 9; 4 of main 1 in 11: 50 50;");
    answers_check_builds(true, true,
                         "help 0 10;main 1 20;help 2 30;help 3 40;main 4 50;main 4 60;"
                         " 3 of help 2 in 11: 9 9; 4 of main 4 in 11: 50 50;");
}

/* A counter of another run, one that does not exist, and an answer that ends early. */
Test(unit_fleet_answers, durations_are_of_runs_that_were_asked_for)
{
    const struct {
        uint64_t run, counter;
        size_t cut;
        const char *expected;
    } cases[] = { { RUN, 9, 0, NULL },
                  { RUN + 1, 9, 0, ANSWER_WRONG },
                  { RUN, UINT32_MAX, 0, ANSWER_WRONG },
                  { RUN, 9, 1, ANSWER_WRONG } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_rows rows[] = { answers_part(RUN), answers_modules(), answers_functions(), { 0 } };
        const uint64_t numbers[] = { MODULE, FUNCTION, cases[i].run };
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            binary_put(&rows[3], numbers[j], 8);
        binary_put(&rows[3], cases[i].counter, 4);
        binary_put(&rows[3], 2, 8);
        binary_put(&rows[3], 0, 8);
        rows[3].length -= cases[i].cut;
        struct answers a;
        struct analysis analysis;
        struct error error = { NULL };
        struct answers_order order = { &analysis, "" };
        struct fleet_run run = one_run;
        run.knows = FLEET_KNOWS_DURATIONS;
        answers_start(&a, rows, 4);
        const struct fleet_wanted wanted = { .durations = answers_note_durations };
        const bool good = fleet_answer_parts(&analysis, &a.store, &run, 1, &wanted, answers_note_part, &order, &error);
        answers_check(good, &error, cases[i].expected);
        if (good)
            analysis_drop(&analysis);
        answers_stop(&a);
        answers_drop_rows(rows, 4);
    }
}

static void answers_put_numbers(struct binary_rows *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        binary_put(rows, 1, 8);
}

static struct binary_rows answers_sums(double squares)
{
    struct binary_rows rows = { 0 };
    binary_put(&rows, MODULE, 8);
    binary_put(&rows, FUNCTION, 8);
    answers_put_numbers(&rows, OWN_NUMBERS);
    binary_put_double(&rows, squares);
    answers_put_numbers(&rows, INCLUSIVE_NUMBERS);
    binary_put_double(&rows, squares);
    return rows;
}

/* Squares of errors can be any real number in an answer. */
Test(unit_fleet_answers, errors_are_numbers)
{
    const struct {
        double squares, error;
    } cases[] = { { 9, 3 }, { -9, 0 }, { NAN, 0 }, { 1e300, 1e18 }, { INFINITY, 1e18 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_rows rows[] = { answers_sums(cases[i].squares), answers_modules(), answers_functions() };
        struct answers a;
        struct analysis analysis;
        struct error error = { NULL };
        answers_start(&a, rows, 3);
        answers_check(fleet_answer_sums(&analysis, &a.store, &one_run, 1, BY_FUNCTION, false, &error), &error, NULL);
        cr_assert(eq(sz, analysis.profile->reported_count, 1));
        const struct times *times = &analysis.profile->reported[0].times;
        cr_assert(eq(dbl, times->error_squares_exclusive, cases[i].error * cases[i].error), "%zu", i);
        cr_assert(eq(dbl, times->error_squares_inclusive, cases[i].error * cases[i].error), "%zu", i);
        cr_assert(eq(str, analysis.names[analysis.profile->reported[0].function].name, "main"));
        analysis_drop(&analysis);
        answers_stop(&a);
        answers_drop_rows(rows, 3);
    }
}

/* ---- call paths ---- */

static struct binary_rows answers_path(uint8_t kind, uint64_t parent)
{
    struct binary_rows rows = { 0 };
    binary_put(&rows, 1, 4);
    binary_put(&rows, kind, 1);
    binary_put(&rows, 81, 8);
    binary_put(&rows, parent, 8);
    binary_put(&rows, MODULE, 8);
    binary_put(&rows, 0x1000, 8);
    answers_put_own(&rows, 1);
    return rows;
}

static void answers_check_path(uint8_t kind, uint64_t parent, size_t cut, const char *expected)
{
    struct binary_rows rows[] = { answers_modules(), answers_functions(), answers_path(kind, parent) };
    struct answers a;
    struct analysis analysis;
    struct error error = { NULL };
    rows[2].length -= cut;
    answers_start(&a, rows, 3);
    const bool good = fleet_answer_paths(&analysis, &a.store, &one_run, 1, &(struct analysis_options){ 0 }, &error);
    answers_check(good, &error, expected);
    if (good)
        analysis_drop(&analysis);
    answers_stop(&a);
    answers_drop_rows(rows, 3);
}

Test(unit_fleet_answers, paths_have_known_kinds_and_callers)
{
    answers_check_path(FLEET_PATH, FLEET_NO_ID, 0, NULL);
    answers_check_path(FLEET_THREAD, FLEET_NO_ID, 0, NULL);
    answers_check_path(FLEET_THREAD + 1, FLEET_NO_ID, 0, ANSWER_WRONG);
    answers_check_path(FLEET_PATH, 81, 0, "lacks the caller of a path"); /* its own */
    answers_check_path(FLEET_PATH, 82, 0, "lacks the caller of a path");
    answers_check_path(FLEET_PATH, 82, 1, ANSWER_WRONG);
}

/* ---- tables ---- */

static struct binary_rows answers_version(uint32_t version, uint8_t readonly)
{
    struct binary_rows rows = { 0 };
    binary_put(&rows, version, 4);
    binary_put(&rows, readonly, 1);
    return rows;
}

Test(unit_fleet_answers, half_a_version_is_none)
{
    const struct {
        uint32_t version;
        unsigned size;
        const char *expected;
    } cases[] = { { FLEET_VERSION, 5, NULL },
                  { 0, 5, "has no profiles" },
                  { FLEET_VERSION + 1, 5, "use a newer dwell" },
                  { FLEET_VERSION, 0, ANSWER_WRONG },
                  { FLEET_VERSION, 3, ANSWER_WRONG },
                  { FLEET_VERSION, 4, ANSWER_WRONG } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_rows rows = answers_version(cases[i].version, 0);
        rows.length = cases[i].size;
        struct answers a;
        struct error error = { NULL };
        answers_start(&a, &rows, 1);
        answers_check(fleet_check_version(&a.store, &error), &error, cases[i].expected);
        answers_stop(&a);
        binary_drop(&rows);
    }
}

static void answers_check_settings(uint8_t readonly, const char *settings)
{
    struct binary_rows rows[] = { answers_version(FLEET_VERSION, readonly), answers_version(0, 0) };
    struct answers a;
    struct error error = { NULL };
    answers_start(&a, rows, 2);
    cr_assert(fleet_check_version(&a.store, &error));
    fclose(fleet_ask(&a.store, &error, "SELECT 1"));
    const struct stub_request *requests = http_stub_wait(a.stub);
    cr_assert(eq(int, strncmp(requests[0].head, "POST /?wait_end_of_query=1 ", 27), 0), "%s", requests[0].head);
    char *expected = need_text("POST /?wait_end_of_query=1%s ", settings);
    cr_assert(eq(int, strncmp(requests[1].head, expected, strlen(expected)), 0), "%s", requests[1].head);
    free(expected);
    answers_stop(&a);
    answers_drop_rows(rows, 2);
}

/* A user of ClickHouse's profile readonly may not even set what limits him more. */
Test(unit_fleet_answers, who_may_only_read_sends_no_settings)
{
    answers_check_settings(0, "&max_query_size=1000000000&enable_http_compression=1&readonly=2");
    answers_check_settings(1, "");
}

static void answers_check_expire(const char *table, const char *day, size_t cut, const char *expected)
{
    struct binary_rows rows[2] = { { 0 } };
    struct answers a;
    struct error error = { NULL };
    unsigned days;
    binary_put_text(&rows[0], table);
    binary_put_text(&rows[0], day);
    rows[0].length -= cut;
    answers_start(&a, rows, expected ? 1 : 2);
    const bool good = fleet_expire(&a.store, 20000, false, &days, &error);
    answers_check(good, &error, expected);
    cr_assert(eq(uint, days, good));
    if (good)
        cr_assert(eq(str, (char *)http_stub_wait(a.stub)[1].body,
                     "ALTER TABLE somewhere.runs_1_shard DROP PARTITION '2024-10-03'"));
    answers_stop(&a);
    binary_drop(&rows[0]);
}

Test(unit_fleet_answers, only_days_of_the_tables_are_dropped)
{
    answers_check_expire("runs_1_shard", "2024-10-03", 0, NULL);
    answers_check_expire("runs_1_shard", "2024-10-03", 1, ANSWER_WRONG);
    answers_check_expire("runs_2", "2024-10-03", 0, ANSWER_WRONG);
    answers_check_expire("runs_1, other", "2024-10-03", 0, ANSWER_WRONG);
    answers_check_expire("runs_1", "2024-10-03' OR '1", 0, ANSWER_WRONG);
    answers_check_expire("runs_1", "", 0, ANSWER_WRONG);
}

/* ---- lengths ---- */

Test(unit_fleet_answers, a_length_ends, .init = NULL)
{
    const struct {
        uint8_t bytes[6];
        size_t count, length;
        bool broken;
    } cases[] = {
        { { 0x05 }, 1, 5, false },
        { { 0x80, 0x80, 0x80, 0x80, 0x04 }, 5, 1 << 30, false },
        { { 0x81, 0x80, 0x80, 0x80, 0x04 }, 5, 0, true },
        { { 0x80, 0x80, 0x80, 0x80, 0x80, 0 }, 6, 0, true },
        { { 0x80, 0x80 }, 2, 0, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binary_reader r = { .in = fmemopen((void *)cases[i].bytes, cases[i].count, "r") };
        cr_assert(eq(sz, binary_get_length(&r), cases[i].length), "case %zu", i);
        cr_assert(eq(int, r.broken, cases[i].broken), "case %zu", i);
        fclose(r.in);
    }
}
