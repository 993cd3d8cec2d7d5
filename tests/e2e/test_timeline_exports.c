/* Exports of single calls from real recordings. The programs they are for, or readers that share no code with dwell,
 * read them. Their calls must add up to the report's values. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/exported.h"
#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_timeline_exports, .timeout = 600);

/* Calls of all kinds: exceptions, threads, forked processes, waits, several stacks, pauses, marks, longjmp. */
static const char *const programs[] = {
    "$SAMPLES/cplusplus",
    "$SAMPLES/threads 4 1000",
    "$SAMPLES/processes 3 100",
    "$SAMPLES/sleeper",
    "$PROGRAMS/stacks/stacks ucontext",
    "$PROGRAMS/control/control marks",
    "$PROGRAMS/control/control stacks",
    "$PROGRAMS/jumps-O0",
    "--calls-to-all $SAMPLES/cplusplus",
};
enum { PROGRAM_COUNT = sizeof programs / sizeof *programs };

/* With a clock of nanoseconds no time is rounded, and sums are equal. Otherwise each end of a call is rounded. */
static const struct {
    const char *clock, *exactness;
} clocks[] = { { "monotonic", "exact" }, { "tsc", "rounded" } };

/* The command gets the report and the expected exactness. It prints how many threads it found. */
static void check_programs(const char *command)
{
    for (int i = 0; i < PROGRAM_COUNT; i++)
        for (int j = 0; j < 2; j++) {
            free(run_well("DWELL_CLOCK=%s $DWELL record -q %s && $DWELL report --raw --format csv > report.csv",
                          clocks[j].clock, programs[i]));
            char *threads =
                run_well("CSV=report.csv EXACTNESS=%s CONSUMERS=" DWELL_CONSUMERS "; %s", clocks[j].exactness, command);
            char *wanted = run_well("$DWELL report --by thread --format csv | tail -n +2 | wc -l");
            cr_assert(eq(str, threads, wanted), "%s", programs[i]);
            free(threads);
            free(wanted);
        }
}

Test(e2e_timeline_exports, chrome)
{
    check_programs("$DWELL export chrome -o out.json && python3 -B $CONSUMERS/chrome.py $CSV $EXACTNESS out.json");
}

/* speedscope's own importer. It merges functions with the same name, so the program has none. */
Test(e2e_timeline_exports, chrome_in_speedscope)
{
    for (int j = 0; j < 2; j++) {
        free(run_well(
            "DWELL_CLOCK=%s $DWELL record -q $SAMPLES/threads 4 1000 && $DWELL report --raw --format csv > report.csv",
            clocks[j].clock));
        char *threads = run_well("$DWELL export chrome -o out.trace.json && " DWELL_CONSUMERS "/node " DWELL_CONSUMERS
                                 "/speedscope_import.mjs out.trace.json > frames.json && python3 -B " DWELL_CONSUMERS
                                 "/speedscope_report.py report.csv %s < frames.json",
                                 clocks[j].exactness);
        cr_assert(eq(str, threads, "5\n"));
        free(threads);
    }
}

Test(e2e_timeline_exports, perfetto)
{
    check_programs(
        "$DWELL export perfetto -o out.pftrace && python3 -B $CONSUMERS/perfetto.py $CSV $EXACTNESS out.pftrace");
}

/* The reader checks both ends of a flow. Here, each forked process must have one. */
Test(e2e_timeline_exports, perfetto_flows_and_counters)
{
    free(run_well(
        "$DWELL record -q --monitor 1ms $SAMPLES/processes 3 100 && $DWELL export perfetto -o out.pftrace.gz"));
    char *text = run_well("python3 -B " DWELL_CONSUMERS "/perfetto.py print out.pftrace.gz | sed 's/[0-9]* *)/)/'");
    char *forks =
        run_well("python3 -B " DWELL_CONSUMERS "/perfetto.py print out.pftrace.gz | grep -c \"instant 'fork: \"");
    cr_assert(eq(str, forks, "6\n"));
    cr_assert(has(text, "track process 'processes'\n"));
    cr_assert(has(text, "track counter 'resident memory'\n"));
    cr_assert(has(text, "counter calls ["));
    free(text);
    free(forks);
    free(run_well("$DWELL record -q --os-events=perf --no-os-calls $SAMPLES/sleeper 3 1 10 && $DWELL export perfetto "
                  "-o out.pftrace"));
    text = run_well("python3 -B " DWELL_CONSUMERS
                    "/perfetto.py print out.pftrace | grep -e \"slice 1 'blocked'\" -e 'counter blocked' | sort -u");
    cr_assert(has(text, "counter blocked ["), "%s", text);
    cr_assert(has(text, "slice 1 'blocked' []\n"), "%s", text);
    free(text);
}

/* The values are ticks, so all four times are exact with any clock. */
Test(e2e_timeline_exports, ctf)
{
    check_programs("rm -rf out; $DWELL export ctf -o out && python3 -B $CONSUMERS/ctf.py $CSV out");
    struct ran r = run("mkdir empty && $DWELL export ctf -o empty && test -s empty/metadata"); /* in its place */
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_timeline_exports, firefox)
{
    check_programs("$DWELL export firefox -o out.json && python3 -B $CONSUMERS/firefox.py $CSV $EXACTNESS out.json");
}

