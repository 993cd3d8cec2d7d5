/* Exports of call trees from real recordings. The programs they are for, or a reader that shares no code with dwell,
 * read them. Their values must equal the report's. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exported.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_tree_exports, .timeout = 300);

/* A recording, and its report by function as csv. */
static void record_and_report(const char *program)
{
    free(run_well("$DWELL record -q %s && $DWELL report --format csv > report.csv &&"
                  " $DWELL export sqlite -o paths.db",
                  program));
}

static const char *const programs[] = { "$SAMPLES/cplusplus", "$SAMPLES/threads 4 1000", "$SAMPLES/processes 3 100",
                                        "$SAMPLES/sleeper", "--calls-to-all $SAMPLES/cplusplus" };
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs };

Test(e2e_tree_exports, collapsed)
{
    static const char *const measures[] = { "elapsed_exclusive", "application_exclusive", "calls" };
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        record_and_report(programs[i]);
        for (int j = 0; j < 3; j++)
            free(run_well("$DWELL export collapsed --value %s -o stacks && python3 -B " DWELL_CONSUMERS
                          "/collapsed.py report.csv %s stacks paths.db",
                          measures[j], measures[j]));
    }
}

/* Each of a function's call paths takes a quarter of a nanosecond. The report rounds their sum, an export each one. */
Test(e2e_tree_exports, paths_that_round_to_zero)
{
    enum { F = 0x1000, G = 0x2000, H = 0x3000 };
    struct writer *w = writer_new();
    write_header(w, 64, 4000000000, 8); /* ticks a second */
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (int i = 0; i < 2; i++) {
        write_enter(w, 1000u * (unsigned)i, i ? G : F);
        write_enter(w, 1000u * (unsigned)i + 400, H);
        write_exit(w, 1000u * (unsigned)i + 401);
        write_exit(w, 1000u * (unsigned)i + 800);
    }
    end_events(w, true);
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
    free(run_well("$DWELL report --format csv > report.csv && $DWELL export sqlite -o paths.db"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", NULL, "elapsed_exclusive_ns"), 200 + 200 + 1));
    report_drop(r);
    static const char *const measures[] = { "elapsed_exclusive", "application_exclusive" };
    for (int j = 0; j < 2; j++) {
        free(run_well(
            "$DWELL export collapsed --value %s -o stacks && ! grep -q ';0x3000' stacks && python3 -B " DWELL_CONSUMERS
            "/collapsed.py report.csv %s stacks paths.db",
            measures[j], measures[j]));
        free(run_well("$DWELL export speedscope --value %s -o out.json && python3 -B " DWELL_CONSUMERS
                      "/speedscope.py report.csv %s out.json paths.db",
                      measures[j], measures[j]));
    }
}

Test(e2e_tree_exports, speedscope)
{
    static const char *const measures[] = { "elapsed_exclusive", "application_exclusive", "calls" };
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        record_and_report(programs[i]);
        for (int j = 0; j < 3; j++)
            free(run_well("$DWELL export speedscope --value %s -o out.json && python3 -B " DWELL_CONSUMERS
                          "/speedscope.py report.csv %s out.json paths.db",
                          measures[j], measures[j]));
    }
}

Test(e2e_tree_exports, pprof)
{
    static const char *const threads[PROGRAM_COUNT] = { "1\n", "5\n", "4\n", "1\n", "1\n" };
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        record_and_report(programs[i]);
        char *count = run_well("$DWELL export pprof -o out.pb.gz && python3 -B " DWELL_CONSUMERS
                               "/pprof.py compare report.csv out.pb.gz");
        cr_assert(eq(str, count, (char *)threads[i]));
        free(count);
    }
}

/* As in text: by the function that each began with, and a number. */
Test(e2e_tree_exports, threads_of_equal_names_are_told_apart)
{
    static const char *const formats[] = { "chrome", "collapsed", "firefox", "perfetto", "pprof", "speedscope" };
    free(run_well("$DWELL record -q $SAMPLES/threads 3 40"));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *titles = run_well("$DWELL export %s -o out && { zcat out 2>/dev/null || cat out; } | "
                                "grep -ao 'main#1\\|worker#[0-9]' | sort -u | tr '\\n' ' '",
                                formats[i]);
        cr_assert(eq(str, titles, "main#1 worker#2 worker#3 worker#4 "), "%s", formats[i]);
        free(titles);
    }
}

