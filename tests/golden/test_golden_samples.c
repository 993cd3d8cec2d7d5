/* Reports of a session with samples. Estimates are marked in text, and have intervals in csv and json. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

enum { MAIN = 0x1000, LOAD = 0x2000, HASH = 0x3000, COPY = 0x100, PARSE = 0x200, LIBRARY = 0x20000 };
enum { COUNT_COST = 246 }; /* offset in the header */
enum { LEVEL = 22, COUNTED = 1 };

static void samples_write_modules(struct writer *w)
{
    write_header(w, 240, 1000000, 4);
    write_process(w, 1, 70, "/opt/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    write_module(w, 1, 2, LIBRARY, LIBRARY, LIBRARY + 0x9000, 0, "/no/libtext.so");
    write_symbol_module(w, 1, "/no/shop");
    write_symbol_module(w, 2, "/no/libtext.so");
    write_symbol(w, 1, 0, 0, MAIN, "main");
    write_symbol(w, 1, 0, 0, LOAD, "load");
    write_symbol(w, 1, 0, 0, HASH, "hash");
    write_symbol(w, 2, 0, 0, COPY, "copy_text");
    write_symbol(w, 2, 0, 0, PARSE, "parse_text");
}

/* main takes 100 ms, of which load takes 80 ms. Samples are a millisecond apart. `first`: those before 41 ms
 * stand for so many nanoseconds; zero: they are as the others. */
static void samples_save_session(const char *name, uint32_t first)
{
    struct writer *w = writer_new();
    samples_write_modules(w);
    write_header(w, 252, first ? 20000 : 0, 4);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10000000, LOAD);
    write_off_cpu(w, false, 20000000, 9000000);
    write_exit(w, 90000000);
    write_exit(w, 100000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    set_sample_period(w, first);
    for (uint64_t ms = 0; ms < 100; ms++) {
        if (first && ms == 41) {
            end_samples(w, true);
            begin_samples(w, 1, 1, 70, 71, ms * 1000000);
        }
        const uint64_t in_load = ms % 4 == 0 ? LOAD : ms % 4 == 1 ? HASH : LIBRARY + (ms % 8 < 4 ? COPY : PARSE);
        const uint64_t address = ms < 10 || ms >= 90 ? MAIN : in_load;
        if (ms < 20 || ms >= 29)
            write_sample(w, &(struct written_sample){ ms * 1000000 + 500000, &address, NULL, 1, 0 });
    }
    end_samples(w, true);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* main takes 100 ms. load is timed at first, and then only counted, like hash throughout. */
static void samples_save_counted(void)
{
    static const uint64_t calls[][2] = { { LOAD, 40 }, { HASH, 5000 }, { LIBRARY + COPY, 70 }, { LIBRARY + PARSE, 3 } };
    struct writer *w = writer_new();
    samples_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10000000, LOAD);
    write_exit(w, 30000000);
    write_enter(w, 40000000, LOAD);
    write_exit(w, 50000000);
    write_exit(w, 100000000);
    end_events(w, true);
    write_counts(w, 1, 1, 100, calls, 4);
    writer_save(w, test_path("counted.dwell"));
    writer_free(w);
}

/* All calls were only counted. A count adds so many picoseconds to its function. */
static void samples_save_only_counted(uint16_t picoseconds)
{
    static const uint64_t calls[][2] = { { MAIN, 1 }, { LOAD, 40 }, { HASH, 5000 } };
    struct writer *w = writer_new();
    samples_write_modules(w);
    write_header(w, COUNT_COST, picoseconds, 2);
    write_counts(w, 1, 1, 100, calls, 3);
    writer_save(w, test_path("only.dwell"));
    writer_free(w);
}

static void samples_save_sessions(void)
{
    samples_save_session("samples.dwell", 0);
    samples_save_session("periods.dwell", 300000);
    samples_save_counted();
    samples_save_only_counted(0);
}

TestSuite(golden_samples, .init = samples_save_sessions, .timeout = 300);

Test(golden_samples, reports)
{
    check_golden("report samples.dwell", "samples.txt");
    check_golden("report --by function samples.dwell", "samples-function.txt");
    check_golden("report --format json samples.dwell", "samples.json");
    check_golden("report --by module --format csv samples.dwell", "samples-module.csv");
    check_golden("tree samples.dwell", "samples-tree.txt");
    check_golden("callers samples.dwell load", "samples-callers.txt");
}

/* Times of a function that was timed for a part of the run are marked, and the number of timed calls is known. */
Test(golden_samples, reports_of_counted_calls)
{
    check_golden("report counted.dwell", "counted.txt");
    check_golden("report --by function counted.dwell", "counted-function.txt");
    check_golden("report --format csv counted.dwell", "counted.csv");
    check_golden("report --by module-function --format csv counted.dwell", "counted-module-function.csv");
    check_golden("report --by thread --format json counted.dwell", "counted-thread.json");
    check_golden("callers --format json counted.dwell load", "counted-callers.json");
    check_golden("callers counted.dwell load", "counted-callers.txt");
    check_golden("tree counted.dwell", "counted-tree.txt");
    char *text = run_well("$DWELL info counted.dwell | grep -e ^remark -e ^caveat | tr -s ' '");
    cr_expect(
        eq(str, text,
           (char *)"caveat calls of 4 functions were only counted (dwell info lists them): they have no times and "
                   "no call paths\ncaveat 1 of these functions was timed for a part of the run: rows marked with "
                   "> have the times of the timed calls alone\n"),
        "%s", text);
    free(text);
}

/* Rows without times follow the others, those with the most calls first. */
Test(golden_samples, reports_of_counted_calls_alone)
{
    check_golden("report only.dwell", "counted-only.txt");
    check_golden("report --format csv only.dwell", "counted-only.csv");
    check_golden("tree only.dwell", "counted-only-tree.txt");
}

/* main takes 100 ms, in which load is timed twice: 20 and 10 ms. Of the 70 other samples, a millisecond apart, 20 are
 * in calls of load that were only counted, and 30 in hash. */
static void samples_save_both(void)
{
    static const uint64_t calls[][2] = { { LOAD, 40 }, { HASH, 5000 } }, level[] = { 50000001, LOAD, COUNTED };
    struct writer *w = writer_new();
    samples_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10000000, LOAD);
    write_exit(w, 30000000);
    write_enter(w, 40000000, LOAD);
    write_exit(w, 50000000);
    write_exit(w, 100000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t ms = 0, others = 0; ms < 100; ms++) {
        const bool timed = (ms >= 10 && ms < 30) || (ms >= 40 && ms < 50);
        const uint64_t other = others < 20 ? MAIN : others < 40 ? LOAD : HASH, address = timed ? LOAD : other;
        others += !timed;
        write_sample(w, &(struct written_sample){ ms * 1000000 + 500000, &address, NULL, 1, 0 });
    }
    end_samples(w, true);
    write_counts(w, 1, 1, 100, calls, 2);
    write_record(w, 1, LEVEL, level, sizeof level);
    writer_save(w, test_path("both.dwell"));
    writer_free(w);
}

