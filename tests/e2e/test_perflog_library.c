/* dwell/perflog.h: what programs log with it, to the letter; alone and recorded. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_perflog_library, .timeout = 120);

#define PROGRAM "$PROGRAMS/perflog/perflog"
#define L(text) "## PERF ## " text "\r\n"

/* Runs the program, which must find nothing wrong; returns what it printed. */
static char *runs(const char *before, const char *program, const char *arguments)
{
    char *out = run_well("rm -f log; %s %s %s", before, program, arguments);
    cr_assert(not(has(out, "wrong")), "%s %s: %s", program, arguments, out);
    return out;
}

/* Durations that the programs give themselves. */
#define GIVEN "1500000000|4294967295000|7777777000|1500000|2000000"

/* The log with its measured numbers masked: process ids P, calibration C, durations T, readings N. */
static char *masked(const char *name)
{
    return run_well("sed -E -e 's/PROCCESSID \\[0x[0-9a-f]{8}\\]/PROCCESSID [P]/' -e 's/CAL \\[[0-9]+\\]/CAL [C]/' "
                    "-e '/DUR \\[(" GIVEN ")\\]/!s/DUR \\[[0-9]+\\]/DUR [T]/' -e 's/MEM \\[[0-9]+\\]/MEM [N]/' "
                    "-e 's/CPU \\[[0-9]+\\.[0-9]{6}\\]/CPU [N]/' %s", name);
}

/* Static; for an application of that name. */
static const char *header(const char *application)
{
    static char text[4096];
    struct utsname names;
    unsigned version[3] = { 0 };
    cr_assert(eq(int, uname(&names), 0));
    sscanf(names.release, "%u.%u.%u", &version[0], &version[1], &version[2]);
    int length = snprintf(text, sizeof text,
                          L("OSVERSION=[%u.%u] BUILD=[%u]") L("PLATFORM=[%s] CPU=[%s]") L("DEVNAME=[%s]")
                              L("REGISTERED APP [%s] PROCCESSID [P]") L("RESOLUTION [1000000000] TICKS PER SECOND"),
                          version[0], version[1], version[2], names.sysname, names.machine, names.nodename, application);
    for (int i = 0; i < 10; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, L("APP [%s] CAL [C]"), application);
    return text;
}

static const char all_lines[] =
    L("REGISTERED MARKER [Test=My[Test], time=%AVG%] AS [1] BY APP [myperfapp]") L("APP [myperfapp] EVT [1] DUR [T]")
    L("REGISTERED MARKER [Bytes=4096,0.5 next] AS [0] BY APP [myperfapp]") L("APP [myperfapp] EVT [100] DUR [T]")
    L("APP [myperfapp] EVT [0] DUR [T]") L("REGISTERED MARKER [again] AS [1] BY APP [myperfapp]")
    L("APP [myperfapp] EVT [1] DUR [1500000000]") L("APP [myperfapp] EVT [1] DUR [4294967295000]")
    L("APP [myperfapp] EVT [1] ERROR")
    L("APP [myperfapp] EVT [1] ATTR [Blocks] [4294967295]") L("APP [myperfapp] EVT [1] ATTR [Rate] [0.1]")
    L("APP [myperfapp] EVT [1] ATTR [Rate] [0.3333333333333333]") L("APP [myperfapp] EVT [1] ATTR [Rate] [-1e+300]")
    L("APP [myperfapp] EVT [2] MEM [N]");

/* That `name` is `before` and then `lines` of the program's. */
static void check_log(const char *name, const char *application, const char *lines)
{
    char *log = masked(name), *wanted = NULL;
    cr_assert(ge(int, asprintf(&wanted, "%s%s", header(application), lines), 0));
    cr_assert(eq(str, log, wanted));
    free(wanted);
    free(log);
}

Test(e2e_perflog_library, every_line)
{
    static const char *const befores[] = { "DWELL_PERFLOG=log", "DWELL_PERFLOG=log LD_PRELOAD=$RUNTIME",
                                           "DWELL_PERFLOG=log $DWELL record -q",
                                           "DWELL_PERFLOG=log DWELL_CLOCK=monotonic $DWELL record -q --mode profile" };
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        free(runs(befores[i], PROGRAM, "all"));
        check_log("log", "myperfapp", all_lines);
    }
    free(runs("DWELL_PERFLOG=log", "$PROGRAMS/perflog/perflog-static", "all"));
    check_log("log", "myperfapp", all_lines);
}

