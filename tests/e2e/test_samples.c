/* record --sample: samples of the threads' CPU time are in the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "dwell/format.h"
#include "support/features.h"
#include "support/load.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed.h"

TestSuite(e2e_samples, .timeout = 300, .init = without_os_calls);

/* The number that `dwell info` prints; zero if there are no samples. */
static unsigned long samples_recorded(const char *file)
{
    char *info = run_well("$DWELL info %s | sed -n 's/^samples  *//p'", file);
    const unsigned long count = strtoul(info, NULL, 10);
    free(info);
    return count;
}

/* As many as the CPU time says. A virtual machine may delay some, and then they are fewer. */
Test(e2e_samples, follow_the_cpu_time)
{
    free(run_well(
        "$DWELL record -q --sample 1000 sh -c '$SAMPLES/threads 2 200000 && $SAMPLES/sleeper 300 >/dev/null'"));
    char *info = run_well("$DWELL info");
    cr_assert(has(info, ", 1000 a second of CPU time, lost 0\n"), "%s", info);
    cr_assert(has(info, "\na sample        stops its thread for "), "%s", info);
    cr_assert(not(has(info, "a counted call")), "%s", info); /* none was counted */
    free(info);
    cr_assert(ge(ulong, samples_recorded(""), 10));
}

Test(e2e_samples, are_not_taken_without_the_option)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 2 20000"));
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "\nsamples ")), "%s", info);
    free(info);
    free(run_well("$DWELL record -q --sample 0 $SAMPLES/threads 2 20000"));
    info = run_well("$DWELL info");
    cr_assert(not(has(info, "\nsamples ")), "%s", info);
    free(info);
}

Test(e2e_samples, options_that_are_wrong)
{
    static const char *const cases[][2] = {
        { "--sample x", "--sample: 'x' is not a number from 0 to 10000" },
        { "--sample -1", "--sample: '-1' is not a number from 0 to 10000" },
        { "--sample 10001", "--sample: '10001' is not a number from 0 to 10000" },
    };
    for (int i = 0; i < 3; i++) {
        struct ran r = run("$DWELL record %s $SAMPLES/fib 3", cases[i][0]);
        cr_assert(eq(int, r.status, 125));
        cr_assert(has(r.err, cases[i][1]), "%s", r.err);
        ran_drop(&r);
    }
}

/* Where perf is not permitted, the program is recorded without, and the user is told. */
Test(e2e_samples, that_the_system_refuses)
{
    struct ran r = run("$PROGRAMS/scarcity/refuse %d 1 $DWELL record -q --sample 1000 $SAMPLES/threads 2 1000",
                       (int)SYS_perf_event_open);
    cr_assert(eq(int, r.status, 0));
    cr_assert(has(r.err, "recorded without samples, which the system refused: "), "%s", r.err);
    cr_assert(eq(u64, truth(r.out, "work"), 2000));
    ran_drop(&r);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "\nsamples         none: the system refused them ("), "%s", info);
    free(info);
    r = run("$PROGRAMS/scarcity/refuse %d 1 $DWELL doctor", (int)SYS_perf_event_open);
    cr_assert(has(r.out, "warn  samples "), "%s", r.out);
    ran_drop(&r);
}

/* Several sessions are added up with their samples. */
Test(e2e_samples, of_several_sessions)
{
    free(run_well("$DWELL record -q -o a.data --sample 2000 $PROGRAMS/sampled 6000; "
                  "$DWELL record -q -o b.data --sample 2000 $PROGRAMS/sampled 6000"));
    struct report *a = report_of("a.data"), *b = report_of("b.data"), *both = report_of("a.data b.data");
    cr_assert(eq(u64, report_session(both, "samples"), report_session(a, "samples") + report_session(b, "samples")));
    const uint64_t errors = report_sum(both, "function", "light", "cpu_exclusive_ci95_ns");
    cr_assert(ge(u64, errors, report_sum(a, "function", "light", "cpu_exclusive_ci95_ns")));
    cr_assert(le(u64, errors,
                 report_sum(a, "function", "light", "cpu_exclusive_ci95_ns") +
                     report_sum(b, "function", "light", "cpu_exclusive_ci95_ns")));
    check_sums(both, "function");
    report_drop(a);
    report_drop(b);
    report_drop(both);
}

