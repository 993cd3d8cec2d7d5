/* dwell/perflog.h: what programs log with it, to the letter, alone and recorded. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_perflog_library, .timeout = 300);

#define PROGRAM "$PROGRAMS/perflog/perflog"

/* Durations that the programs supply themselves. */
#define GIVEN "1500000000|4294967295000|7777777000|1500000|2000000"

/* Runs the program, which must find no error. Returns its output. */
static char *perflog_run(const char *before, const char *program, const char *arguments)
{
    char *out = run_well("rm -f log; %s %s %s", before, program, arguments);
    cr_assert(not(has(out, "wrong")), "%s %s: %s", program, arguments, out);
    return out;
}

/* Removes what each line begins and ends with. */
static void perflog_strip(char *log)
{
    static const char tag[] = "## PERF ## ";
    char *to = log;
    for (char *line = log, *end; *line; line = end + 2) {
        end = strstr(line, "\r\n");
        cr_assert(end != NULL, "%s", line);
        cr_assert(eq(int, strncmp(line, tag, strlen(tag)), 0), "%s", line);
        cr_assert(memchr(line, '\n', (size_t)(end - line)) == NULL, "%s", line);
        line += strlen(tag);
        memmove(to, line, (size_t)(end - line));
        to += end - line;
        *to++ = '\n';
    }
    *to = '\0';
}

/* The lines of a log with its measured numbers masked: process ids P, calibration C, durations T, readings N. */
static char *perflog_logged(const char *name)
{
    char *log =
        run_well("sed -E -e 's/PROCCESSID \\[0x[0-9a-f]{8}\\]/PROCCESSID [P]/' -e 's/CAL \\[[0-9]+\\]/CAL [C]/' "
                 "-e '/DUR \\[(" GIVEN ")\\]/!s/DUR \\[[0-9]+\\]/DUR [T]/' -e 's/MEM \\[[0-9]+\\]/MEM [N]/' "
                 "-e 's/CPU \\[[0-9]+\\.[0-9]{6}\\]/CPU [N]/' %s",
                 name);
    perflog_strip(log);
    return log;
}

static void find_names(struct utsname *names, unsigned version[3])
{
    cr_assert(eq(int, uname(names), 0));
    cr_assert(eq(int, sscanf(names->release, "%u.%u.%u", &version[0], &version[1], &version[2]), 3));
}

/* The header for an application of that name; a static string. */
static const char *perflog_library_header(const char *application)
{
    static char text[4096];
    struct utsname names;
    unsigned version[3];
    find_names(&names, version);
    int length =
        snprintf(text, sizeof text,
                 "OSVERSION=[%u.%u] BUILD=[%u]\n"
                 "PLATFORM=[%s] CPU=[%s]\n"
                 "DEVNAME=[%s]\n"
                 "REGISTERED APP [%s] PROCCESSID [P]\n"
                 "RESOLUTION [1000000000] TICKS PER SECOND\n",
                 version[0], version[1], version[2], names.sysname, names.machine, names.nodename, application);
    for (int i = 0; i < 10; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "APP [%s] CAL [C]\n", application);
    return text;
}

/* The log must be a header and those lines. */
static void check_log(const char *name, const char *application, const char *lines)
{
    char *log = perflog_logged(name), *wanted = NULL;
    cr_assert(ge(int, asprintf(&wanted, "%s%s", perflog_library_header(application), lines), 0));
    cr_assert(eq(str, log, wanted));
    free(wanted);
    free(log);
}

