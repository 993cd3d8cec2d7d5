/* Exports of real recordings, read by readers that share no code with dwell, and compared with the reports. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_export, .timeout = 300);

/* ---- PerfLog ---- */

enum { MAX_MARKERS = 4000 };

struct marker {
    char name[600];
    uint64_t count, ticks;
};

struct perflog {
    uint64_t resolution;
    struct marker markers[MAX_MARKERS]; /* merged by name */
    int count, registered, by_number[101];
    uint64_t cpu_lines, memory_lines;
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
    const char *registered = strstr(line, "REGISTERED MARKER ["), *end = strstr(line, "] AS [");
    cr_assert(strncmp(line, "## PERF ## ", 11) == 0, "%s", line);
    if (registered && end) {
        registered += strlen("REGISTERED MARKER [");
        while (strstr(end + 1, "] AS ["))
            end = strstr(end + 1, "] AS [");
        cr_assert(eq(int, sscanf(end, "] AS [%u] BY APP [", &number), 1), "%s", line);
        if (number <= 100)
            log->by_number[number] = (int)(marker_named(log, registered, (size_t)(end - registered)) - log->markers);
        log->registered++;
    } else if (sscanf(line, "## PERF ## APP [%*[^]]] EVT [%u] DUR [%" SCNu64 "]", &number, &ticks) == 2) {
        log->markers[log->by_number[number]].count++;
        log->markers[log->by_number[number]].ticks += ticks;
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
    struct perflog *log = calloc(1, sizeof *log);
    char *text = run_well("$DWELL export perflog %s", arguments);
    for (char *next, *line = text; *line; line = next) {
        next = strchr(line, '\n') + 1;
        next[-1] = '\0';
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
        if (counts)
            cr_assert(eq(u64, m->count, report_sum(r, "function", m->name, "calls")), "%s", m->name);
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
    cr_assert(
        eq(int, log->registered, 751)); /* each is registered again in each round, because its number was reused */
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

Test(e2e_export, perflog_of_profile_mode)
{
    free(run_well("$DWELL record -q --mode profile $SAMPLES/threads 4 50"));
    struct ran r = run("$DWELL export perflog");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err,
                 "dwell: dwell.data: recorded in mode profile, without single calls; use --aggregate for one line for "
                 "each function\n"));
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
    struct perflog *log = export_read_log("--filter 'ma*'");
    cr_assert(eq(int, log->count, 1));
    cr_assert(eq(str, log->markers[0].name, "main"));
    free(log);
    log = export_read_log("--limit 1");
    cr_assert(eq(int, log->count, 1));
    free(log);
    log = export_read_log("--min 100%");
    cr_assert(eq(int, log->count, 1));
    cr_assert(eq(str, log->markers[0].name, "main"));
    free(log);
}