/* A recorder that is killed leaves a session whose samples are known by their TIDs. */
Test(e2e_samples, survive_the_recorder)
{
    free(run_well("$DWELL record -q --sample 2000 sh -c 'echo $$ >child; exec $SAMPLES/threads 2 100000000' >/dev/null "
                  "2>&1 & pid=$!; until test -s child && test $(cut -d' ' -f14 /proc/$(cat child)/stat) -gt 100; do "
                  "sleep 0.1; done; kill -9 $pid; sleep 0.1; kill -9 $(cat child); cp dwell.data killed.data"));
    cr_assert(ge(ulong, samples_recorded("killed.data"), 10));
}

/* Of functions without probes, with the functions that lead to them, whether or not these have probes. */
Test(e2e_samples, paths_below_a_frame)
{
    free(run_well("$DWELL record -q --sample 2000 $PROGRAMS/sampled 6000"));
    char *paths = run_well("$DWELL export collapsed");
    cr_assert(has(paths, ";part;outer;inner;light "), "%s", paths);
    cr_assert(has(paths, ";part;qsort"), "%s", paths);
    cr_assert(has(paths, ";heavy "), "%s", paths);
    free(paths);
}

/* Most of the time is in code that is in no file, of the kernel or made by the program. It is the program's time, and
 * not that of the code that counts calls. */
static void samples_check_foreign(const char *argument, const char *function, const char *module)
{
    free(run_well("$DWELL record -q --level counted=counted --sample 2000 $PROGRAMS/foreign_code %s", argument));
    struct report *r = report_of("");
    check_sums(r, "function");
    cr_assert(eq(u64, report_sum(r, "function", "counted", "calls"), 2000000));
    cr_assert(lt(u64, 2 * report_session(r, "samples_in_probes"), report_session(r, "samples")), "%s", argument);
    const uint64_t all = report_sum(r, "function", "main", "cpu_inclusive_ns");
    cr_assert(gt(u64, report_sum(r, "function", function, "cpu_exclusive_ns"), all / 3), "%s", argument);
    report_drop(r);
    char *modules = run_well("$DWELL report --by module --format csv --columns calls | cut -d, -f1");
    cr_assert(has(modules, module), "%s", modules);
    free(modules);
}

Test(e2e_samples, of_code_that_is_in_no_file)
{
    samples_check_foreign("clock", "clock_gettime", "\n[vdso]\n");
#if defined(__x86_64__)
    samples_check_foreign("made", "(code in no module)", "\n[unknown]\n");
#endif
}

/* The time of a system call that is no row of its own is its caller's, where this user may sample the kernel. */
Test(e2e_samples, in_the_kernel)
{
    free(run_well("$DWELL record -q --no-os-calls --sample 2000 $PROGRAMS/kernel_time"));
    char *info = run_well("$DWELL info");
    const bool in_kernel = has(info, "; also in the kernel\n");
    cr_assert(in_kernel || has(info, "; in user mode only\n"), "%s", info);
    free(info);
    struct ran r = run("$DWELL doctor");
    cr_assert(eq(int, has(r.out, "taken with record --sample, also in the kernel"), in_kernel), "%s", r.out);
    ran_drop(&r);
    if (!in_kernel)
        cr_skip_test("this user may not sample the kernel");
    struct report *report = report_of("");
    check_sums(report, "function");
    const uint64_t all = report_sum(report, "function", "main", "cpu_inclusive_ns");
    cr_assert(gt(u64, report_sum(report, "function", "fetch", "cpu_inclusive_ns"), all / 2));
    report_drop(report);
}

/* A ring keeps all samples, and those of the events that are left count. Call trees are divided by function. The two
 * functions take the time that the program's count of steps says, within the interval, in 19 of 20 runs. */
Test(e2e_samples, of_other_modes)
{
    static const char *const modes[] = { "ring=1G", "ring=64K", "profile" };
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode %s --sample 2000 $PROGRAMS/sampled 20000", modes[i]));
        struct report *r = report_of("");
        check_sums(r, "function");
        const uint64_t light = report_sum(r, "function", "light", "cpu_exclusive_ns"),
                       heavy = report_sum(r, "function", "heavy", "cpu_exclusive_ns"),
                       error = report_sum(r, "function", "light", "cpu_exclusive_ci95_ns");
        cr_assert(gt(u64, report_session(r, "samples"), 0), "%s", modes[i]);
        cr_assert(gt(u64, heavy, light), "%s", modes[i]);
        cr_assert(gt(u64, error, 0), "%s", modes[i]);
        cr_assert(lt(dbl, fabs((double)light - (double)(light + heavy) / 4), 3.0 * (double)error), "%s", modes[i]);
        report_drop(r);
        char *paths = run_well("$DWELL export collapsed");
        cr_assert(has(paths, ";part;outer;inner;light "), "%s: %s", modes[i], paths);
        free(paths);
    }
}