static const char all_lines[] = "REGISTERED MARKER [Test=My[Test], time=%AVG%] AS [1] BY APP [myperfapp]\n"
                                "APP [myperfapp] EVT [1] DUR [T]\n"
                                "REGISTERED MARKER [Bytes=4096,0.5 next] AS [0] BY APP [myperfapp]\n"
                                "APP [myperfapp] EVT [100] DUR [T]\n"
                                "APP [myperfapp] EVT [0] DUR [T]\n"
                                "REGISTERED MARKER [again] AS [1] BY APP [myperfapp]\n"
                                "APP [myperfapp] EVT [1] DUR [1500000000]\n"
                                "APP [myperfapp] EVT [1] DUR [4294967295000]\n"
                                "APP [myperfapp] EVT [1] ERROR\n"
                                "APP [myperfapp] EVT [1] ATTR [Blocks] [4294967295]\n"
                                "APP [myperfapp] EVT [1] ATTR [Rate] [0.1]\n"
                                "APP [myperfapp] EVT [1] ATTR [Rate] [0.3333333333333333]\n"
                                "APP [myperfapp] EVT [1] ATTR [Rate] [-1e+300]\n"
                                "APP [myperfapp] EVT [2] MEM [N]\n";

Test(e2e_perflog_library, every_line)
{
    static const char *const befores[] = { "", "LD_PRELOAD=$RUNTIME", "$DWELL record -q",
                                           "DWELL_CLOCK=monotonic $DWELL record -q --mode profile" };
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        char before[128];
        snprintf(before, sizeof before, "DWELL_PERFLOG=log %s", befores[i]);
        free(perflog_run(before, PROGRAM, "all"));
        check_log("log", "myperfapp", all_lines);
    }
    free(perflog_run("DWELL_PERFLOG=log", "$PROGRAMS/perflog/perflog-static", "all"));
    check_log("log", "myperfapp", all_lines);
}

/* The log is the same in a locale in which the program's own decimals have a comma. */
Test(e2e_perflog_library, numbers_are_the_same_in_every_locale)
{
    free(run_well("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8"));
    char *out = perflog_run("DWELL_PERFLOG=log LOCPATH=$PWD LC_ALL=de_DE.UTF-8", PROGRAM, "locale");
    cr_assert(eq(str, out, "0,5\n0,5\n"));
    free(out);
    check_log("log", "myperfapp", all_lines);
}

Test(e2e_perflog_library, where_the_log_goes)
{
    struct utsname names;
    unsigned version[3];
    find_names(&names, version);
    char name[256];
    snprintf(name, sizeof name, "_%s_%s_%u_%u_%u.log", names.sysname, names.machine, version[0], version[1],
             version[2]);
    char named[300];
    snprintf(named, sizeof named, "myperfapp%s", name);
    free(perflog_run("mkdir folder;", PROGRAM, "all"));
    check_log(named, "myperfapp", all_lines);
    static const char *const folders[] = { "folder", "folder/", "$PWD/folder", "./folder" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char before[64], path[320];
        snprintf(before, sizeof before, "rm -f folder/*; DWELL_PERFLOG=%s", folders[i]);
        snprintf(path, sizeof path, "folder/%s", named);
        free(perflog_run(before, PROGRAM, "all"));
        check_log(path, "myperfapp", all_lines);
    }
    free(perflog_run("DWELL_PERFLOG=folder/mine", PROGRAM, "all"));
    check_log("folder/mine", "myperfapp", all_lines);
    free(perflog_run("DWELL_PERFLOG=-", PROGRAM, "all 2> standard"));
    check_log("standard", "myperfapp", all_lines);
    free(perflog_run("DWELL_PERFLOG=", PROGRAM, "other"));
    snprintf(named, sizeof named, "a_b%s", name);
    check_log(named, "a/b", "APP [a/b] EVT [1] DUR [T]\nAPP [a/b] EVT [1] DUR [T]\n");
}

Test(e2e_perflog_library, runs_are_appended)
{
    free(run_well("export DWELL_PERFLOG=log; for i in 1 2 3; do " PROGRAM " all; done"));
    char *log = perflog_logged("log"), *wanted = NULL;
    const char *first = perflog_library_header("myperfapp");
    cr_assert(ge(int, asprintf(&wanted, "%s%s%s%s%s%s", first, all_lines, first, all_lines, first, all_lines), 0));
    cr_assert(eq(str, log, wanted));
    free(wanted);
    free(log);
}