Test(e2e_perflog_library, where_the_log_goes)
{
    struct utsname names;
    unsigned version[3] = { 0 };
    cr_assert(eq(int, uname(&names), 0));
    sscanf(names.release, "%u.%u.%u", &version[0], &version[1], &version[2]);
    char name[256];
    snprintf(name, sizeof name, "myperfapp_%s_%s_%u_%u_%u.log", names.sysname, names.machine, version[0], version[1], version[2]);
    free(runs("mkdir folder;", PROGRAM, "all"));
    check_log(name, "myperfapp", all_lines);
    static const char *const folders[] = { "folder", "folder/", "$PWD/folder", "./folder" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char before[64], path[300];
        snprintf(before, sizeof before, "rm -f folder/*; DWELL_PERFLOG=%s", folders[i]);
        snprintf(path, sizeof path, "folder/%s", name);
        free(runs(before, PROGRAM, "all"));
        check_log(path, "myperfapp", all_lines);
    }
    free(runs("DWELL_PERFLOG=folder/mine", PROGRAM, "all"));
    check_log("folder/mine", "myperfapp", all_lines);
    free(runs("DWELL_PERFLOG=-", PROGRAM, "all 2> standard"));
    check_log("standard", "myperfapp", all_lines);
    free(runs("DWELL_PERFLOG= ", PROGRAM, "other"));
    char *files = run_well("ls | sort");
    cr_assert(has(files, "other_"), "%s", files);
    free(files);
}

Test(e2e_perflog_library, runs_are_appended)
{
    free(run_well("export DWELL_PERFLOG=log; for i in 1 2 3; do " PROGRAM " all; done"));
    char *log = masked("log"), *once = NULL;
    cr_assert(ge(int, asprintf(&once, "%s%s", header("myperfapp"), all_lines), 0));
    const size_t length = strlen(once);
    cr_assert(eq(sz, strlen(log), 3 * length));
    for (int i = 0; i < 3; i++)
        cr_assert(eq(int, strncmp(log + (size_t)i * length, once, length), 0), "%s", log);
    free(once);
    free(log);
}

Test(e2e_perflog_library, rules)
{
    char name[32], text[513], *wanted = NULL;
    memset(name, 'n', 31);
    memset(text, 't', 512);
    name[31] = text[512] = '\0';
    free(runs("DWELL_PERFLOG=log", PROGRAM, "rules"));
    cr_assert(ge(int, asprintf(&wanted, "%s", header(name)), 0));
    char *first = wanted;
    cr_assert(ge(int, asprintf(&wanted, "%s" L("REGISTERED MARKER [%s] AS [5] BY APP [%s]") "%s", first, text, name, header("again")), 0));
    free(first);
    first = wanted;
    cr_assert(ge(int, asprintf(&wanted, "%s%s" L("APP [] EVT [3] DUR [7777777000]"), first, header("")), 0));
    free(first);
    char *log = masked("log");
    cr_assert(eq(str, log, wanted));
    free(log);
    free(wanted);
}

Test(e2e_perflog_library, pauses_accumulators_errors_and_callbacks)
{
    free(runs("DWELL_PERFLOG=log", PROGRAM, "timers"));
    char *log = masked("log");
    char *lines = strstr(log, "APP [timers] EVT");
    cr_assert(lines != NULL);
    cr_assert(eq(str, lines, "APP [timers] EVT [9] DUR [1500000]\r\n" L("APP [timers] EVT [9] DUR [T]") L("REGISTERED MARKER [nine] AS [9] BY APP [timers]")
                 L("APP [timers] EVT [9] ERROR") L("APP [timers] EVT [9] DUR [2000000]") L("APP [timers] EVT [9] DUR [T]")
                 L("APP [timers] EVT [9] DUR [T]") L("APP [timers] EVT [9] DUR [T]") L("APP [timers] EVT [9] DUR [7777777000]")));
    free(log);
}