/* Lines of sampled libraries come from their own debug information. That of system libraries is in files of its own,
 * which would take long to read. */
Test(e2e_samples, lines_of_libraries)
{
    free(run_well("mkdir small\n"
                  "echo 'void work(unsigned long n) { for (volatile unsigned long i = 0; i < n; i++); }' >work.c\n"
                  "echo 'void work(unsigned long n); int main(void) { work(50000000); return 0; }' >main.c\n"
                  "gcc -g -O1 -fPIC -shared -Wl,--build-id -o libwork.so work.c\n"
                  "gcc -g -finstrument-functions -o main main.c ./libwork.so\n"
                  "objcopy --only-keep-debug libwork.so small/libwork.debug\n"
                  "objcopy --strip-debug --add-gnu-debuglink=small/libwork.debug libwork.so small/libwork.so\n"
                  "cd small && gcc -g -finstrument-functions -o main ../main.c ./libwork.so"));
    static char *const folders[] = { ".", "small" }, *const expected[] = { "main,1\nwork,1\n", "main,1\nwork,\n" };
    for (int i = 0; i < 2; i++) {
        char *names =
            run_well("cd %s && $DWELL record -q --sample 2000 ./main && rm libwork.so && $DWELL report --format "
                     "csv | tr -d '\\r' | cut -d, -f1,4 | grep -E '^(main|work),' | sort",
                     folders[i]);
        cr_assert(eq(str, names, expected[i]), "%s", folders[i]);
        free(names);
    }
}

/* The debug information of a system library is in a file of its own. Its functions have no lines in any view, also
 * those that only call what was sampled: their names are found later than the others. */
Test(e2e_samples, libraries_have_lines_for_all_functions_or_none)
{
    free(run_well(
        "cat >spin.c <<'END'\nlong inner(long n)\n{\n    volatile long x = 0;\n    while (n-- > 0)\n"
        "        x = x + n;\n    return x;\n}\nlong outer(long n)\n{\n    return inner(n) + 1;\n}\nEND\n"
        "echo 'long outer(long); int main(void) { return outer(300000000) == 0; }' >main.c; "
        "cc -g -O1 -fno-inline -fno-optimize-sibling-calls -shared -fPIC spin.c -o libspin.so -Wl,--build-id && "
        "objcopy --only-keep-debug libspin.so spin.debug && "
        "strip -g libspin.so && objcopy --add-gnu-debuglink=spin.debug libspin.so && "
        "$DWELL cc -g main.c -o main ./libspin.so && $DWELL record -q --sample 2000 ./main"));
    char *rows = run_well("$DWELL report --format json | python3 -c 'import json, sys; "
                          "print(*sorted((r[\"function\"], r[\"line\"]) for r in json.load(sys.stdin)[\"rows\"] "
                          "if r[\"function\"] in [\"inner\", \"main\", \"outer\"] or r[\"line\"] is not None))'");
    cr_assert(eq(str, rows, "('inner', None) ('main', 1) ('outer', None)\n"), "%s", rows);
    free(rows);
}

/* They have no durations of single calls. */
Test(e2e_samples, single_calls)
{
    free(run_well("$DWELL record -q --sample 2000 --level counted=part $PROGRAMS/sampled 6000"));
    static const char *const cases[][2] = {
        { "histogram heavy", ": heavy has no probes: it is known by samples, not by its calls\n" },
        { "slowest part",
          ": calls of part were only counted: they have no times. To time them, record with --level 'timed=part'\n" },
    };
    for (int i = 0; i < 2; i++) {
        struct ran r = run("$DWELL %s", cases[i][0]);
        cr_assert(ne(int, r.status, 0), "%s", cases[i][0]);
        cr_assert(has(r.err, cases[i][1]), "%s", r.err);
        ran_drop(&r);
    }
}

