/* Logs as rows: units, several resolutions, order, pairs and macros, and comparisons of two logs. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perflog/perflog_compare.h"
#include "report/plot.h"
#include "support/perflog.h"

TestSuite(unit_perflog_views, .init = log_quietly, .timeout = 300);

static const struct perflog_choice by_total = { "total", 0, false };

Test(unit_perflog_views, ticks_become_nanoseconds_once)
{
    /* Three times a third of a second. The sum is a second; rounding loses no nanosecond. */
    struct perflog *log = log_of(
        "## PERF ## REGISTERED APP [a] PROCESSID [1]\n## PERF ## RESOLUTION [3] TICKS PER SECOND\n" LOG_DURATION(1, 1)
            LOG_DURATION(1, 1) LOG_DURATION(1, 1) LOG_DURATION(2, 1) LOG_DURATION(2, 1));
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, rows.list[0].total, 1000000000));
    cr_assert(eq(u64, rows.list[0].mean, 333333333));
    cr_assert(eq(u64, rows.list[1].total, 666666667));
    cr_assert(eq(u64, rows.list[1].least, 333333333));
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog_views, the_same_marker_in_runs_of_other_resolutions)
{
    struct perflog *log = log_of(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 1) LOG_DURATION(
        1,
        3) "## PERF ## REGISTERED APP [a] PROCESSID [2]\n## PERF ## RESOLUTION [500] TICKS PER SECOND\n" LOG_MARKER("m",
                                                                                                                    2)
                                     LOG_DURATION(2, 1) LOG_DURATION(2, 5));
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, 1));
    const struct perflog_row *row = &rows.list[0]; /* 1, 3, 2 and 10 ms */
    cr_assert(eq(u32, row->id, 1));
    cr_assert(eq(u64, row->count, 4));
    cr_assert(eq(u64, row->total, 16000000));
    cr_assert(eq(u64, row->least, 1000000));
    cr_assert(eq(u64, row->mean, 4000000));
    cr_assert(eq(u64, row->greatest, 10000000));
    cr_assert(eq(u64, row->median, 2000000));
    cr_assert(eq(u64, row->p90, 10000000));
    cr_assert(eq(u64, row->deviation, 3535534)); /* (9 + 1 + 4 + 36) / 4 = 12.5 */
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog_views, sums_beyond_64_bits_are_the_largest_value)
{
    struct perflog *log =
        log_of(LOG_HEADER LOG_DURATION(1, 18446744073709551615) LOG_DURATION(1, 18446744073709551615));
    struct rows rows = rows_of(log, false);
    cr_assert(eq(u64, rows.list[0].total, UINT64_MAX));
    cr_assert(eq(u64, rows.list[0].mean, UINT64_MAX));
    cr_assert(eq(u64, rows.list[0].deviation, 0));
    free(rows.list);
    perflog_free(log);
}

/* ---- the order ---- */

/* The ids in the order of that key. */
static void expect_ids(const struct perflog *log, const char *key, const char *wanted)
{
    char order[64] = "";
    struct rows rows = rows_of(log, false);
    perflog_sort(rows.list, rows.count, key);
    for (size_t i = 0; i < rows.count; i++)
        snprintf(order + strlen(order), sizeof order - strlen(order), "%u", rows.list[i].id);
    cr_assert(eq(str, order, (char *)wanted), "%s", key);
    free(rows.list);
}

Test(unit_perflog_views, sorted_by_each_key)
{
    struct perflog *log = log_of(LOG_HEADER LOG_MARKER("z", 1) LOG_MARKER("x", 2) LOG_MARKER("y", 3) LOG_MARKER("w", 4)
                                     LOG_DURATION(1, 10) LOG_DURATION(2, 4) LOG_DURATION(2, 8) LOG_DURATION(3, 1)
                                         LOG_DURATION(3, 1) LOG_DURATION(3, 20));
    expect_ids(log, "total", "3214"); /* 22, 12, 10, 0 */
    expect_ids(log, "count", "3214");
    expect_ids(log, "min", "1234");
    expect_ids(log, "mean", "1324");
    expect_ids(log, "max", "3124");
    expect_ids(log, "median", "1234");
    expect_ids(log, "p90", "3124");
    expect_ids(log, "p99", "3124");
    expect_ids(log, "stddev", "3241");
    expect_ids(log, "name", "4231");
    expect_ids(log, "order", "1234");
    perflog_free(log);
}

