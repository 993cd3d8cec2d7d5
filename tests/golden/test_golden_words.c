/* The same word means the same in all commands: a session in which one slow probe is preempted and another one is
 * blocked, and what the commands say about its times and its probes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "dwell/format.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

enum { MAIN = 0x1000, TINY = 0x2000, TICK = 256 };

static void words_write_runtime(struct writer *w, uint16_t ticks)
{
    write_words(w, (uint16_t[]){ DWELL_EXT_RUNTIME << DWELL_EXTENSION_LENGTH_BITS | 3, ticks, 0, 0 }, 4);
}

/*
 * main calls tiny 50 times for 10 ticks, then twice more. Its probe takes 100 ticks of CPU time before the first of
 * these calls, and is preempted for 400. Before the second one it takes 60, and is blocked for 700. A call costs its
 * function 8 ticks and its caller 4, and once 2 more for each call with calls. So probes have
 *
 *   52 * 8 ticks of 520 in tiny, and 8 + 52 * 4 + 2 + 100 + 60 = 378 of the 780 that main is on the CPU,
 *
 * together 794 of 1,300. That leaves 104 ticks of CPU time to tiny, and 402 to main: the run takes 2,400 ticks, of
 * which 2,400 - 794 = 1,606 are the program's.
 */
static void words_save_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 71, "/opt/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
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
    write_off_cpu(w, true, 1010, 400);
    words_write_runtime(w, 100);
    write_enter(w, 1600, TINY);
    write_exit(w, 1610);
    write_off_cpu(w, false, 1620, 700);
    words_write_runtime(w, 60);
    write_enter(w, 2380, TINY);
    write_exit(w, 2390);
    write_exit(w, 2400);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 2400);
    write_process_end(w, 1, 71, END_EXIT, 0, 2400);
    writer_save(w, test_path("words.dwell"));
    writer_free(w);
}

TestSuite(golden_words, .init = words_save_session, .timeout = 300);

Test(golden_words, the_run_is_as_long_as_it_took_and_elapsed_is_without_probes)
{
    static const char *const commands[] = {
        "tree words.dwell",     "callers words.dwell tiny",    "waits words.dwell",
        "critical words.dwell", "whatif tiny=0.5 words.dwell", "advise words.dwell",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well("$DWELL %s | grep ^words.dwell", commands[i]);
        cr_assert(has(text, "words.dwell: ran 2.400 us; elapsed 1.606 us in 1 thread, application "), "%s: %s",
                  commands[i], text);
        cr_assert(has(text, "; probes added 157 % to the CPU time, left out here"), "%s: %s", commands[i], text);
        free(text);
    }
}

Test(golden_words, report_and_info)
{
    check_golden("report words.dwell", "words-report.txt");
    check_golden("critical words.dwell --by function", "words-critical.txt");
    char *text = run_well("$DWELL info words.dwell | grep -E '^(run|elapsed|left out|remark)'");
    check_text(text, "words-info.txt");
    free(text);
    char *json = run_well("$DWELL report words.dwell --format json | sed -n 2p");
    cr_assert(has(json, "{\"run_ns\":2400,\"elapsed_inclusive_ns\":1606,"), "%s", json);
    cr_assert(has(json, ",\"overhead_inclusive_ns\":794,"), "%s", json);
    free(json);
}

/* 794 of 1,300: both are CPU time. */
Test(golden_words, the_share_of_probes_is_one_of_cpu_time)
{
    static const char *const commands[] = { "report", "tree", "info" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well("$DWELL %s words.dwell | grep -o 'probes took .* of the CPU time'", commands[i]);
        cr_assert(eq(str, text, (char *)"probes took 61 % of the CPU time\n"), "%s", commands[i]);
        free(text);
    }
}

/* A program whose functions take a tenth of its time was not preempted for 80 % of that. */
static void words_save_end(const char *name, uint64_t end)
{
    struct writer *w = writer_new();
    write_process(w, 1, 71, "/opt/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_off_cpu(w, true, 100, 800);
    write_exit(w, 1000);
    end_events(w, true);
    write_process_end(w, 1, 71, END_EXIT, 0, end);
    writer_save(w, test_path(name));
    writer_free(w);
}

Test(golden_words, shares_of_a_thread_are_left_out_where_it_is_little_of_the_run)
{
    words_save_end("most.dwell", 4000);
    words_save_end("little.dwell", 10000);
    char *most = run_well("$DWELL report most.dwell | head -1"),
         *little = run_well("$DWELL report little.dwell | head -1");
    cr_assert(has(most, "most.dwell: ran 4.00 us in 1 thread: 80 % of the time preempted, CPU 200 ns: "), "%s", most);
    cr_assert(has(little, "little.dwell: ran 10.0 us in 1 thread: CPU 200 ns: "), "%s", little);
    free(most);
    free(little);
}

/* Threads are known by their calls. The first session has no end. */
Test(golden_words, no_threads_are_not_counted)
{
    static const char *const wanted[] = { "none.dwell: no calls were recorded\n",
                                          "none.dwell: ran 7.00 us: no calls were recorded\n" };
    for (int ends = 0; ends < 2; ends++) {
        struct writer *w = writer_new();
        write_process(w, 1, 71, "/opt/shop");
        if (ends)
            write_process_end(w, 1, 71, END_EXIT, 0, 7000);
        writer_save(w, test_path("none.dwell"));
        writer_free(w);
        char *line = run_well("$DWELL report none.dwell | head -1");
        cr_assert(eq(str, line, (char *)wanted[ends]));
        free(line);
    }
}

/* A sum over threads says so, and shows how long the run was beside it. */
Test(golden_words, the_time_of_several_threads_is_a_sum)
{
    struct writer *w = writer_new();
    write_process(w, 1, 71, "/opt/shop");
    for (uint32_t i = 1; i <= 3; i++) {
        write_thread(w, 1, i, 70 + i, SOURCE_PERF, i == 1 ? "shop" : "worker");
        begin_events(w, 1, i, 0, 0, NULL, 0);
        write_enter(w, 0, MAIN);
        write_exit(w, 5000);
        end_events(w, true);
    }
    write_process_end(w, 1, 71, END_EXIT, 0, 5000);
    writer_save(w, test_path("three.dwell"));
    writer_free(w);
    char *tree = run_well("$DWELL tree three.dwell | tail -1"), *report = run_well("$DWELL report three.dwell");
    cr_assert(has(tree, "three.dwell: ran 5.000 us; elapsed 15.000 us summed over 3 threads, "), "%s", tree);
    cr_assert(has(report, "three.dwell: ran 5.00 us in 3 threads: CPU 15.0 us: "), "%s", report);
    cr_assert(has(report, "\nelapsed 15.000 us summed over 3 threads, application 15.000 us\n"), "%s", report);
    free(tree);
    free(report);
}