/* Formats of sums have estimated times, and sqlite says which. Formats of single calls are without. */
Test(e2e_samples, exports)
{
    static const char *const sums[] = { "callgrind", "collapsed", "pprof", "speedscope", "vsperf" }, *const calls[] = {
        "perflog", "chrome", "perfetto", "firefox", "ctf"
    };
    free(run_well("$DWELL record -q --sample 2000 --level counted=light $PROGRAMS/sampled 6000"));
    free(run_well("$DWELL export sqlite -o out.db && python3 -B " DWELL_CONSUMERS
                  "/sqlite.py $DWELL dwell.data out.db"));
    char *timing = run_well("sqlite3 out.db \"SELECT function, timing, samples > 0, elapsed_exclusive_ci95_ns > 0 "
                            "FROM report_function WHERE function IN ('light', 'part') ORDER BY 1\"");
    cr_assert(has(timing, "light|sampled|1|1\n"), "%s", timing);
    cr_assert(has(timing, "part|timed|"), "%s", timing);
    free(timing);
    for (int i = 0; i < 5; i++) {
        struct ran r = run("$DWELL export %s -o out-%s", sums[i], sums[i]);
        cr_assert(eq(int, r.status, 0));
        cr_assert(has(r.err, "functions without probes have estimated times, from "), "%s", r.err);
        ran_drop(&r);
        r = run("$DWELL export %s -o out-%s", calls[i], calls[i]);
        cr_assert(eq(int, r.status, 0));
        cr_assert(has(r.err, "samples are left out, as this format has single calls\n"), "%s", r.err);
        ran_drop(&r);
    }
}

/* The program's own count of steps says that one takes three times as long as the other. */
Test(e2e_samples, shares_are_estimated)
{
    free(run_well("$DWELL record -q --sample 2000 $PROGRAMS/sampled 20000"));
    struct report *r = report_of("");
    check_sums(r, "function");
    const double heavy = (double)report_sum(r, "function", "heavy", "cpu_exclusive_ns");
    const double light = (double)report_sum(r, "function", "light", "cpu_exclusive_ns");
    const double errors = (double)(report_sum(r, "function", "heavy", "cpu_exclusive_ci95_ns") +
                                   report_sum(r, "function", "light", "cpu_exclusive_ci95_ns"));
    cr_assert(lt(dbl, fabs(heavy - 0.75 * (heavy + light)), errors + 0.05 * heavy), "%f %f", heavy, light);
    cr_assert(report_null(r, "function", "heavy", "calls"));
    cr_assert(report_null(r, "function", "part", "elapsed_inclusive_ci95_ns"));
    cr_assert(eq(u64, report_sum(r, "function", "part", "calls"), 20000));
    report_drop(r);
    r = report_of("--by module");
    check_sums(r, "module");
    report_drop(r);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
}

static void samples_check_to_the_tick(const char *program)
{
    struct analysis analysis;
    free(run_well("$DWELL record -q --overhead 10%% %s", program));
    load_whole(&analysis, test_path("dwell.data"), 2);
    check_identities(&(struct outcome){ analysis.file, analysis.profile, analysis.rollup });
    analysis_drop(&analysis);
}

/* Sums over single calls in 1/256 ticks. */
struct call_sums {
    int64_t times[CALL_TIMES], once;
    uint64_t calls;
};

static bool samples_add_call(void *context, const struct finished_call *call)
{
    struct call_sums *sums = (struct call_sums *)context + call->function;
    for (int i = 0; i < CALL_TIMES; i++)
        sums->times[i] += (int64_t)call->times[i];
    sums->once += (int64_t)call->once;
    sums->calls++;
    return true;
}

static void samples_scan_call(void *context, const struct finished_call *call)
{
    samples_add_call(context, call);
}

/* Each call may be rounded by 1/256 ticks for each of its times. */
static bool samples_are_near(int64_t sum, int64_t wanted, uint64_t calls)
{
    return llabs(sum - wanted) <= (int64_t)(16 * calls + 2 * DWELL_PROBE_FRACTION);
}

