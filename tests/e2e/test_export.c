/* Exports of real recordings, read by readers that share no code with dwell, and compared with the reports. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_export, .timeout = 300);

/* ---- PerfLog ---- */

enum { MAX_MARKERS = 4000 };

struct marker {
    char name[600];
    uint64_t count, ticks; /* with the calls that have no line */
    uint64_t calls;        /* as an attribute says */
};

struct perflog {
    uint64_t resolution;
    struct marker markers[MAX_MARKERS]; /* merged by name */
    int count, registered /* before the attributes */, by_number[101];
    bool attributes;
    uint64_t cpu_lines, memory_lines, incomplete;
};

static struct marker *marker_named(struct perflog *log, const char *name, size_t length)
{
    int i = 0;
    while (i < log->count && (strncmp(log->markers[i].name, name, length) != 0 || log->markers[i].name[length]))
        i++;
    if (i == log->count) {
        cr_assert(lt(int, log->count, MAX_MARKERS));
        memcpy(log->markers[log->count++].name, name, length);
    }
    return &log->markers[i];
}

static void read_line(struct perflog *log, const char *line)
{
    unsigned number;
    uint64_t ticks;
    double percent;
    char key[32];
    const char *registered = strstr(line, "REGISTERED MARKER ["), *end = strstr(line, "] AS [");
    cr_assert(strncmp(line, "## PERF ## ", 11) == 0, "%s", line);
    if (registered && end) {
        registered += strlen("REGISTERED MARKER [");
        while (strstr(end + 1, "] AS ["))
            end = strstr(end + 1, "] AS [");
        cr_assert(eq(int, sscanf(end, "] AS [%u] BY APP [", &number), 1), "%s", line);
        if (number <= 100)
            log->by_number[number] = (int)(marker_named(log, registered, (size_t)(end - registered)) - log->markers);
        log->registered += !log->attributes;
    } else if (sscanf(line, "## PERF ## APP [%*[^]]] EVT [%u] DUR [%" SCNu64 "]", &number, &ticks) == 2) {
        log->markers[log->by_number[number]].count++;
        log->markers[log->by_number[number]].ticks += ticks;
    } else if (sscanf(line, "## PERF ## APP [%*[^]]] EVT [%u] ATTR [%31[^]]] [%" SCNu64 "]", &number, key, &ticks) ==
               3) {
        struct marker *m = &log->markers[log->by_number[number]];
        log->attributes = true;
        if (strcmp(key, "calls") == 0)
            m->calls += ticks;
        else if (strcmp(key, "incomplete_calls") == 0)
            m->count += ticks, log->incomplete += ticks;
        else if (strcmp(key, "incomplete_ticks") == 0)
            m->ticks += ticks;
    } else if (sscanf(line, "## PERF ## APP [%*[^]]] EVT [103] CPU [%lf]", &percent) == 1) {
        log->cpu_lines++;
    } else if (sscanf(line, "## PERF ## APP [%*[^]]] EVT [102] MEM [%" SCNu64 "]", &ticks) == 1) {
        log->memory_lines++;
    } else {
        sscanf(line, "## PERF ## RESOLUTION [%" SCNu64 "] TICKS PER SECOND", &log->resolution);
    }
}

static struct perflog *export_read_log(const char *arguments)
{
    need_features("perflog");
    struct perflog *log = calloc(1, sizeof *log);
    char *text = run_well("$DWELL export perflog %s", arguments);
    for (char *next, *line = text; *line; line = next) {
        next = strchr(line, '\n') + 1;
        cr_assert(eq(chr, next[-2], '\r'));
        next[-2] = '\0';
        read_line(log, line);
    }
    free(text);
    cr_assert(ne(u64, log->resolution, 0));
    return log;
}

/* Compares markers by name with the report's functions. */
static void check_against_report(struct perflog *log, bool counts)
{
    struct report *r = report_of("");
    for (int i = 0; i < log->count; i++) {
        const struct marker *m = &log->markers[i];
        const uint64_t calls = report_sum(r, "function", m->name, "calls");
        cr_assert(eq(u64, m->calls, calls), "%s", m->name);
        if (counts)
            cr_assert(eq(u64, m->count, calls), "%s", m->name);
        cr_assert(eq(u64, (uint64_t)(((__uint128_t)m->ticks * 1000000000 + log->resolution / 2) / log->resolution),
                     report_sum(r, "function", m->name, "elapsed_inclusive_ns")),
                  "%s", m->name);
    }
    report_drop(r);
}

static void check_recording(const char *how)
{
    free(run_well("$DWELL record -q %s", how));
    struct perflog *log = export_read_log("");
    char *rows = run_well("$DWELL report --format csv | wc -l");
    cr_assert(eq(int, log->count, atoi(rows) - 1), "%s", how);
    check_against_report(log, true);
    free(log);
    log = export_read_log("--aggregate");
    cr_assert(eq(int, log->count, atoi(rows) - 1), "%s", how);
    check_against_report(log, false);
    free(log);
    free(rows);
}