Test(e2e_tree_exports, pprof_with_names_of_all_kinds)
{
    struct writer *w = bad_session();
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
    char *text =
        run_well("$DWELL export pprof -o out.pb.gz && python3 -B " DWELL_CONSUMERS "/pprof.py print out.pb.gz");
    static const char *const names[BAD_NAMES] = {
        [BAD_QUOTES] = "operator\\\"\\\"_s<'\\\\'>",
        [BAD_SEMICOLON] = "a;b::c;",
        [BAD_NEWLINE] = "two\\nlines\\r\\n",
        [BAD_UNICODE] = "größe::日本<😀>",
        [BAD_BYTES] = "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd",
        [BAD_NUMBER] = "operator new 12",
        [BAD_CONTROLS] = "tab\\there\\u001b[0m\x7f",
        [BAD_MARKUP] = "</script><b>&amp;",
    };
    for (int i = 0; i < BAD_NAMES; i++) {
        char *line = NULL;
        cr_assert(
            asprintf(
                &line,
                "sample [%d, %d, %d, %d, 4] {\"process\": \"a;b\", \"pid\": 100, \"thread\": \"th\\nread\", \"tid\": 100} "
                "[\"main\", \"%s\"]\n",
                1 + i, 10 * (1 + i), 10 * (1 + i) - 4, 10 * i, i == BAD_LONG ? bad_names[i] : names[i]) > 0);
        cr_assert(has(text, line), "%s", line);
        free(line);
    }
    free(text);
}

Test(e2e_tree_exports, callgrind)
{
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        record_and_report(programs[i]);
        free(run_well("$DWELL export callgrind -o callgrind.out && python3 -B " DWELL_CONSUMERS
                      "/callgrind.py report.csv callgrind.out"));
    }
}

Test(e2e_tree_exports, sqlite)
{
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        record_and_report(programs[i]);
        free(run_well("$DWELL export sqlite -o out.db && python3 -B " DWELL_CONSUMERS
                      "/sqlite.py $DWELL dwell.data out.db"));
    }
    free(run_well("$DWELL record -q $PROGRAMS/control/control marks"));
    char *rows =
        run_well("$DWELL export sqlite -o out.db && python3 -B " DWELL_CONSUMERS "/sqlite.py $DWELL dwell.data out.db");
    cr_assert(has(rows, " 4\n"), "%s", rows); /* the marks */
    free(rows);
    free(run_well("rm out.db && test -z \"$(ls out.db*)\" && $DWELL record -q --os-events=none $SAMPLES/fib 10"));
    free(run_well("$DWELL export sqlite -o out.db && python3 -B " DWELL_CONSUMERS
                  "/sqlite.py $DWELL dwell.data out.db"));
}

Test(e2e_tree_exports, the_same_bytes_each_time)
{
    record_and_report("$SAMPLES/threads 8 3000");
    free(run_well(
        "for format in callgrind collapsed pprof sqlite speedscope; do $DWELL export $format -o first || exit 1;"
        " for i in 1 2 3 4 5; do $DWELL export $format -o again && cmp first again || exit 1; done; done"));
}

/* Recordings of every mode give the same exports. */
Test(e2e_tree_exports, recordings_of_all_modes)
{
    static const char *const modes[] = { "trace", "profile", "ring=1G" };
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode=%s $SAMPLES/threads 3 200 && $DWELL report --format csv > report.csv &&"
                      " $DWELL export sqlite -o paths.db",
                      modes[i]));
        free(run_well("$DWELL export callgrind -o out && python3 -B " DWELL_CONSUMERS "/callgrind.py report.csv out"));
        free(run_well("$DWELL export collapsed -o out && python3 -B " DWELL_CONSUMERS
                      "/collapsed.py report.csv elapsed_exclusive out paths.db"));
        free(run_well("$DWELL export pprof -o out && python3 -B " DWELL_CONSUMERS "/pprof.py compare report.csv out"));
        free(run_well("$DWELL export speedscope -o out && python3 -B " DWELL_CONSUMERS
                      "/speedscope.py report.csv elapsed_exclusive out paths.db"));
        free(run_well("$DWELL export sqlite -o out && python3 -B " DWELL_CONSUMERS "/sqlite.py $DWELL dwell.data out"));
    }
}