/* The calls of the function make up its row, by both ways to find them. */
static void samples_check_calls(const struct times *row, const struct call_sums *followed,
                                const struct call_sums *scanned, uint64_t all)
{
    cr_assert(samples_are_near(followed->once, (int64_t)row->elapsed_inclusive * DWELL_PROBE_FRACTION, all));
    cr_assert(samples_are_near(followed->times[CALL_ELAPSED_EXCLUSIVE],
                               (int64_t)row->elapsed_exclusive * DWELL_PROBE_FRACTION, all));
    cr_assert(samples_are_near(followed->times[CALL_APPLICATION_EXCLUSIVE],
                               (int64_t)row->application_exclusive * DWELL_PROBE_FRACTION, all));
    cr_assert(eq(u64, scanned->calls, followed->calls));
    for (int i = 0; i < CALL_TIMES; i++)
        cr_assert(samples_are_near(scanned->times[i], followed->times[i], all));
}

static void samples_check_single_calls(const char *command)
{
    struct analysis analysis;
    free(run_well("$DWELL record -q %s", command));
    load_whole(&analysis, test_path("dwell.data"), 2);
    const size_t count = analysis.profile->function_count;
    struct call_sums *followed = need_memory(count, sizeof *followed), *scanned = need_memory(count, sizeof *scanned);
    struct times *rows = rollup_groups(analysis.rollup, BY_FUNCTION);
    uint64_t all = 0, given = 0, checked = 0;
    analysis_follow_calls(&analysis, true, samples_add_call, followed);
    analysis.jobs = 1;
    analysis_scan_calls(&analysis, PROFILE_NONE, samples_scan_call, (void *[]){ scanned });
    for (size_t i = 0; i < count; i++)
        all += followed[i].calls;
    for (size_t i = 0; i < analysis.profile->node_count; i++)
        given += analysis.profile->nodes[i].given;
    for (size_t i = 0; i < count; i++)
        if (strcmp(times_timing(&rows[i]), "sampled") != 0 && followed[i].calls == rows[i].calls) {
            samples_check_calls(&rows[i], &followed[i], &scanned[i], all);
            checked++;
        }
    cr_assert(ge(u64, checked, 1), "%s", command);
    cr_assert(gt(u64, given, 0), "%s", command);
    free(rows);
    free(followed);
    free(scanned);
    analysis_drop(&analysis);
}

/* What samples and counting took is subtracted from single calls as from sums. */
Test(e2e_samples, single_calls_add_up_to_the_report)
{
    samples_check_single_calls("--sample 2000 --level counted=light $PROGRAMS/sampled 20000");
    samples_check_single_calls("--sample 2000 --level counted=fib $SAMPLES/fib 34");
    samples_check_single_calls("--sample 2000 --level counted=work $SAMPLES/threads 2 2000000");
}

/* Which kinds of rows a budget makes depends on when it decides, so there are several tries. */
static void samples_check_one_rule(const char *command, const char *kind)
{
    enum { TRIES = 6 };
    bool found = false;
    for (int try = 0; try < TRIES && !found; try++) {
        char *kinds = run_well("$DWELL record -q -o rule.data %s >out; python3 -B " DWELL_CONSUMERS
                               "/one_rule.py $DWELL rule.data",
                               command);
        found = has(kinds, kind);
        free(kinds);
    }
    cr_expect(found, "%s: no %s", command, kind);
}

/* Sums, means, limits, percentiles, single calls and exports say the same of timed, counted and sampled functions. */
Test(e2e_samples, one_rule_for_all_views)
{
    need_features("perflog");
    need_features("vsperf");
    samples_check_one_rule("$PROGRAMS/levels/phases 2 20000", "timed:8");
    samples_check_one_rule("--overhead 10% --sample 2000 $PROGRAMS/levels/phases 2 1500000", "sampled:");
    samples_check_one_rule("--overhead 10% --sample 2000 $PROGRAMS/levels/phases 2 1500000", "timed:2");
    samples_check_one_rule("--overhead 10% $PROGRAMS/levels/phases 2 1500000", "partly:");
    samples_check_one_rule("--sample 2000 --level counted=light $PROGRAMS/sampled 6000", "timed:2");
    samples_check_one_rule("--sample 2000 --level counted=fib $SAMPLES/fib 34", "sampled:1 timed:1");
}

/* Functions become counted while they run, and samples divide the time of their callers. */
Test(e2e_samples, times_add_up_to_the_tick)
{
    samples_check_to_the_tick("$PROGRAMS/levels/counted 4 300000 200");
    samples_check_to_the_tick("$PROGRAMS/sampled 6000");
    samples_check_to_the_tick("$SAMPLES/processes 3 20000");
}