Test(unit_perflog_views, keys_of_the_order)
{
    char keys[256];
    strcpy(keys, perflog_sort_keys);
    for (char *key = strtok(keys, ", "); key; key = strtok(NULL, ", "))
        cr_assert(perflog_can_sort(key), "%s", key);
    strcpy(keys, perflog_diff_sort_keys);
    for (char *key = strtok(keys, ", "); key; key = strtok(NULL, ", "))
        cr_assert(perflog_diff_can_sort(key), "%s", key);
    cr_assert(not(perflog_can_sort("size")));
    cr_assert(not(perflog_diff_can_sort("order")));
}

/* ---- pairs ---- */

static const struct {
    const char *marker, *key, *value;
} pairs[] = {
    { "Test=MyTest", "Test", "MyTest" },
    { "Test=MyTest", "test", NULL },
    { "a=1,b=2", "b", "2" },
    { "a=1, b = 2 ", "b", " 2 " },
    { "a=1,a=2", "a", "1" },
    { "a=", "a", "" },
    { "=a", "", NULL },
    { " =a", "", NULL },
    { "a==b", "a", NULL },
    { "a=b=c", "a", "b=c" },
    { "a b_c#d.e-f=1", "a b_c#d.e-f", "1" },
    { "no pair,a=1", "a", "1" },
    { "std::x::operator=(int)", "operator", NULL },
    { "operator=(int)", "operator", NULL },
    { "bool operator-=(int)", "bool operator-", NULL },
    { "operators=2", "operators", "2" },
    { "x(int)=1", "x(int)", NULL },
    { "t=%AVG%", "t", "0.002000000" },
    { "t=%avg%", "t", "0.002000000" },
    { "t=%MIN%", "t", "0.001000000" },
    { "t=%MAX%", "t", "0.003000000" },
    { "t=%MAX% s", "t", "0.003000000 s" },
    { "t=1/%AVG%", "t", "500" },
    { "t= 8 * 3 / %MAX% ", "t", "8000" },
    { "n=4096,t=%n%/%AVG%", "t", "2048000" },
    { "n=4096,t=%n%/%m%", "t", "4096/%m%" },
    { "t=%AVG%/0", "t", NULL },
    { "t=0/%z%,z=0", "t", NULL },
    { "t=%AVG%/", "t", "0.002000000/" },
    { "t=-%AVG%/2", "t", "-0.002000000/2" },
    { "t=1/2", "t", "1/2" },
    { "t=100%", "t", "100%" },
    { "t=50%%", "t", "50%%" },
    { "t=%%AVG%", "t", "%0.002000000" },
    { "a=%b%,b=%c%,c=7", "a", "7" },
    { "a=%b%,b=%a%", "a", "%b%" },
    { "a=%a%", "a", "%a%" },
    { "a=1e5,t=%a%*2", "t", "1e5*2" },
};

static char *row_text(const char *marker, const char *key, const char *durations)
{
    char text[2048];
    snprintf(text, sizeof text, LOG_HEADER "## PERF ## REGISTERED MARKER [%s] AS [1] BY APP [a]\n%s", marker,
             durations);
    struct perflog *log = log_of(text);
    struct rows rows = rows_of(log, false);
    char *value = perflog_pair_value(row_of(&rows, "a", marker), key);
    free(rows.list);
    perflog_free(log);
    return value;
}

Test(unit_perflog_views, pairs_and_macros)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *value = row_text(pairs[i].marker, pairs[i].key, LOG_DURATION(1, 1) LOG_DURATION(1, 3));
        cr_assert(eq(str, value ? value : "(none)", (char *)(pairs[i].value ? pairs[i].value : "(none)")), "%s in %s",
                  pairs[i].key, pairs[i].marker);
        free(value);
    }
}