/* A part of a session adds up to the report of the same part, in formats of single calls and in those of sums. */
Test(e2e_timeline_exports, parts)
{
    static const char *const parts[] = { "--from ${BEGIN}ns --to ${END}ns", "--thread $TID",
                                         "--to ${END}ns --thread $TID", "--process threads --from ${BEGIN}ns" };
    static const char *const formats[] = {
        "$DWELL export chrome $PART -o out.json && python3 -B $CONSUMERS/chrome.py report.csv exact out.json",
        "$DWELL export perfetto $PART -o out.pftrace && "
        "python3 -B $CONSUMERS/perfetto.py report.csv exact out.pftrace",
        "rm -rf out; $DWELL export ctf $PART -o out && python3 -B $CONSUMERS/ctf.py report.csv out",
        "$DWELL export firefox $PART -o out.json && python3 -B $CONSUMERS/firefox.py report.csv exact out.json",
        "$DWELL export collapsed $PART --raw | awk '{ s += $NF } END { print s }' >sum && "
        "$DWELL report $PART --raw --limit 0 --format json | "
        "python3 -c 'import json, sys; print(sum(r[\"elapsed_exclusive_ns\"] for r in json.load(sys.stdin)[\"rows\"]))' | "
        "cmp - sum && $DWELL report $PART --by thread --format csv | tail -n +2 | wc -l",
    };
    /* a thread, and the time from its 100th call of work to its 900th */
    free(run_well("DWELL_CLOCK=monotonic $DWELL record -q $SAMPLES/threads 4 1000 && "
                  "$DWELL slowest work --limit 0 --raw --format json | python3 -c 'import json, sys\n"
                  "rows = json.load(sys.stdin)[\"rows\"]; tid = rows[0][\"tid\"]\n"
                  "times = sorted(r[\"time_ns\"] for r in rows if r[\"tid\"] == tid)\n"
                  "print(\"BEGIN=%%d END=%%d TID=%%d\" %% (times[99], times[899], tid))' >span"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well(". ./span; $DWELL report %s --raw --format csv > report.csv", parts[i]));
        char *wanted = run_well(". ./span; $DWELL report %s --by thread --format csv | tail -n +2 | wc -l", parts[i]);
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++) {
            char *threads = run_well(". ./span; PART=\"%s\" CONSUMERS=" DWELL_CONSUMERS "; %s", parts[i], formats[j]);
            cr_assert(eq(str, threads, wanted), "%s: %s", parts[i], formats[j]);
            free(threads);
        }
        free(wanted);
    }
}

/* The Firefox Profiler's own processing, also for call trees, whose paths are samples. */
Test(e2e_timeline_exports, firefox_in_the_firefox_profiler)
{
    static const char *const modes[] = { "trace", "profile", "profile", "ring=1G" };
    /* Intervals are as measured; sums need not be. */
    static const char *const raw[] = { "--raw", "", "--raw", "--raw" };
    static const char *const recorded[] = { "$SAMPLES/cplusplus", "$SAMPLES/threads 2 100", "$SAMPLES/cplusplus",
                                            "$SAMPLES/processes 2 10" };
    for (int i = 0; i < 4; i++)
        free(run_well(
            "DWELL_CLOCK=monotonic $DWELL record -q --mode=%s %s && $DWELL report %s --format csv > report.csv && "
            "$DWELL export firefox %s -o out.json && python3 -B " DWELL_CONSUMERS
            "/firefox.py report.csv exact out.json profiler",
            modes[i], recorded[i], raw[i], raw[i]));
}

static void check_refused(const char *command, const char *message)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s", command);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "%s", command);
    ran_drop(&r);
}

Test(e2e_timeline_exports, ctf_replaces_nothing)
{
    free(run_well(
        "$DWELL record -q $SAMPLES/threads 2 9000 && mkdir folder && echo mine > folder/metadata && echo mine > file"));
    check_refused("$DWELL export ctf",
                  "dwell: export ctf does not write to standard output; say where, with -o FILE\n");
    check_refused("$DWELL export ctf -o folder",
                  "dwell: folder: exists; ctf needs a new folder, choose another name\n");
    check_refused("$DWELL export ctf -o folder/",
                  "dwell: folder/: exists; ctf needs a new folder, choose another name\n");
    check_refused("$DWELL export ctf -o file", "dwell: file: exists; ctf needs a new folder, choose another name\n");
    check_refused("ln -s nothing link; $DWELL export ctf -o link",
                  "dwell: link: exists; ctf needs a new folder, choose another name\n");
    check_refused("$DWELL export ctf -o dwell.data", "dwell: dwell.data: is the session itself\n");
    check_refused("$DWELL export ctf -o none/out", "dwell: none/out: No such file or directory\n");
    check_refused("trap '' XFSZ; ulimit -f 16; $DWELL export ctf -o out", "dwell: out: File too large\n");
    free(run_well("test \"$(cat folder/metadata file | tr '\\n' ' ')\" = 'mine mine '"));
    free(run_well("$DWELL report && test \"$(ls)\" = \"$(printf 'dwell.data\\nfile\\nfolder\\nlink')\""));
}