Test(e2e_perflog_library, order_of_calls_ids_and_strings)
{
    char name[32], text[513], wanted[8192];
    memset(name, 'n', 31);
    memset(text, 't', 512);
    name[31] = text[512] = '\0';
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "rules"));
    int length = snprintf(wanted, sizeof wanted, "%s", perflog_library_header(name));
    length += snprintf(wanted + length, sizeof wanted - (size_t)length, "REGISTERED MARKER [%s] AS [5] BY APP [%s]\n%s",
                       text, name, perflog_library_header("again"));
    snprintf(wanted + length, sizeof wanted - (size_t)length, "%sAPP [] EVT [3] DUR [7777777000]\n",
             perflog_library_header(""));
    char *log = perflog_logged("log");
    cr_assert(eq(str, log, wanted));
    free(log);
}

Test(e2e_perflog_library, pauses_accumulators_errors_and_callbacks)
{
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "timers"));
    check_log("log", "timers",
              "APP [timers] EVT [9] DUR [1500000]\n"
              "APP [timers] EVT [9] DUR [T]\n"
              "REGISTERED MARKER [nine] AS [9] BY APP [timers]\n"
              "APP [timers] EVT [9] ERROR\n"
              "APP [timers] EVT [9] DUR [2000000]\n"
              "APP [timers] EVT [9] DUR [T]\n"
              "APP [timers] EVT [9] DUR [T]\n"
              "APP [timers] EVT [9] DUR [T]\n"
              "APP [timers] EVT [9] DUR [7777777000]\n");
}

Test(e2e_perflog_library, timers_are_each_threads_own)
{
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "other"));
    check_log("log", "a/b", "APP [a/b] EVT [1] DUR [T]\nAPP [a/b] EVT [1] DUR [T]\n");
}

/* Eight threads that each log `count` times. Every line is present and complete. */
static void check_threads(const char *before, const char *program, int count)
{
    char arguments[32], wanted[128];
    snprintf(arguments, sizeof arguments, "threads %d", count);
    free(perflog_run(before, program, arguments));
    char *counts =
        run_well("tail -n +16 log > rest; count() { grep -cE \"^## PERF ## $1\r\\$\" rest; }\n"
                 "count 'APP \\[threads\\] EVT \\[[0-9]+\\] DUR \\[[0-9]+\\]'\n"
                 "count 'APP \\[threads\\] EVT \\[99\\] DUR \\[[0-9]+\\]'\n"
                 "count 'REGISTERED MARKER \\[thread ([1-8]) at [0-9]*0\\] AS \\[\\1\\] BY APP \\[threads\\]'\n"
                 "wc -l < rest");
    snprintf(wanted, sizeof wanted, "%d\n%d\n%d\n%d\n", 8 * count, 4 * count, 8 * count / 100,
             8 * count + 8 * count / 100);
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
        free(perflog_run("DWELL_PERFLOG=log", program, "monitor"));
        free(perflog_run("DWELL_PERFLOG=log", program, "timers"));
    }
}

Test(e2e_perflog_library, compiles_as_cplusplus_and_old_c)
{
    static const char *const programs[] = { "cplusplus-gcc", "cplusplus-clang", "c99-gcc", "c99-clang" };
    for (int i = 0; i < 4; i++) {
        char program[64];
        snprintf(program, sizeof program, "$PROGRAMS/perflog/perflog-%s", programs[i]);
        char *out = perflog_run("DWELL_PERFLOG=log", program, "");
        cr_assert(eq(str, out, "ends 3\n"));
        free(out);
        check_log("log", "ported",
                  "REGISTERED MARKER [CPU: ported] AS [103] BY APP [ported]\n"
                  "APP [ported] CPU CAL [C]\n"
                  "REGISTERED MARKER [MEM: ported] AS [102] BY APP [ported]\n"
                  "APP [ported] CPU MON [ported] FREQ [100]\n"
                  "REGISTERED MARKER [Test=Copy,From=here,time=%AVG%] AS [7] BY APP [ported]\n"
                  "APP [ported] EVT [7] DUR [T]\n"
                  "APP [ported] EVT [7] DUR [T]\n"
                  "APP [ported] EVT [7] DUR [T]\n"
                  "APP [ported] EVT [7] ATTR [Passes] [3]\n"
                  "APP [ported] EVT [7] MEM [N]\n");
    }
}