Test(e2e_perflog_library, timers_are_each_threads_own)
{
    free(runs("DWELL_PERFLOG=log", PROGRAM, "other"));
    check_log("log", "other", L("APP [other] EVT [1] DUR [T]") L("APP [other] EVT [1] DUR [T]"));
}

/* 8 threads that log 10,000 times each: every line is there and whole. */
static void check_threads(const char *before, const char *program, int count)
{
    char arguments[32], wanted[128];
    snprintf(arguments, sizeof arguments, "threads %d", count);
    free(runs(before, program, arguments));
    char *counts = run_well("head -n 15 log | grep -c '^## PERF ## [OPDRA]'; tail -n +16 log > rest; "
                            "grep -cE '^## PERF ## APP \\[threads\\] EVT \\[[0-9]+\\] DUR \\[[0-9]+\\]\r$' rest; "
                            "grep -cE '^## PERF ## APP \\[threads\\] EVT \\[99\\]' rest; "
                            "grep -cE '^## PERF ## REGISTERED MARKER \\[thread ([1-8]) at [0-9]*0\\] AS \\[\\1\\] BY APP \\[threads\\]\r$' rest; "
                            "wc -l < rest");
    snprintf(wanted, sizeof wanted, "15\n%d\n%d\n%d\n%d\n", 8 * count, 4 * count, 8 * count / 100, 8 * count + 8 * count / 100);
    cr_assert(eq(str, counts, wanted), "%s %s", before, program);
    free(counts);
}

Test(e2e_perflog_library, many_threads)
{
    check_threads("DWELL_PERFLOG=log", PROGRAM, 10000);
}

Test(e2e_perflog_library, many_threads_that_are_recorded)
{
    check_threads("DWELL_PERFLOG=log $DWELL record -q", PROGRAM, 2000);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "pair", "calls"), 16000));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
}

Test(e2e_perflog_library, under_the_thread_sanitizer)
{
    static const char *const compilers[] = { "gcc", "clang" };
    for (int i = 0; i < 2; i++) {
        char program[64];
        snprintf(program, sizeof program, "$PROGRAMS/perflog/perflog-thread-%s", compilers[i]);
        check_threads("DWELL_PERFLOG=log", program, 500);
        free(runs("DWELL_PERFLOG=log", program, "monitor"));
        free(runs("DWELL_PERFLOG=log", program, "timers"));
    }
}

Test(e2e_perflog_library, compiles_as_cplusplus_and_old_c)
{
    static const char *const programs[] = { "cplusplus-gcc", "cplusplus-clang", "c99-gcc", "c99-clang" };
    for (int i = 0; i < 4; i++) {
        char program[64];
        snprintf(program, sizeof program, "$PROGRAMS/perflog/perflog-%s", programs[i]);
        char *out = runs("DWELL_PERFLOG=log", program, "");
        cr_assert(eq(str, out, "ends 3\n"));
        free(out);
        char *cut = run_well("grep -v 'CPU CAL' log > cut; mv cut log");
        check_log("log", "ported", L("REGISTERED MARKER [CPU: ported] AS [103] BY APP [ported]")
                  L("REGISTERED MARKER [MEM: ported] AS [102] BY APP [ported]") L("APP [ported] CPU MON [ported] FREQ [100]")
                  L("REGISTERED MARKER [Test=Copy,From=here,time=%AVG%] AS [7] BY APP [ported]")
                  L("APP [ported] EVT [7] DUR [T]") L("APP [ported] EVT [7] DUR [T]") L("APP [ported] EVT [7] DUR [T]")
                  L("APP [ported] EVT [7] ATTR [Passes] [3]") L("APP [ported] EVT [7] MEM [N]"));
        free(cut);
    }
}

/* The number behind the text's last `name`. */
static double last(const char *text, const char *name)
{
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, name)); at++)
        found = at;
    cr_assert(found != NULL, "no %s in %s", name, text);
    return strtod(found + strlen(name), NULL);
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* Every reading of the processor is a share. */
static void check_shares(const char *log, double most)
{
    for (const char *at = log; (at = strstr(at, "] CPU [")); at++) {
        const double percent = strtod(at + 7, NULL);
        cr_assert(ge(dbl, percent, 0));
        cr_assert(le(dbl, percent, most));
    }
}