/* calls * mean = total, and minimum <= mean <= maximum, also of calls that were only counted: some call of load was as
 * short as the mean of all. The median is that of the timed calls. */
Test(golden_samples, means_of_counted_calls)
{
    samples_save_both();
    char *rows =
        run_well("$DWELL report --by function --format csv --columns calls,timed_calls,timing,elapsed_inclusive,"
                 "min,max,elapsed_inclusive_min,elapsed_inclusive_mean,elapsed_inclusive_median,"
                 "elapsed_inclusive_max both.dwell | tr -d '\r' | cut -d, -f1,5-");
    cr_expect(eq(str, rows,
                 "function,calls,timed_calls,timing,elapsed_inclusive_ns,min_ns,max_ns,elapsed_inclusive_min_ns,"
                 "elapsed_inclusive_mean_ns,elapsed_inclusive_median_ns,elapsed_inclusive_max_ns\n"
                 "load,42,2,sampled,50000000,1190476,20000000,1190476,1190476,10000000,20000000\n"
                 "hash,5000,0,sampled,30000000,,,,6000,,\n"
                 "main,1,1,timed,100000000,100000000,100000000,100000000,100000000,100000000,100000000\n"),
              "%s", rows);
    free(rows);
    rows = run_well(
        "$DWELL report --by function --to 99.999999ms --format csv --columns elapsed_inclusive_mean both.dwell | "
        "tr -d '\r' | cut -d, -f1,5-");
    cr_expect(eq(str, rows, "function,elapsed_inclusive_mean_ns\nload,15000000\nhash,\nmain,\n"), "%s", rows);
    free(rows);
}