/* The numbers are those of `dwell events` and `dwell marks`. */
Test(e2e_timeline_exports, trace_events_and_marks)
{
    need_features("events");
    free(run_well("$DWELL record -q --event '*' $PROGRAMS/events/events sizes && mv dwell.data events.data"));
    char *events = run_well("$DWELL events --format csv events.data | tail -n +2 | wc -l");
    cr_assert(gt(int, atoi(events), 5));
    static const char *const counts[] = {
        "$DWELL export chrome events.data -o out && grep -c '\"cat\":\"trace event\"' out",
        "$DWELL export perfetto events.data -o out && python3 -B " DWELL_CONSUMERS
        "/perfetto.py print out | grep -c \"^instant .*'level'\"",
        "$DWELL export firefox events.data -o out && python3 -B " DWELL_CONSUMERS
        "/firefox.py print out | grep -c '^marker .*\"level\"'",
        "$DWELL export ctf events.data -o folder && babeltrace2 folder | grep -c dwell:trace_event",
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *count = run_well("%s", counts[i]);
        cr_assert(eq(str, count, events), "%s", counts[i]);
        free(count);
    }
    free(events);
    free(run_well("$DWELL record -q $PROGRAMS/control/control marks"));
    char *marks = run_well("$DWELL marks --format csv | tail -n +2 | cut -d, -f3 | sort -n");
    cr_assert(eq(int, (int)strlen(marks) > 6, 1));
    static const char *const numbers[] = {
        "$DWELL export chrome | grep '\"cat\":\"mark\"' | sed 's/.*\"number\"://; s/}.*//'",
        "$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
        "/perfetto.py print out | sed -n \"s/^instant .*{'mark': \\([0-9]*\\)}/\\1/p\"",
        "$DWELL export firefox -o out && python3 -B " DWELL_CONSUMERS
        "/firefox.py print out | sed -n 's/^marker {\"number\": \\([0-9]*\\), .*/\\1/p'",
        "$DWELL export ctf -o marks && babeltrace2 marks | sed -n 's/.*dwell:mark: .* number = \\([0-9]*\\),.*/\\1/p'",
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *found = run_well("(%s) | sort -n", numbers[i]);
        cr_assert(eq(str, found, marks), "%s", numbers[i]);
        free(found);
    }
    free(marks);
}

Test(e2e_timeline_exports, compressed_by_the_name)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 10"));
    free(run_well("for format in chrome perfetto firefox speedscope callgrind; do $DWELL export $format -o plain && "
                  "$DWELL export "
                  "$format -o out.gz"
                  " && gzip -t out.gz && gzip -dc out.gz | cmp - plain || exit 1; done"));
    free(run_well(
        "$DWELL export pprof -o plain.pb && $DWELL export pprof -o out.pb.gz && cmp plain.pb out.pb.gz")); /* once */
    struct ran r = run("ln -s /dev/full full.gz && $DWELL export chrome -o full.gz");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: full.gz: No space left on device\n"));
    ran_drop(&r);
}

Test(e2e_timeline_exports, the_same_bytes_each_time)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 8 3000"));
    free(run_well("for format in chrome perfetto firefox; do $DWELL export $format -o first || exit 1;"
                  " for i in 1 2 3; do $DWELL export $format -o again && cmp first again || exit 1; done; done"));
    free(run_well("for i in 1 2 3; do $DWELL export ctf -o folder$i || exit 1; done; diff -r folder1 folder2 && diff "
                  "-r folder1 folder3"));
}

/* The export of a session of at least 80 MB has a few MB in memory at a time. */
Test(e2e_timeline_exports, in_bounded_memory)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 4 2500000"));
    char *size = run_well("stat -c %%s dwell.data");
    cr_assert(ge(u64, strtoull(size, NULL, 10), 80000000), "%s", size);
    free(size);
    static const char *const outputs[] = { "chrome -o /dev/null", "perfetto -o /dev/null", "firefox -o /dev/null",
                                           "ctf -o folder" };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *peak = run_well("python3 -B " DWELL_CONSUMERS "/peak.py $DWELL export %s", outputs[i]);
        cr_assert(le(u64, strtoull(peak, NULL, 10), 32000000), "%s: %s", outputs[i], peak);
        free(peak);
    }
}

/* Missing content is reported before anything is written. */
Test(e2e_timeline_exports, mode_profile)
{
    free(run_well("$DWELL record -q --mode=profile $SAMPLES/fib 5 && echo before > out"));
    static const char *const formats[] = { "chrome", "perfetto", "ctf" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct ran r = run("$DWELL export %s -o out", formats[i]);
        cr_assert(eq(int, r.status, 2));
        cr_assert(eq(
            str, r.err,
            "dwell: dwell.data: recorded in mode profile, which keeps no single calls; record in mode trace or ring, or "
            "export callgrind, pprof or speedscope\n"));
        ran_drop(&r);
    }
    free(run_well("test \"$(cat out)\" = before"));
}