Test(e2e_perflog_library, monitor)
{
    char *out = runs("DWELL_PERFLOG=log", PROGRAM, "monitor"), *log = run_well("cat log");
    cr_assert(has(log, L("REGISTERED MARKER [MEM: name] AS [102] BY APP [watched]") L("APP [watched] CPU MON [name] FREQ [1000]")
                       "## PERF ## APP [watched] EVT [1] MEM ["), "%s", log);
    cr_assert(has(log, L("REGISTERED MARKER [CPU: watched] AS [103] BY APP [watched]") "## PERF ## APP [watched] CPU CAL ["));
    cr_assert(has(log, L("REGISTERED MARKER [MEM: watched] AS [102] BY APP [watched]") L("APP [watched] CPU MON [watched] FREQ [20]")
                       "## PERF ## APP [watched] EVT [2] CPU ["));
    check_shares(log, 100);
    cr_assert(eq(int, occurrences(log, "EVT [2] CPU ["), 2));
    cr_assert(ge(int, occurrences(log, "EVT [102] MEM ["), 1));
    cr_assert(ge(int, occurrences(log, "EVT [103] CPU ["), 1));
    /* Others use memory meanwhile: not exactly what the program read before and after. */
    const char *at = strstr(log, "EVT [1] MEM [");
    const double reading = strtod(at + 13, NULL), before = last(out, "before "), after = last(out, "after ");
    const double tolerance = 256 << 20;
    cr_assert(gt(dbl, reading, (before < after ? before : after) - tolerance));
    cr_assert(lt(dbl, reading, (before > after ? before : after) + tolerance));
    free(log);
    free(out);
}

Test(e2e_perflog_library, monitor_of_the_process)
{
    char *out = runs("DWELL_PERFLOG=log", PROGRAM, "process"), *log = run_well("cat log");
    /* One thread works and one sleeps: more than one processor's time cannot be used but for the length of a reading. */
    check_shares(log, 150);
    const char *at = strstr(log, "EVT [1] MEM [");
    cr_assert(at != NULL);
    const double reading = strtod(at + 13, NULL), tolerance = 1 << 20;
    cr_assert(ge(dbl, reading, last(out, "before ") - tolerance));
    cr_assert(le(dbl, reading, last(out, "after ") + tolerance));
    cr_assert(ge(int, occurrences(log, "EVT [103] CPU ["), 1));
    cr_assert(gt(dbl, last(log, "EVT [103] CPU ["), 0)); /* it computed all the time */
    cr_assert(eq(int, occurrences(log, "EVT [102]"), 0)); /* that interval never ended */
    free(log);
    free(out);
}

Test(e2e_perflog_library, the_monitor_is_no_thread_of_the_recording)
{
    free(runs("DWELL_PERFLOG=log $DWELL record -q", PROGRAM, "monitor"));
    char *threads = run_well("$DWELL report --by thread --format csv | tail -n +2 | wc -l");
    cr_assert(eq(str, threads, "1\n"));
    free(threads);
}

static void check_forks(const char *before)
{
    char *out = runs(before, PROGRAM, "forks"), *end, *log = run_well("grep -vE 'OSVERS|PLATFORM|DEVNAME|RESOL|CAL' log | "
                                                           "sed -E '/7777777/!s/DUR \\[[0-9]+\\]/DUR [T]/'");
    const unsigned parent = (unsigned)strtoul(out, &end, 10), child = (unsigned)strtoul(end, NULL, 10);
    char wanted[1024];
    snprintf(wanted, sizeof wanted, L("REGISTERED APP [family] PROCCESSID [0x%08x]") L("REGISTERED MARKER [one] AS [1] BY APP [family]")
             L("REGISTERED MARKER [MEM: family] AS [102] BY APP [family]") L("APP [family] CPU MON [family] FREQ [3600000]")
             L("REGISTERED APP [family] PROCCESSID [0x%08x]") L("REGISTERED MARKER [one] AS [1] BY APP [family]")
             L("APP [family] EVT [1] DUR [T]") L("APP [family] EVT [2] DUR [7777777000]") L("APP [family] EVT [1] DUR [T]"), parent, child);
    cr_assert(eq(str, log, wanted));
    free(log);
    free(out);
}