/* The cost is that of one instruction beside others: a smaller figure would say more than is known. */
Test(golden_samples, cost_of_a_counted_call)
{
    static const struct {
        uint16_t picoseconds;
        const char *text;
    } costs[] = { { 1, "less than 0.1 ns" }, { 99, "less than 0.1 ns" }, { 100, "0.1 ns" }, { 1260, "1.3 ns" } };
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        samples_save_only_counted(costs[i].picoseconds);
        char *info = run_well("$DWELL info only.dwell"), line[128];
        snprintf(line, sizeof line,
                 "\na counted call  adds %s to a short function, as measured before the run; reports leave that out\n",
                 costs[i].text);
        cr_assert(has(info, line), "%s", info);
        free(info);
    }
    samples_save_only_counted(0);
    char *info = run_well("$DWELL info only.dwell");
    cr_assert(not(has(info, "a counted call")), "%s", info);
    free(info);
}

/* A session of 100 ms with a counted function that has samples. */
static void samples_save_preempted(uint64_t ticks)
{
    struct writer *w = writer_new();
    samples_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_off_cpu(w, true, 20000000, ticks);
    write_exit(w, 100000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t ms = 0; ms < 80; ms++)
        write_sample(w, &(struct written_sample){ ms * 1000000 + 500000, (const uint64_t[]){ HASH }, NULL, 1, 0 });
    end_samples(w, true);
    write_counts(w, 1, 1, 100, (const uint64_t[][2]){ { HASH, 5000 } }, 1);
    writer_save(w, test_path("preempted.dwell"));
    writer_free(w);
}

/* The time stays with main, although hash ran. */
Test(golden_samples, preempted_time_of_counted_calls)
{
    static const char remark[] =
        "\n! preempted for 12 % of the time, which timed functions have: compare CPU times\n1 remark: dwell info; ";
    samples_save_preempted(12000000);
    char *text = run_well("$DWELL report preempted.dwell");
    cr_assert(has(text, remark), "%s", text);
    free(text);
    samples_save_preempted(4900000);
    text = run_well("$DWELL report preempted.dwell");
    cr_assert(not(has(text, "! ")), "%s", text); /* that calls were counted is none */
    cr_assert(has(text, "\n1 function only counted: ~ times by samples, - unknown\nnext: "), "%s", text);
    free(text);
}

/* Recordings with the budget have such functions on both sides: that is no remark for people. */
Test(golden_samples, comparisons_of_counted_calls)
{
    samples_save_preempted(4900000);
    char *text = run_well("$DWELL diff preempted.dwell preempted.dwell; $DWELL diff --format markdown preempted.dwell "
                          "preempted.dwell");
    cr_assert(has(text, "\ntimes of functions that were only counted are estimates (dwell info)\n"), "%s", text);
    cr_assert(not(has(text, "! ")), "%s", text);
    cr_assert(not(has(text, "\n> ")), "%s", text);
    free(text);
    text = run_well("$DWELL diff --format json preempted.dwell preempted.dwell | jq -r '.remarks[].code'; "
                    "$DWELL diff --by path --format json preempted.dwell preempted.dwell | jq -r '.remarks[].code'");
    cr_assert(eq(str, text, (char *)"counted-estimated\ncounted-estimated\nonly-counted\nonly-counted\n"), "%s", text);
    free(text);
}