Test(e2e_export, perflog_has_the_reports_calls_and_times)
{
    check_recording("$SAMPLES/fib 20");
    check_recording("$SAMPLES/threads 5 200");
    check_recording("$SAMPLES/sleeper");
    check_recording("$PROGRAMS/jumps-O2");
    check_recording("$PROGRAMS/deep 3000");
    check_recording("$PROGRAMS/frames/exceptions-gcc-O2");
    check_recording("$PROGRAMS/stacks/stacks");
    check_recording("--only 'fib' $SAMPLES/fib 20");
    check_recording("$SAMPLES/modules/modules $SAMPLES/modules/libsample-plugin.so 10");
}

/* `dwell perflog` reads from the log the same values as the report's. */
Test(e2e_export, perflog_read_back)
{
    need_features("perflog");
    static const char *const programs[] = { "$SAMPLES/fib 18", "$SAMPLES/threads 5 200", "$SAMPLES/sleeper 4 50 2" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        free(run_well("$DWELL record -q %s", programs[i]));
        char *log = run_well("$DWELL export perflog -o out.log && $DWELL perflog out.log --format csv | tr -d '\\r' |"
                             " awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
                             " { print $at[\"marker\"], $at[\"count\"], $at[\"total_ns\"] }' | sort");
        char *report = run_well(
            "$DWELL report --format csv | tr -d '\\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
            " { print $at[\"function\"], $at[\"calls\"], $at[\"elapsed_inclusive_ns\"] }' | sort");
        cr_assert(eq(str, log, report), "%s", programs[i]);
        free(log);
        free(report);
    }
}

Test(e2e_export, perflog_of_more_functions_than_numbers)
{
    char *source = run_well(
        "for i in $(seq 1 250); do echo \"void f$i(void) { }\"; done > many.c; echo 'int main(void) { for (int i = 0; i < 3; i++) {' "
        ">> many.c; for i in $(seq 1 250); do echo \"f$i();\"; done >> many.c; echo '} }' >> many.c; "
        "cc -finstrument-functions many.c -o many");
    free(source);
    check_recording("./many");
    struct perflog *log = export_read_log("");
    cr_assert(eq(int, log->count, 251));
    cr_assert(eq(int, log->registered, 751)); /* again in each round, because its number was reused */
    free(log);
}

Test(e2e_export, perflog_of_a_recording_with_samples)
{
    free(run_well("$DWELL record -q --monitor=5ms $SAMPLES/sleeper"));
    struct perflog *log = export_read_log("");
    cr_assert(ge(u64, log->memory_lines, 3));
    cr_assert(eq(u64, log->cpu_lines, log->memory_lines - 1)); /* the first has no predecessor to compare with */
    check_against_report(log, true);
    free(log);
    struct ran r = run("$DWELL record --monitor=0ms $SAMPLES/sleeper");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.err, "dwell: --monitor: '0ms' is not between 1ms and an hour\n"));
    ran_drop(&r);
}

/* Waits have the most elapsed time, and no line. */
Test(e2e_export, perflog_of_the_hottest_functions)
{
    free(run_well("$DWELL record -q $SAMPLES/sleeper 4 2000 20"));
    struct perflog *log = export_read_log("--limit 1");
    cr_assert(eq(int, log->count, 1));
    cr_assert(eq(str, log->markers[0].name, "churn"));
    free(log);
}

/* Calls that were open when the program was killed have no duration. */
Test(e2e_export, perflog_of_open_calls)
{
    need_features("perflog");
    struct ran r = run("$DWELL record -q $PROGRAMS/control/control killed");
    ran_drop(&r);
    r = run("$DWELL record -q sh -c '$SAMPLES/sleeper 100000 50 2 & until $DWELL report --format csv 2>/dev/null | "
            "grep -q ^churn; do sleep 0.1; done; kill -9 $!'");
    ran_drop(&r);
    struct perflog *log = export_read_log("");
    char *lines = run_well("$DWELL export perflog --filter main | grep -c DUR || true");
    cr_assert(eq(str, lines, "0\n"));
    free(lines);
    cr_assert(ge(u64, log->incomplete, 1));
    check_against_report(log, true);
    free(log);
}

/* Calls that were only counted are in the attributes. */
Test(e2e_export, perflog_of_counted_calls)
{
    need_features("perflog");
    free(run_well("$DWELL record -q --level counted=churn $SAMPLES/sleeper 4 500 2"));
    char *log = run_well("$DWELL export perflog --filter churn | tr -d '\\r' | grep -v -e VERSION -e CPU -e RESOLUTION "
                         "-e NAME -e 'REGISTERED APP'");
    cr_assert(eq(str, log,
                 "## PERF ## REGISTERED MARKER [churn] AS [1] BY APP [sleeper]\n"
                 "## PERF ## APP [sleeper] EVT [1] ATTR [calls] [2000]\n"
                 "## PERF ## APP [sleeper] EVT [1] ATTR [timed_calls] [0]\n"));
    free(log);
}

