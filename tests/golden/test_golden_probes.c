/* The remark that the probes took most of the CPU time measured for the rows of a report. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwell/format.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed.h"

enum { MAIN = 0x1000, TINY = 0x2000, PROBE = 0x30100, TICK = 256 };
enum { ALSO = 176, SAMPLE_PERIOD = 240 }; /* places in the header */

/*
 * main is blocked for 1,000 ticks of 2,000, and calls tiny 50 times for 10 ticks. A call costs its function 8 ticks and
 * its caller 4, and once 2 more for each call with calls. So 400 ticks of 500 are subtracted from tiny, and
 * 8 + 50 * 4 + 2 = 210 of 500 from main.
 */
static struct writer *probes_session(uint32_t source)
{
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/opt/shop");
    write_thread(w, 1, 1, 71, source, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    write_module(w, 1, 2, 0x30000, 0x30000, 0x39000, 0, "/no/libdwell.so");
    write_probes(w, 1, 8 * TICK, 4 * TICK, 2 * TICK);
    write_symbol_module(w, 1, "/no/shop");
    write_symbol(w, 1, 0, 0, MAIN, "main");
    write_symbol(w, 1, 0, 0, TINY, "tiny");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t at = 10; at < 1000; at += 20) {
        write_enter(w, at, TINY);
        write_exit(w, at + 10);
    }
    if (source == SOURCE_PERF)
        write_off_cpu(w, false, 1000, 1000);
    write_exit(w, 2000);
    end_events(w, true);
    return w;
}

static void probes_save(struct writer *w, const char *name)
{
    writer_save(w, test_path(name));
    writer_free(w);
}

static void probes_save_sessions(void)
{
    probes_save(probes_session(SOURCE_PERF), "probes.dwell");
}

TestSuite(golden_probes, .init = probes_save_sessions, .timeout = 300);

Test(golden_probes, reports)
{
    check_golden("report probes.dwell", "probes.txt");
    check_golden("report --by function --filter name=tiny probes.dwell", "probes-function.txt");
    check_golden("tree probes.dwell", "probes-tree.txt");
    check_golden("callers probes.dwell tiny", "probes-callers.txt");
}

/* A call of tiny takes 2 of its 10 ticks, less than the 8 of its probes. The numbers of csv are what was measured. */
Test(golden_probes, times_below_the_resolution)
{
    check_golden("histogram probes.dwell tiny", "probes-histogram.txt");
    check_golden("histogram --raw probes.dwell tiny", "probes-histogram-raw.txt");
    check_golden("slowest -n 2 probes.dwell tiny", "probes-slowest.txt");
    const char *columns = "report --by function --columns "
                          "calls,elapsed_inclusive_min,elapsed_inclusive_mean,elapsed_inclusive_p90 probes.dwell";
    check_golden(columns, "probes-columns.txt");
    char *csv = run_well("$DWELL %s --format csv | grep -o ',50,.*'", columns);
    cr_assert(eq(str, csv, ",50,2,2,2\r\n"));
    free(csv);
}

static void probes_expect(const char *arguments, const char *line)
{
    char *text = run_well("$DWELL %s | grep -o 'probes took .*: record' || true", arguments);
    cr_assert(eq(str, text, (char *)line), "%s", arguments);
    free(text);
}

#define PROBES_TOOK(what) "probes took " what " of these rows: record\n"

Test(golden_probes, only_the_rows_shown_count)
{
    static const char *const whole[] = { "report",
                                         "report --hot",
                                         "report --by function",
                                         "report --by module",
                                         "report --by module-function",
                                         "report --by thread",
                                         "report --by process",
                                         "report --columns calls",
                                         "tree",
                                         "tree --by thread",
                                         "tree --depth 1" };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char *arguments = NULL;
        cr_assert(asprintf(&arguments, "%s probes.dwell", whole[i]) > 0);
        probes_expect(arguments, PROBES_TOOK("61 % of the CPU time"));
        free(arguments);
    }
    probes_expect("report --by function --filter name=tiny probes.dwell", PROBES_TOOK("80 % of the CPU time"));
    probes_expect("report --limit 1 --hot probes.dwell", "");
    probes_expect("report --by function --limit 1 probes.dwell", "");
    probes_expect("callers probes.dwell main", PROBES_TOOK("61 % of the CPU time"));
    probes_expect("callers probes.dwell tiny", PROBES_TOOK("80 % of the CPU time"));
    probes_expect("report probes.dwell probes.dwell", PROBES_TOOK("61 % of the CPU time"));
}