/* Text marks what is estimated, and a session without samples is as before. */
Test(e2e_samples, text_marks_estimates)
{
    free(run_well("$DWELL record -q --sample 1000 $PROGRAMS/sampled 6000"));
    char *text = run_well("$DWELL report --by function");
    cr_assert(has(text, " samples\n"), "%s", text);
    cr_assert(has(text, "~"), "%s", text);
    free(text);
    free(run_well("$DWELL record -q $PROGRAMS/sampled 600"));
    text = run_well("$DWELL report --by function; $DWELL report --format json");
    cr_assert(not(has(text, "samples")), "%s", text);
    cr_assert(not(has(text, "~")), "%s", text);
    cr_assert(not(has(text, "ci95")), "%s", text);
    free(text);
}

/* A stripped library knows its exported functions alone. The code of another one is its place in the library, not the
 * exported symbol before it. */
Test(e2e_samples, of_libraries_without_symbols)
{
    free(run_well(
        "printf 'void edge(void) {}\\n__attribute__((noinline)) static long burn(long n) {\\n' >burn.c\n"
        "printf 'volatile long i = 0; while (i < n) i++; return i; }\\nlong burnt(long n) { return burn(n) + 1; }\\n' "
        ">>burn.c\n"
        "gcc -O1 -fno-toplevel-reorder -shared -fPIC -o libburn.so burn.c && nm libburn.so >names && strip libburn.so\n"
        "echo 'long burnt(long); int main(void) { return burnt(300000000) == 7; }' >main.c\n"
        "gcc -O1 -finstrument-functions -o main main.c -L. -lburn -Wl,-rpath,$PWD\n"
        "sed -n 's/^0*\\(.*\\) t burn$/libburn.so+0x\\1/p' names | tr -d '\\n' >place\n"
        "$DWELL record -q --sample 1000 ./main; $DWELL view -o page.html"));
    char *place = run_well("cat place"), *text = run_well("$DWELL report"),
         *json = run_well("$DWELL report --format json | jq -r '[.rows[] | select(.module | test(\"libburn\"))] | "
                          "max_by(.cpu_exclusive_ns).function'");
    cr_assert(gt(sz, strlen(place), strlen("libburn.so+0x")));
    cr_assert(has(text, place) && !has(text, "edge"), "%s", text);
    cr_assert(eq(ulong, strncmp(json, place, strlen(place)), 0), "%s", json);
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *functions = viewed_get(viewed_session(&page, 0)->header, "functions");
    bool found = false;
    for (size_t i = 0; i < json_object_array_length(functions); i++) {
        struct json_object *function = json_object_array_get_idx(functions, i);
        const char *name = json_object_get_string(json_object_object_get(function, "name"));
        cr_assert(ne(str, (char *)name, (char *)"edge"));
        found |= strcmp(name, place) == 0;
    }
    cr_assert(found);
    viewed_page_drop(&page);
    free(json);
    free(text);
    free(place);
}

/* Timing takes most of the time of so short calls. Counting in place is hardly seen there. */
Test(e2e_samples, in_probes)
{
    free(run_well("$DWELL record -q --sample 1000 $SAMPLES/fib 32"));
    struct report *r = report_of("");
    cr_assert(gt(u64, report_session(r, "samples_in_probes"), report_session(r, "samples") / 3));
    report_drop(r);
}

/* With a level, samples are taken unless the user does not want them. Calls are exact, and times are estimated. */
Test(e2e_samples, of_functions_that_are_counted)
{
    char *out = run_well("env -u DWELL_SAMPLE $DWELL record -q --level counted=work $SAMPLES/threads 2 20000000");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "work", "calls"), truth(out, "work")));
    cr_assert(gt(u64, report_sum(r, "function", "work", "cpu_exclusive_ns"), 0));
    cr_assert(gt(u64, report_sum(r, "function", "work", "cpu_exclusive_ci95_ns"), 0));
    cr_assert(eq(u64, report_sum(r, "function", "[unknown]+0x0", "calls"), 0));
    check_sums(r, "function");
    report_drop(r);
    free(out);
    free(run_well("env -u DWELL_SAMPLE $DWELL record -q --sample 0 --level counted=work $SAMPLES/threads 2 2000"));
    cr_assert(eq(ulong, samples_recorded(""), 0));
    free(run_well("env -u DWELL_SAMPLE $DWELL record -q --mode profile --level counted=work $SAMPLES/threads 2 2000"));
    cr_assert(eq(ulong, samples_recorded(""), 0));
}