/* The program's own markers are in the log, each before the end of the call that ended it. */
Test(e2e_export, perflog_of_own_markers)
{
    need_features("perflog");
    static const char source[] = "#include \"dwell/perflog.h\"\n"
                                 "#define FUNCTION static void __attribute__((noinline))\n"
                                 "FUNCTION good(void) { Perf_MarkBegin(7); Perf_MarkEnd(7); }\n"
                                 "FUNCTION bad(void) { Perf_MarkBegin(7); Perf_MarkError(7); }\n"
                                 "int main(void) { Perf_SetTestName(\"own\"); Perf_RegisterMark(7, \"Test=Write\");\n"
                                 "good(); bad(); good(); }\n";
    FILE *file = fopen(test_path("own.c"), "w");
    fputs(source, file);
    fclose(file);
    free(run_well("cc -O1 -finstrument-functions own.c -I" DWELL_GOLDEN "/../../include -o own " DWELL_RUNTIME
                  " -Wl,-rpath,$(dirname " DWELL_RUNTIME ") && DWELL_PERFLOG=log $DWELL record -q ./own"));
    char *log = run_well("$DWELL export perflog --no-merge | tr -d '\\r' | grep EVT | grep -v ATTR |"
                         " sed 's/## PERF ## APP .own. //; s/DUR .*/DUR/'");
    cr_assert(
        eq(str, log, "EVT [1] DUR\nEVT [2] DUR\nEVT [1] ERROR\nEVT [3] DUR\nEVT [1] DUR\nEVT [2] DUR\nEVT [4] DUR\n"));
    free(log);
    char *rows = run_well("$DWELL export perflog | $DWELL perflog --format csv --sort name - | tr -d '\\r' |"
                          " awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
                          " { print $at[\"marker\"], $at[\"count\"], $at[\"errors\"] }'");
    cr_assert(eq(str, rows, "Test=Write 2 1\nbad 1 0\ngood 2 0\nmain 1 0\n"));
    free(rows);
}

Test(e2e_export, perflog_of_profile_mode)
{
    need_features("perflog");
    free(run_well("$DWELL record -q --mode profile $SAMPLES/threads 4 50"));
    struct ran r = run("$DWELL export perflog");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err,
                 "dwell: dwell.data: recorded in mode profile, which keeps no single calls; record in mode trace or "
                 "ring, or use --aggregate for one line for each function\n"));
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
    struct perflog *log = export_read_log("--aggregate");
    check_against_report(log, false);
    free(log);
}

/* ---- the command ---- */

static void export_check_error(const char *command, const char *message)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s: %s", command, r.err);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "%s", command);
    ran_drop(&r);
}

Test(e2e_export, errors_and_choices)
{
    need_features("perflog");
    free(run_well("$DWELL record -q $SAMPLES/fib 10"));
    export_check_error("$DWELL export", "dwell: export: name a format; dwell export --list lists them\n");
    export_check_error("$DWELL export pdf", "dwell: no format 'pdf'; dwell export --list lists them\n");
    export_check_error("$DWELL export perflog nothing", "dwell: nothing: No such file or directory\n");
    export_check_error("$DWELL export perflog -o dwell.data", "dwell: dwell.data: is the session itself\n");
    export_check_error("$DWELL export perflog -o no/such", "dwell: no/such: No such file or directory\n");
    export_check_error("$DWELL export perflog > /dev/full", "dwell: standard output: No space left on device\n");
    export_check_error("$DWELL export perflog -o /dev/full", "dwell: /dev/full: No space left on device\n");
    char *list = run_well("$DWELL export --list");
    cr_assert(has(list, "perflog "), "%s", list);
    free(list);
    static const char *const names[] = { "main", "fib" };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            char *arguments = run_well("echo \"%s --filter '%.2s*'\"", j ? "--aggregate" : "", names[i]);
            struct perflog *log = export_read_log(arguments);
            cr_assert(eq(int, log->count, 1));
            cr_assert(eq(str, log->markers[0].name, (char *)names[i]));
            free(log);
            free(arguments);
        }
    struct perflog *log;
    export_check_error("$DWELL export perflog --filter 'calls>x'", "dwell: --filter 'calls>x': 'x' is not a number\n");
    export_check_error("$DWELL export perflog --sort callz",
                       "dwell: --sort: no column 'callz'; did you mean 'calls'? --columns help lists them\n");
    export_check_error("$DWELL export collapsed --sort calls",
                       "dwell: --sort: format collapsed has no use for it; leave it out\n");
    log = export_read_log("--limit 1");
    cr_assert(eq(int, log->count, 1));
    free(log);
    log = export_read_log("--limit 1 --sort elapsed_inclusive");
    cr_assert(eq(str, log->markers[0].name, "main"));
    free(log);
    log = export_read_log("--limit 1 --sort calls");
    cr_assert(eq(str, log->markers[0].name, "fib"));
    free(log);
    log = export_read_log("--min 100%");
    cr_assert(eq(int, log->count, 1));
    cr_assert(eq(str, log->markers[0].name, "main"));
    free(log);
}