Test(e2e_perflog_library, forked_children_begin_a_run_of_their_own)
{
    check_forks("DWELL_PERFLOG=log");
    check_forks("DWELL_PERFLOG=log $DWELL record -q");
}

Test(e2e_perflog_library, forks_while_threads_log)
{
    free(runs("DWELL_PERFLOG=log", PROGRAM, "storm"));
    char *counts = run_well("grep -c 'REGISTERED APP \\[storm\\]' log; grep -cE 'EVT \\[50\\] DUR \\[7777777000\\]\r$' log; "
                            "grep -cE 'EVT \\[(2|3|99)\\] DUR \\[[0-9]+\\]\r$' log; grep -vc '^## PERF ## .*\r$' log || true");
    cr_assert(eq(str, counts, "101\n100\n4000\n0\n"), "%s", counts);
    free(counts);
}

Test(e2e_perflog_library, what_cannot_be_written)
{
    static const char *const befores[] = { "DWELL_PERFLOG=/dev/full", "DWELL_PERFLOG=/proc/nothing", "DWELL_PERFLOG=not/there/",
                                           "DWELL_PERFLOG=/dev/full $DWELL record -q" };
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        char *out = runs(befores[i], PROGRAM, "failing");
        cr_assert(eq(str, out, "went on\n"));
        free(out);
    }
    char *out = runs("", PROGRAM, "unwritable");
    cr_assert(eq(str, out, "went on\n"));
    free(out);
    out = runs("DWELL_PERFLOG=-", PROGRAM, "piped"); /* and no SIGPIPE */
    cr_assert(eq(str, out, "went on\n"));
    free(out);
}

Test(e2e_perflog_library, what_can_be_written_later)
{
    free(runs("", PROGRAM, "later"));
    check_log("not/yet/log", "later", L("REGISTERED MARKER [four] AS [4] BY APP [later]") L("APP [later] EVT [4] DUR [7777777000]"));
    free(runs("DWELL_PERFLOG=log", PROGRAM, "limited"));
    char *end = run_well("tail -n 2 log");
    cr_assert(eq(str, end, "## PERF ## APP [limi\r\n" L("APP [limited] EVT [1] DUR [7777777000]")));
    free(end);
}

Test(e2e_perflog_library, programs_that_close_all_descriptors)
{
    free(runs("DWELL_PERFLOG=log", PROGRAM, "closes"));
    check_log("log", "closes", L("APP [closes] EVT [1] DUR [7777777000]") L("APP [closes] EVT [1] DUR [1500000000]"));
    char *size = run_well("stat -c %%s own");
    cr_assert(eq(str, size, "0\n"));
    free(size);
}

/* The library does not stand before a program's own functions of these names. */
Test(e2e_perflog_library, has_names_of_its_own)
{
    char *names = run_well("nm -D --defined-only $RUNTIME | grep -c ' Perf_' || true; nm -D --defined-only $RUNTIME | grep -c dwell_perflog_");
    cr_assert(eq(str, names, "0\n20\n"));
    free(names);
}

Test(e2e_perflog_library, sample)
{
    free(run_well("DWELL_PERFLOG=log $SAMPLES/perflog 3 100"));
    check_log("log", "perflog-sample",
              L("REGISTERED MARKER [Test=WriteFile,Bytes=100,Bps=%Bytes%/%AVG%] AS [0] BY APP [perflog-sample]")
              L("REGISTERED MARKER [Test=ReadFile,Bytes=100,Bps=%Bytes%/%AVG%] AS [1] BY APP [perflog-sample]")
              L("APP [perflog-sample] EVT [0] DUR [T]") L("APP [perflog-sample] EVT [1] DUR [T]")
              L("APP [perflog-sample] EVT [0] DUR [T]") L("APP [perflog-sample] EVT [1] DUR [T]")
              L("APP [perflog-sample] EVT [0] DUR [T]") L("APP [perflog-sample] EVT [1] DUR [T]")
              L("APP [perflog-sample] EVT [0] ATTR [Times] [3]")
              L("REGISTERED MARKER [MEM: perflog-sample] AS [2] BY APP [perflog-sample]") L("APP [perflog-sample] EVT [2] MEM [N]"));
}