/* A sleeping thread is blocked as long as it sleeps, except for falling asleep and waking up. */
Test(e2e_tree_exports, blocked_times)
{
    static const char *const modes[] = { "trace", "profile" };
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q --no-os-calls --os-events=perf --mode=%s $SAMPLES/sleeper 4 1 10", modes[i]));
        char *blocked =
            run_well("$DWELL export collapsed --value blocked_exclusive | grep 'main;doze ' | sed 's/.* //'");
        cr_assert(ge(u64, strtoull(blocked, NULL, 10), 36000000), "%s", blocked);
        free(run_well(
            "test \"$($DWELL export collapsed --value blocked_exclusive | awk '{ sum += $NF } END { print sum }')\" ="
            " \"$($DWELL export callgrind | awk '/^totals:/ { print $4 }')\""));
        free(blocked);
    }
    struct ran r = run(
        "$DWELL record -q --no-os-calls --os-events=rseq $SAMPLES/sleeper 1 1 1; $DWELL export speedscope --value blocked_exclusive");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "blocked_exclusive is unknown"), "%s", r.err);
    ran_drop(&r);
}

static void tree_exports_check_error(const char *command, const char *message)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s: %s", command, r.err);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "%s", command);
    ran_drop(&r);
}

Test(e2e_tree_exports, errors)
{
    tree_exports_check_error("$DWELL export", "dwell: export: name a format; dwell export --list lists them\n");
    tree_exports_check_error("$DWELL export nonsense", "dwell: no format 'nonsense'; dwell export --list lists them\n");
    tree_exports_check_error(
        "$DWELL export collapsed",
        "dwell: dwell.data: No such file or directory; record a program first: dwell record ./prog\n");
    tree_exports_check_error(
        "$DWELL export collapsed --value wall",
        "dwell: --value: 'wall' is none of elapsed_exclusive, application_exclusive, cpu_exclusive, blocked_exclusive, calls\n");
    tree_exports_check_error("$DWELL export collapsed --limit 3",
                             "dwell: --limit: format collapsed has no use for it; leave it out\n");
    free(run_well("$DWELL record -q --os-events=none $SAMPLES/fib 5"));
    tree_exports_check_error(
        "$DWELL export collapsed --value application_exclusive",
        "dwell: dwell.data: application_exclusive is unknown: no thread had a source of OS events that reports it\n");
    tree_exports_check_error("$DWELL export collapsed -o dwell.data", "dwell: dwell.data: is the session itself\n");
    tree_exports_check_error("$DWELL export collapsed > /dev/full",
                             "dwell: standard output: No space left on device\n");
    tree_exports_check_error("$DWELL export collapsed -o /dev/full", "dwell: /dev/full: No space left on device\n");
    char *terminal = run_well("! script -qec \"$DWELL export pprof\" /dev/null < /dev/null");
    cr_assert(eq(str, terminal, "dwell: export pprof does not write to a terminal; say where, with -o FILE\r\n"));
    free(terminal);
    tree_exports_check_error("$DWELL export sqlite",
                             "dwell: export sqlite does not write to standard output; say where, with -o FILE\n");
    tree_exports_check_error("$DWELL export sqlite -o dwell.data", "dwell: dwell.data: is the session itself\n");
    tree_exports_check_error("ln dwell.data same; $DWELL export sqlite -o same",
                             "dwell: same: is the session itself\n");
    tree_exports_check_error("$DWELL export sqlite -o none/out.db", "dwell: none/out.db: No such file or directory\n");
    tree_exports_check_error("$DWELL export sqlite -o /dev/null", "dwell: /dev/null: is not a regular file\n");
    tree_exports_check_error("mkdir folder; $DWELL export sqlite -o folder", "dwell: folder: is not a regular file\n");
    free(run_well("$DWELL report && test -c /dev/null && test \"$(ls)\" = \"$(printf 'dwell.data\\nfolder\\nsame')\""));
}

Test(e2e_tree_exports, the_list_names_them_all)
{
    char *list = run_well("$DWELL export --list | cut -d' ' -f1 | tr '\\n' ' '");
    cr_assert(has(list, "callgrind collapsed pprof speedscope sqlite "), "%s", list);
    free(list);
}