/* In a range of time, the numbers of counted calls are unknown, but samples give their times. */
Test(golden_samples, ranges_of_counted_calls)
{
    static const char commands[] = "$DWELL report --from 10ms preempted.dwell; $DWELL report --from 99ms "
                                   "--format json preempted.dwell | grep counted-outside";
    samples_save_preempted(20000000);
    char *text = run_well("%s", commands);
    cr_assert(has(text, "\n! calls that were only counted are in no range of time; ~: estimated times\n"), "%s", text);
    cr_assert(has(text, "which timed functions have: compare CPU times"), "%s", text);
    cr_assert(has(text, "\"calls that were only counted have no times: they are in no range of time\"}\n"), "%s", text);
    free(text);
}

/* A sample a millisecond costs 20 us, and the two calls 250 ns. main takes 100 ms. */
static void samples_save_costs(void)
{
    const uint64_t in_main = MAIN;
    struct writer *w = writer_new();
    samples_write_modules(w);
    write_header(w, 252, 20000, 4);
    write_probes(w, 1, 100 * 256, 50 * 256, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 10000000, LOAD);
    write_exit(w, 30000000);
    write_exit(w, 100000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t ms = 0; ms < 100; ms++)
        write_sample(w, &(struct written_sample){ ms * 1000000 + 500000, &in_main, NULL, 1, 0 });
    end_samples(w, true);
    writer_save(w, test_path("costs.dwell"));
    writer_free(w);
}

/* Reports and info leave out one time: what the calls and the samples cost, which is 2 % of the rest. */
Test(golden_samples, one_time_of_probes)
{
    static const char *const commands[] = {
        "report costs.dwell | grep -o '^probes added .* (--raw)'",
        "info costs.dwell | grep -o '[0-9.]* [mun]s of CPU time, as the probes'",
        "report costs.dwell --format json | grep -o '\"overhead_inclusive_ns\":[0-9]*' | head -1",
    };
    static const char *const figures[] = { "probes added 2.0 % to the CPU time, left out here (--raw)\n",
                                           "2.000 ms of CPU time, as the probes\n",
                                           "\"overhead_inclusive_ns\":2000245\n" };
    samples_save_costs();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well("$DWELL %s", commands[i]);
        cr_assert(eq(str, text, (char *)figures[i]), "%s", commands[i]);
        free(text);
    }
}

/* Sums tell timed, sampled and counted rows apart as the session does. */
Test(golden_samples, sums_have_the_same_views)
{
    free(run_well(
        "mkdir sums\n"
        "for f in samples periods counted only; do $DWELL profile $f.dwell -o sums/$f.dwell || exit 1\n"
        "    for view in report 'report --by function' 'report --format json' tree 'tree --format csv' 'report --by module'; do\n"
        "        $DWELL $view $f.dwell >recorded 2>&1; (cd sums; $DWELL $view $f.dwell) >summed 2>&1\n"
        "        sed -i '/^next: /d' recorded summed\n" /* sums have no single calls */
        "        cmp recorded summed || { echo \"$f $view\" >&2; diff recorded summed >&2; exit 1; }\n"
        "    done\ndone"));
}

/* Of functions without timed calls no single calls are known. */
Test(golden_samples, single_calls_need_probes)
{
    static const struct {
        const char *command, *says;
    } all[] = {
        { "slowest samples.dwell hash",
          "dwell: samples.dwell: hash has no probes: it is known by samples, not by its calls" },
        { "histogram samples.dwell copy_text", "copy_text has no probes: it is known by samples, not by its calls" },
        { "slowest counted.dwell hash",
          "calls of hash were only counted: they have no times. To time them, record with --level 'timed=hash'" },
        { "slowest counted.dwell load",
          "counted.dwell: 2 of 42 calls of load were timed, the others only counted. To time all, record with --level 'timed=load'" },
        { "slowest samples.dwell load", "" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ran r = run("$DWELL %s", all[i].command);
        cr_assert(eq(int, r.status, i < 3 ? 2 : 0), "%s", all[i].command);
        cr_assert(has(r.err, all[i].says), "%s: %s", all[i].command, r.err);
        ran_drop(&r);
    }
}