Test(unit_perflog_views, macros_of_a_marker_without_durations)
{
    cr_assert(row_text("t=%AVG%", "t", "") == NULL);
    char *value = row_text("t=%n%,n=5", "t", "");
    cr_assert(eq(str, value, "5"));
    free(value);
}

/* Macros that would double the text again and again stay unexpanded. */
Test(unit_perflog_views, macro_expansion_is_bounded)
{
    char *value =
        row_text("a=%b%%b%%b%%b%,b=%c%%c%%c%%c%,c=%d%%d%%d%%d%,d=%e%%e%%e%%e%,e=%f%%f%%f%%f%,f=%g%%g%%g%%g%,g=12345678",
                 "a", LOG_DURATION(1, 1));
    cr_assert(eq(str, value, "%b%%b%%b%%b%"));
    free(value);
}

/* ---- two logs ---- */

static char *diff_logs(const char *first_text, const char *second_text, const char *sort)
{
    char *text = NULL;
    size_t length;
    struct perflog *first = log_of(first_text), *second = log_of(second_text);
    const struct perflog_choice choice = { sort, 0, false };
    struct perflog_comparison c = perflog_compare(&first, 1, &second, 1);
    struct table t = view_perflog_diff(&c, &choice);
    FILE *out = open_memstream(&text, &length);
    table_print_csv(&t, out);
    fclose(out);
    table_drop(&t);
    perflog_comparison_drop(&c);
    perflog_free(first);
    perflog_free(second);
    char *rows = strdup(strstr(text, "\r\n") + 2);
    free(text);
    return rows;
}

static void expect_diff(const char *first, const char *second, const char *sort, const char *wanted)
{
    char *rows = diff_logs(first, second, sort);
    cr_assert(eq(str, rows, (char *)wanted));
    free(rows);
}

static const char before[] = LOG_HEADER LOG_MARKER("less", 1) LOG_MARKER("gone", 2) LOG_MARKER("same", 3)
    LOG_MARKER("never", 4) LOG_DURATION(1, 30) LOG_DURATION(1, 50) LOG_DURATION(2, 7) LOG_DURATION(3, 9);
static const char after[] =
    LOG_HEADER LOG_MARKER("same", 1) LOG_MARKER("less", 2) LOG_MARKER("new", 3) LOG_MARKER("never", 4)
        LOG_DURATION(1, 9) LOG_DURATION(2, 20) LOG_DURATION(3, 8) LOG_DURATION(3, 1) LOG_DURATION(4, 1);

Test(unit_perflog_views, two_logs_compared)
{
    expect_diff(before, after, "total",
                "a,less,both,2,1,40000000,20000000,-20000000,-50.0000,80000000,20000000,-60000000,-75.0000,,,,\r\n"
                "a,new,second,,2,,4500000,,,,9000000,9000000,,,,,\r\n"
                "a,gone,first,1,,7000000,,,,7000000,,-7000000,-100.0000,,,,\r\n"
                "a,never,both,0,1,,1000000,,,0,1000000,1000000,,,,,\r\n"
                "a,same,both,1,1,9000000,9000000,0,0.0000,9000000,9000000,0,0.0000,,,,\r\n");
}

Test(unit_perflog_views, two_logs_compared_in_reverse)
{
    expect_diff(after, before, "name",
                "a,gone,second,,1,,7000000,,,,7000000,7000000,,,,,\r\n"
                "a,less,both,1,2,20000000,40000000,20000000,100.0000,20000000,80000000,60000000,300.0000,,,,\r\n"
                "a,never,both,1,0,1000000,,,,1000000,0,-1000000,-100.0000,,,,\r\n"
                "a,new,first,2,,4500000,,,,9000000,,-9000000,-100.0000,,,,\r\n"
                "a,same,both,1,1,9000000,9000000,0,0.0000,9000000,9000000,0,0.0000,,,,\r\n");
}

Test(unit_perflog_views, a_log_compared_with_itself)
{
    char *rows = diff_logs(before, before, "mean");
    cr_assert(strstr(rows, "first,") == NULL && strstr(rows, "second,") == NULL);
    cr_assert(strstr(rows, "a,less,both,2,2,40000000,40000000,0,0.0000,80000000,80000000,0,0.0000,,,,\r\n") != NULL);
    free(rows);
}