/* The number after the text's last `name`. */
static double perflog_last_number(const char *text, const char *name)
{
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, name)); at++)
        found = at;
    cr_assert(found != NULL, "no %s in %s", name, text);
    return strtod(found + strlen(name), NULL);
}

static int perflog_count_occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void check_shares(const char *log, double most)
{
    for (const char *at = log; (at = strstr(at, "] CPU [")); at++) {
        const double percent = strtod(at + strlen("] CPU ["), NULL);
        cr_assert(ge(dbl, percent, 0));
        cr_assert(le(dbl, percent, most));
    }
}

/* The first reading of marker 1 is near the program's own reading. Other processes use memory, too. */
static void check_memory(const char *log, const char *out, double tolerance)
{
    const char *at = strstr(log, "EVT [1] MEM [");
    cr_assert(at != NULL, "%s", log);
    const double reading = strtod(at + strlen("EVT [1] MEM ["), NULL);
    const double before = perflog_last_number(out, "before "), after = perflog_last_number(out, "after ");
    cr_assert(gt(dbl, reading, (before < after ? before : after) - tolerance));
    cr_assert(lt(dbl, reading, (before > after ? before : after) + tolerance));
}

Test(e2e_perflog_library, monitor)
{
    char *out = perflog_run("DWELL_PERFLOG=log", PROGRAM, "monitor"), *log = run_well("cat log");
    perflog_strip(log);
    cr_assert(has(log, "CAL ["), "%s", log);
    cr_assert(has(log, "\nREGISTERED MARKER [MEM: name] AS [102] BY APP [watched]\n"
                       "APP [watched] CPU MON [name] FREQ [1000]\n"
                       "APP [watched] EVT [1] MEM ["),
              "%s", log);
    cr_assert(has(log, "\nREGISTERED MARKER [CPU: watched] AS [103] BY APP [watched]\n"
                       "APP [watched] CPU CAL ["),
              "%s", log);
    cr_assert(has(log, "]\nREGISTERED MARKER [MEM: watched] AS [102] BY APP [watched]\n"
                       "APP [watched] CPU MON [watched] FREQ [20]\n"),
              "%s", log);
    check_shares(log, 100);
    check_memory(log, out, 256 << 20);
    cr_assert(eq(int, perflog_count_occurrences(log, "EVT [2] CPU ["), 2));
    cr_assert(ge(int, perflog_count_occurrences(log, "EVT [102] MEM ["), 1));
    cr_assert(ge(int, perflog_count_occurrences(log, "EVT [103] CPU ["), 1));
    free(log);
    free(out);
}

Test(e2e_perflog_library, monitor_of_the_process)
{
    char *out = perflog_run("DWELL_PERFLOG=log", PROGRAM, "process"), *log = run_well("cat log");
    /* One thread computes and the monitor's thread reads: that is hardly more than one processor. */
    check_shares(log, 150);
    check_memory(log, out, 1 << 20);
    cr_assert(ge(int, perflog_count_occurrences(log, "EVT [103] CPU ["), 1));
    cr_assert(gt(dbl, perflog_last_number(log, "EVT [103] CPU ["), 0));
    cr_assert(eq(int, perflog_count_occurrences(log, "EVT [102]"), 0)); /* that interval was an hour */
    cr_assert(eq(int, perflog_count_occurrences(log, "REGISTERED APP"),
                 1)); /* none for a call after the end that logs nothing */
    free(log);
    free(out);
}

Test(e2e_perflog_library, the_monitor_is_no_thread_of_the_recording)
{
    free(perflog_run("DWELL_PERFLOG=log $DWELL record -q", PROGRAM, "monitor"));
    char *threads = run_well("$DWELL report --by thread --format csv | tail -n +2 | wc -l");
    cr_assert(eq(str, threads, "1\n"));
    free(threads);
}