/* Nothing is subtracted, or the user knows the option already, or there is no CPU time of which it may be a share. */
Test(golden_probes, other_sessions)
{
    probes_expect("report --raw probes.dwell", "");
    struct writer *w = probes_session(SOURCE_PERF);
    write_header(w, ALSO, DWELL_ALSO_BUDGET, 4);
    probes_save(w, "budget.dwell");
    probes_expect("report budget.dwell", "");
    probes_expect("report budget.dwell probes.dwell", PROBES_TOOK("61 % of the CPU time"));
    w = probes_session(SOURCE_PERF);
    const struct dwell_rec_decision decision = { .time = 1, .function = TINY, .level = DWELL_PROBES_COUNTED };
    write_record(w, 1, DWELL_REC_DECISION, &decision.time, sizeof decision - sizeof decision.record);
    probes_save(w, "decided.dwell");
    probes_expect("report decided.dwell", "");
    probes_save(probes_session(SOURCE_NONE), "blind.dwell");
    probes_expect("report blind.dwell", ""); /* 610 of 2,000 */
    probes_expect("report --filter name=tiny blind.dwell", PROBES_TOOK("80 % of the time"));
}

Test(golden_probes, pages)
{
    free(run_well("$DWELL view probes.dwell -o page.html; $DWELL view --raw probes.dwell -o raw.html"));
    struct viewed_page page = viewed_page(test_path("page.html")), raw = viewed_page(test_path("raw.html"));
    struct json_object *lines = viewed_get(viewed_session(&page, 0)->header, "remarks");
    cr_assert(eq(sz, json_object_array_length(lines), 1));
    cr_assert(eq(str, (char *)json_object_get_string(json_object_array_get_idx(lines, 0)),
                 "probes took 61 % of the CPU time: record with --overhead 10%"));
    cr_assert(eq(sz, json_object_array_length(viewed_get(viewed_session(&raw, 0)->header, "remarks")), 0));
    viewed_page_drop(&page);
    viewed_page_drop(&raw);
}

/* 610 ticks of probes, and 390 of the program's own. */
Test(golden_probes, pages_say_the_overhead)
{
    struct writer *w = probes_session(SOURCE_PERF);
    write_header(w, sizeof(struct dwell_file_header) + offsetof(struct dwell_file_more, overhead), 100, 4);
    probes_save(w, "asked.dwell");
    free(run_well("$DWELL view asked.dwell -o page.html; $DWELL view --raw probes.dwell -o none.html"));
    struct viewed_page page = viewed_page(test_path("page.html")), none = viewed_page(test_path("none.html"));
    cr_assert(eq(str, (char *)json_object_get_string(viewed_get(viewed_session(&page, 0)->header, "overhead_reached")),
                 "probes added 156 % to the CPU time, left out here (--raw)"));
    cr_assert(eq(ptr, json_object_object_get(viewed_session(&none, 0)->header, "overhead_reached"), NULL));
    viewed_page_drop(&page);
    viewed_page_drop(&none);
}

/* The share of samples in probes, in json: here one of three. */
Test(golden_probes, samples_in_probes)
{
    static const uint64_t addresses[] = { MAIN, PROBE, TINY };
    struct writer *w = probes_session(SOURCE_PERF);
    write_header(w, SAMPLE_PERIOD, 1000, 4);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (size_t i = 0; i < 3; i++)
        write_sample(w, &(struct written_sample){ 5 + 5 * i, &addresses[i], NULL, 1, 0 });
    end_samples(w, true);
    probes_save(w, "sampled.dwell");
    char *text = run_well("$DWELL report --format json sampled.dwell | sed -n 2p");
    cr_assert(has(text, "\"samples\":3,\"samples_in_probes\":1,\"overhead_percent\":33.3333}"), "%s", text);
    free(text);
}