Test(unit_perflog_views, ids_without_a_string_are_compared_by_id)
{
    expect_diff(LOG_HEADER LOG_DURATION(1, 1) LOG_DURATION(2, 2), LOG_HEADER LOG_DURATION(2, 3) LOG_DURATION(3, 3),
                "name",
                "a,,first,1,,1000000,,,,1000000,,-1000000,-100.0000,,,,\r\n"
                "a,,both,1,1,2000000,3000000,1000000,50.0000,2000000,3000000,1000000,50.0000,,,,\r\n"
                "a,,second,,1,,3000000,,,,3000000,3000000,,,,,\r\n");
}

Test(unit_perflog_views, logs_of_one_application_each_are_compared_whatever_its_name)
{
    static const char other[] =
        "## PERF ## REGISTERED APP [b] PROCESSID [1]\n## PERF ## RESOLUTION [1000] TICKS PER SECOND\n"
        "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [b]\n## PERF ## APP [b] EVT [1] DUR [3]\n";
    static const char both[] = "## PERF ## APP [a] EVT [1] DUR [5]\n";
    char several[1024];
    expect_diff(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 2), other, "name",
                "a,m,both,1,1,2000000,3000000,1000000,50.0000,2000000,3000000,1000000,50.0000,,,,\r\n");
    snprintf(several, sizeof several, "%s%s", other, both);
    expect_diff(LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 2), several, "name",
                "a,,second,,1,,5000000,,,,5000000,5000000,,,,,\r\n"
                "a,m,first,1,,2000000,,,,2000000,,-2000000,-100.0000,,,,\r\n"
                "b,m,second,,1,,3000000,,,,3000000,3000000,,,,,\r\n");
}

/* ---- several logs a side ---- */

enum { SIDE_LOGS = 3 };

static struct perflog_comparison compare_sides(struct perflog *logs[2][SIDE_LOGS],
                                               const char *const texts[2][SIDE_LOGS])
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < SIDE_LOGS; i++)
            logs[side][i] = log_of(texts[side][i]);
    return perflog_compare(logs[0], SIDE_LOGS, logs[1], SIDE_LOGS);
}

static void drop_sides(struct perflog *logs[2][SIDE_LOGS], struct perflog_comparison *c)
{
    perflog_comparison_drop(c);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < SIDE_LOGS; i++)
            perflog_free(logs[side][i]);
}

#define TWO_MARKERS LOG_HEADER LOG_MARKER("slower", 1) LOG_MARKER("noisy", 2)

static const char *const noisy_logs[2][SIDE_LOGS] = {
    { TWO_MARKERS LOG_DURATION(1, 100) LOG_DURATION(2, 50), TWO_MARKERS LOG_DURATION(1, 101) LOG_DURATION(2, 500),
      TWO_MARKERS LOG_DURATION(1, 102) },
    { TWO_MARKERS LOG_DURATION(1, 120) LOG_DURATION(2, 700), TWO_MARKERS LOG_DURATION(1, 121) LOG_DURATION(2, 60),
      TWO_MARKERS LOG_DURATION(1, 122) LOG_DURATION(2, 400) LOG_DURATION(1, 122) },
};

/* Counts and totals of a log without the marker are zero; averages are of those that have it. */
Test(unit_perflog_views, means_over_the_logs_of_a_side)
{
    struct perflog *logs[2][SIDE_LOGS];
    struct perflog_comparison c = compare_sides(logs, noisy_logs);
    cr_assert(eq(sz, c.row_count, 2));
    const struct perflog_compared_row *noisy = &c.rows[0], *slower = &c.rows[1];
    cr_assert(eq(str, (char *)noisy->marker, "noisy"));
    cr_assert(eq(u64, noisy->values[PERFLOG_COUNT].mean[0], 1)); /* 2 / 3, rounded */
    cr_assert(eq(u64, noisy->values[PERFLOG_TOTAL].sum[0], 550000000));
    cr_assert(eq(u64, noisy->values[PERFLOG_TOTAL].mean[0], 183333333));
    cr_assert(eq(sz, noisy->values[PERFLOG_MEAN].runs[0], 2));
    cr_assert(eq(u64, noisy->values[PERFLOG_MEAN].mean[0], 275000000));
    cr_assert(eq(u64, slower->values[PERFLOG_MEAN].mean[0], 101000000));
    cr_assert(eq(u64, slower->values[PERFLOG_MEAN].mean[1], 121000000));
    cr_assert(slower->values[PERFLOG_MEAN].significant);
    cr_assert(not(noisy->values[PERFLOG_MEAN].significant));
    cr_assert(not(noisy->values[PERFLOG_TOTAL].significant));
    drop_sides(logs, &c);
}