static void check_forks(const char *before)
{
    char *out = perflog_run(before, PROGRAM, "forks"), *end, wanted[1024];
    char *log = run_well("grep -vE 'OSVERS|PLATFORM|DEVNAME|RESOL|CAL' log | sed '/7777777/!s/DUR \\[.*\\]/DUR [T]/'");
    const unsigned parent = (unsigned)strtoul(out, &end, 10), child = (unsigned)strtoul(end, NULL, 10);
    snprintf(wanted, sizeof wanted,
             "REGISTERED APP [family] PROCCESSID [0x%08x]\n"
             "REGISTERED MARKER [one] AS [1] BY APP [family]\n"
             "REGISTERED MARKER [MEM: family] AS [102] BY APP [family]\n"
             "APP [family] CPU MON [family] FREQ [3600000]\n"
             "REGISTERED APP [family] PROCCESSID [0x%08x]\n"
             "REGISTERED MARKER [one] AS [1] BY APP [family]\n"
             "APP [family] EVT [1] DUR [T]\n"
             "APP [family] EVT [2] DUR [7777777000]\n"
             "APP [family] EVT [1] DUR [T]\n",
             parent, child);
    perflog_strip(log);
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
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "storm"));
    char *counts = run_well("count() { grep -cE \"^## PERF ## $1\r\\$\" log; }\n"
                            "count 'REGISTERED APP \\[storm\\] PROCCESSID .*'\n"
                            "count 'APP \\[storm\\] EVT \\[50\\] DUR \\[7777777000\\]'\n"
                            "count 'APP \\[storm\\] EVT \\[(2|3|99)\\] DUR \\[[0-9]+\\]'");
    cr_assert(eq(str, counts, "101\n100\n4000\n"));
    free(counts);
    char *log = perflog_logged("log"); /* no line that is not whole */
    free(log);
}

Test(e2e_perflog_library, logs_that_cannot_be_written)
{
    static const char *const befores[] = { "DWELL_PERFLOG=/dev/full", "DWELL_PERFLOG=/proc/nothing",
                                           "DWELL_PERFLOG=not/there/", "DWELL_PERFLOG=/dev/full $DWELL record -q" };
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        char *out = perflog_run(befores[i], PROGRAM, "failing");
        cr_assert(eq(str, out, "went on\n"));
        free(out);
    }
    char *out = perflog_run("", PROGRAM, "unwritable");
    cr_assert(eq(str, out, "went on\n"));
    free(out);
    out = perflog_run("DWELL_PERFLOG=-", PROGRAM, "piped"); /* and no SIGPIPE */
    cr_assert(eq(str, out, "went on\n"));
    free(out);
}

Test(e2e_perflog_library, logs_that_can_be_written_later)
{
    free(perflog_run("", PROGRAM, "later"));
    check_log("not/yet/log", "later",
              "REGISTERED MARKER [four] AS [4] BY APP [later]\n"
              "APP [later] EVT [4] DUR [7777777000]\n");
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "limited"));
    char *end = run_well("tail -n 2 log");
    cr_assert(eq(str, end, "## PERF ## APP [limi\r\n## PERF ## APP [limited] EVT [1] DUR [7777777000]\r\n"));
    free(end);
}

Test(e2e_perflog_library, programs_that_close_all_descriptors)
{
    free(perflog_run("DWELL_PERFLOG=log", PROGRAM, "closes"));
    check_log("log", "closes", "APP [closes] EVT [1] DUR [7777777000]\nAPP [closes] EVT [1] DUR [1500000000]\n");
    char *size = run_well("stat -c %%s own");
    cr_assert(eq(str, size, "0\n"));
    free(size);
}

/* The library therefore does not replace a program's own functions of these names. */
Test(e2e_perflog_library, a_programs_own_functions_of_the_same_names)
{
    char *names = run_well("nm -D --defined-only $RUNTIME > names; grep -c ' Perf_' names || true; "
                           "grep -c ' dwell_perflog_' names");
    cr_assert(eq(str, names, "0\n20\n"));
    free(names);
}

Test(e2e_perflog_library, sample)
{
    free(run_well("DWELL_PERFLOG=log $SAMPLES/perflog 2 100"));
    check_log("log", "perflog-sample",
              "REGISTERED MARKER [Test=WriteFile,Bytes=100,Bps=%Bytes%/%AVG%] AS [0] BY APP [perflog-sample]\n"
              "REGISTERED MARKER [Test=ReadFile,Bytes=100,Bps=%Bytes%/%AVG%] AS [1] BY APP [perflog-sample]\n"
              "APP [perflog-sample] EVT [0] DUR [T]\n"
              "APP [perflog-sample] EVT [1] DUR [T]\n"
              "APP [perflog-sample] EVT [0] DUR [T]\n"
              "APP [perflog-sample] EVT [1] DUR [T]\n"
              "APP [perflog-sample] EVT [0] ATTR [Times] [2]\n"
              "REGISTERED MARKER [MEM: perflog-sample] AS [2] BY APP [perflog-sample]\n"
              "APP [perflog-sample] EVT [2] MEM [N]\n");
}

/* The critical path within a timer is that of its longest range. */
static void timers_check_longest(void)
{
    need_features("events");
    char *longest = run_well(
        "$DWELL events --pairs --format csv | tr -d '\\r' | grep Test=Write | cut -d, -f 5 | sort -n | tail -1");
    char *critical = run_well(
        "$DWELL critical --within marker:Test=Write --format json | sed -n 's/^.*\"length_ns\": \\([0-9]*\\).*/\\1/p'");
    char *late = run_well("$DWELL critical --within marker:Test=Write --to 1ns 2>&1 || true");
    cr_assert(eq(str, critical, longest));
    cr_assert(has(late, "no such activity between --from and --to"), "%s", late);
    free(longest);
    free(critical);
    free(late);
}

/* Recorded, the timers are in the session: as marks, as events, and as ranges of time. */
Test(e2e_perflog_library, timers_are_activities_of_the_session)
{
    static const char source[] =
        "#include <dwell/perflog.h>\n"
        "static void __attribute__((noinline)) inside(void) { }\n"
        "static void __attribute__((noinline)) outside(void) { }\n"
        "int main(void) { Perf_SetTestName(\"timed\"); Perf_RegisterMark(1, \"Test=Write,Bytes=%d\", 7);\n"
        "for (int i = 0; i < 5; i++) { outside(); Perf_MarkBegin(1); inside(); Perf_MarkEnd(1); }\n"
        "Perf_MarkBegin(2); Perf_MarkError(2); Perf_MarkBegin(2); Perf_MarkAccumulator(2); Perf_MarkEnd(2); }\n";
    FILE *file = fopen(test_path("timed.c"), "w");
    fputs(source, file);
    fclose(file);
    free(run_well("cc -finstrument-functions timed.c -I" DWELL_GOLDEN "/../../include -o timed " DWELL_RUNTIME
                  " -Wl,-rpath,$(dirname " DWELL_RUNTIME ")"));
    for (int mode = 0; mode < 2; mode++) {
        free(run_well("DWELL_PERFLOG=log $DWELL record -q --mode %s ./timed", mode ? "ring=1M" : "trace"));
        char *marks = run_well(
            "$DWELL marks --format csv | tr -d '\\r' | cut -d, -f 3,8- | sed 's/,[0-9]*,[^,]*$//' | sort | uniq -c");
        cr_assert(has(marks, "      5 1,\"Test=Write,Bytes=7\"\n"), "%s", marks);
        cr_assert(has(marks, "      1 2,2\n"), "%s", marks);
        char *report =
            run_well("$DWELL report --within marker:Test=Write --filter 'calls>0' --columns calls --format csv");
        cr_assert(has(report, "inside"), "%s", report);
        cr_assert(not(has(report, "outside")), "%s", report);
        free(report);
        timers_check_longest();
        free(marks);
    }
    free(run_well("DWELL_PERFLOG=log $DWELL record -q --event perflog:off ./timed"));
    struct ran r = run("$DWELL report --within marker:Test=Write");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "--within: no 'marker:Test=Write' that began and ended"), "%s", r.err);
    ran_drop(&r);
}