static size_t gate_findings(const char *text, const struct perflog_comparison *c)
{
    struct gate gate;
    struct error error = { NULL };
    cr_assert(perflog_gate_parse(&gate, text, &error), "%s", text);
    FILE *out = fopen("/dev/null", "w");
    const size_t count = perflog_gate_report(&gate, c, out);
    fclose(out);
    return count;
}

/* Only tested changes of times fail; counts are compared as they are. */
Test(unit_perflog_views, conditions_on_markers)
{
    struct perflog *logs[2][SIDE_LOGS];
    struct perflog_comparison c = compare_sides(logs, noisy_logs);
    cr_assert(eq(sz, gate_findings("mean > +10%", &c), 1));
    cr_assert(eq(sz, gate_findings("mean > +20ms", &c), 0)); /* it is 20 ms */
    cr_assert(eq(sz, gate_findings("mean > +19.9ms", &c), 1));
    cr_assert(eq(sz, gate_findings("mean < -0%", &c), 0));
    cr_assert(eq(sz, gate_findings("count > +0", &c), 2));
    cr_assert(eq(sz, gate_findings("count > +1", &c), 0));
    drop_sides(logs, &c);
    static const char *const wrong[] = { "mean > 1", "count > 1ms", "calls > +0", "mean", "mean > x" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gate gate;
        struct error error = { NULL };
        cr_assert(not(perflog_gate_parse(&gate, wrong[i], &error)), "%s", wrong[i]);
        error_drop(&error);
    }
}

/* Ticks of an unknown resolution can only change by percentages. */
Test(unit_perflog_views, conditions_without_a_resolution)
{
    static const char unknown[] = "## PERF ## REGISTERED APP [a] PROCESSID [1]\n" LOG_DURATION(1, 5);
    struct perflog *log = log_of(unknown);
    struct perflog_comparison c = perflog_compare(&log, 1, &log, 1);
    struct gate gate;
    struct error error = { NULL };
    cr_assert(perflog_gate_parse(&gate, "mean > +1ms", &error));
    cr_assert(ne(ptr, (void *)perflog_gate_check(&gate, &c), NULL));
    cr_assert(perflog_gate_parse(&gate, "mean > +1%", &error));
    cr_assert(eq(ptr, (void *)perflog_gate_check(&gate, &c), NULL));
    perflog_comparison_drop(&c);
    perflog_free(log);
}

/* ---- */

Test(unit_perflog_views, bars)
{
    static const double numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0 };
    char *plain = plot_bars(numbers, 11, false), *blocks = plot_bars(numbers, 11, true);
    cr_assert(eq(str, plain,
                 "_.-~=+*##"
                 "#_"));
    cr_assert(eq(str, blocks, "▁▂▃▄▅▆▇███▁"));
    free(plain);
    free(blocks);
    plain = plot_bars((double[]){ 5, 5, 5 }, 3, false);
    cr_assert(eq(str, plain, "~~~"));
    free(plain);
    plain = plot_bars(NULL, 0, true);
    cr_assert(eq(str, plain, ""));
    free(plain);
}

Test(unit_perflog_views, an_empty_log_is_an_empty_table)
{
    struct perflog *log = log_of(LOG_HEADER);
    struct perflog_table t = view_perflog(log, &by_total, true);
    struct table monitors = view_perflog_monitors(log, false);
    cr_assert(eq(sz, t.table.row_count, 0));
    cr_assert(eq(sz, monitors.row_count, 0));
    perflog_table_drop(&t);
    table_drop(&monitors);
    perflog_free(log);
}
