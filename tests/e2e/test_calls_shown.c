/* Rows of calls into libraries are as those of functions with probes, in all views and exports. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed_report.h"

TestSuite(e2e_calls_shown, .timeout = 300);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"

static void shown_expect(const char *what, const char *command, const char *expected)
{
    char *found = run_well("%s", command);
    cr_assert(eq(str, found, (char *)expected), "%s", what);
    free(found);
}

static void shown_record(const char *options)
{
    free(run_well("gcc -O1 -g -finstrument-functions " SOURCES "shown.c -o shown -pthread -lz"));
    free(run_well("$DWELL record -q --overhead none --sample 0 %s --calls-to crc32 --calls-to qsort ./shown", options));
}

#define OF_CRC32 " --format json | jq -c '.rows[] | select(.function == \"crc32\") | "

/* Two threads call crc32 200 times each: a call of summed each. */
Test(e2e_calls_shown, in_views)
{
    shown_record("--call-sites");
    shown_expect("times",
                 "$DWELL report --by function" OF_CRC32 "[.module, .calls, .timing, .elapsed_inclusive_ns > 0, "
                 ".elapsed_inclusive_ns == .elapsed_exclusive_ns, .application_inclusive_ns == "
                 ".application_exclusive_ns, .cpu_inclusive_ns > 0, .min_ns > 0, .max_ns >= .min_ns]'",
                 "[\"libz.so.1\",400,\"timed\",true,true,true,true,true,true]\n");
    shown_expect("module",
                 "$DWELL report --by module --format json | jq '.rows[] | select(.module == \"libz.so.1\") | .calls'",
                 "400\n");
    shown_expect(
        "line",
        "$DWELL report --by line --format json | jq -r '.rows[] | select(.called == \"crc32\") | \"\\(.source) "
        "\\(.function) \\(.calls)\"'",
        "shown.c:31 summed 400\n");
    shown_expect("tree",
                 "$DWELL tree --min 0 --format json | jq -r '.rows[] | \"\\(.depth) \\(.function) \\(.calls)\"' | grep "
                 "-e crc32 -e qsort | sort",
                 "3 crc32 200\n3 qsort 200\n4 crc32 200\n4 qsort 200\n");
    shown_expect("callers", "$DWELL callers qsort --format json | jq -r '.rows[] | \"\\(.role) \\(.function)\"'",
                 "caller sorted\nfunction qsort\ncallee compare\n");
    shown_expect("critical path", "$DWELL critical" OF_CRC32 "[.module, .work_ns > 0]'", "[\"libz.so.1\",true]\n");
    shown_expect("slowest calls",
                 "$DWELL slowest crc32 -n 8 --format json | jq -r '.rows[].caller' | sort | uniq -c | xargs",
                 "8 summed\n");
    shown_expect("histogram", "$DWELL histogram crc32 --format json | jq '[.rows[].calls] | add'", "400\n");
    shown_expect("what if",
                 "$DWELL whatif --rank -n 0 --format json | jq -c '[.rank[].function] | contains([\"crc32\"])'",
                 "true\n");
    shown_expect("replay", "$DWELL replay -n 0 --format csv | grep -cE ',(begin|call),crc32,'", "400\n");
    shown_expect(
        "diff",
        "$DWELL diff dwell.data dwell.data -n 0 --format json | jq '.rows[] | select(.function == \"crc32\") | "
        ".calls_after'",
        "400\n");
    shown_expect("source", "$DWELL annotate summed --format json | jq '[.rows[].calls] | add'", "400\n");
    free(run_well("$DWELL why crc32 > why && grep -q crc32 why"));
}

/* The page's rows by function, by path and by line are those of the report. */
Test(e2e_calls_shown, in_the_page)
{
    shown_record("--call-sites");
    free(run_well("$DWELL view --no-config --no-open -o page.html"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    const char *functions = json_object_to_json_string(viewed_get(viewed_session(&page, 0)->header, "functions"));
    cr_assert(has(functions, "crc32"), "%s", functions);
    cr_assert(has(functions, "qsort"), "%s", functions);
    check_viewed_lines(&page, "dwell.data");
    viewed_page_drop(&page);
    check_page("dwell.data");
}

Test(e2e_calls_shown, in_exports)
{
    need_features("perflog vsperf");
    shown_record("");
    shown_expect("chrome", "$DWELL export chrome | jq '[.traceEvents[] | select(.name == \"crc32\")] | length'",
                 "400\n");
    shown_expect("collapsed", "$DWELL export collapsed --value calls | awk '/;crc32 / { n += $NF } END { print n }'",
                 "400\n");
    shown_expect("sqlite",
                 "$DWELL export sqlite -o out.db && sqlite3 out.db \"select sum(calls) from paths where function = "
                 "'crc32'\"",
                 "400\n");
    shown_expect("vsperf",
                 "$DWELL export vsperf -o out && python3 -c 'import csv; print(*(row[\"Number of Calls\"] for row in "
                 "csv.DictReader(open(\"out_FunctionSummary.csv\")) if row[\"Function Name\"] == \"crc32\"))'",
                 "400\n");
    shown_expect("ctf", "$DWELL export ctf -o out.ctf && babeltrace2 out.ctf | grep -cE '(enter|exit).*crc32'",
                 "800\n");
    shown_expect("others",
                 "for format in callgrind firefox perfetto perflog pprof speedscope; do $DWELL export $format -o "
                 "out.$format || exit 1; { zcat out.$format 2>/dev/null || cat out.$format; } | grep -aq crc32 || echo "
                 "$format; done",
                 "");
}

/* The library has debug information, so its rows have lines. */
Test(e2e_calls_shown, with_source)
{
    free(run_well("gcc -O1 -g -w -shared -fPIC " SOURCES
                  "callee.c -o libcallee.so && gcc -O1 -w -finstrument-functions " SOURCES
                  "caller.c -o caller -pthread -L. -lcallee -Wl,-rpath,$PWD"));
    free(run_well("$DWELL record -q --mode profile --overhead none --calls-to callee_deep ./caller"));
    shown_expect(
        "source",
        "$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.function == \"callee_deep\") "
        "| \"\\(.file) \\(.line)\"' | grep -o '[^/]*$'",
        "callee.c 132\n");
}

/* ---- calls of the system ---- */

#define SYSTEM_ROWS                                                                                                    \
    "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function | test(\"^(pthread_|usleep)"  \
    "\")) | \"\\(.function) \\(.calls)\"] | sort'"

/* They have their rows once, with --calls-to-all as without. Those of other functions come besides. A lock that nobody
 * holds needs no call of the system. */
Test(e2e_calls_shown, once)
{
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "waiting.c -o waiting -pthread"));
    free(run_well("$DWELL record -q --overhead none ./waiting"));
    char *without = run_well(SYSTEM_ROWS);
    cr_assert(has(without, "\"pthread_barrier_wait 2\",\"pthread_create 2\",\"pthread_join 2\""), "%s", without);
    free(run_well("$DWELL record -q --overhead none --calls-to-all ./waiting"));
    shown_expect("with", SYSTEM_ROWS " | jq -c '. - [\"pthread_barrier_init 1\"]'", without);
    free(without);
    shown_expect("twice", "$DWELL report --by function -n 0 --format json | jq -r '.rows[].function' | sort | uniq -d",
                 "");
}

/* ---- samples ---- */

#define ROWS "$DWELL report --by function -n 0 --format json | jq "

/* The percentage of the CPU time that the library takes, exact and estimated. Both recordings take about a third of a
 * second of CPU time, so that there are 600 samples or so. */
Test(e2e_calls_shown, as_samples_estimate)
{
    static const char share[] =
        ROWS "'[.rows[] | { m: .module, time: (.cpu_exclusive_ns // 0) }] | 100 * (map(select(.m "
             "== \"libz.so.1\").time) | add) / (map(.time) | add)'";
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "shares.c -o shares -lz"));
    free(run_well("$DWELL record -q --overhead none --sample 0 --calls-to crc32 ./shares"));
    char *exact = run_well("%s", share);
    free(run_well("$DWELL record -q --overhead none --sample 2000 ./shares"));
    char *estimated = run_well("%s", share);
    char *error =
        run_well(ROWS "'100 * ([.rows[] | select(.module == \"libz.so.1\") | .cpu_exclusive_ci95_ns] | add) / "
                      "([.rows[].cpu_exclusive_ns // 0] | add)'");
    const double difference = strtod(exact, NULL) - strtod(estimated, NULL);
    const double most = 2 * strtod(error, NULL) + 5;
    cr_assert(gt(dbl, strtod(error, NULL), 0));
    cr_assert(lt(dbl, strtod(error, NULL), 10));
    cr_assert(lt(dbl, difference < 0 ? -difference : difference, most), "exact %s, estimated %s", exact, estimated);
    free(exact);
    free(estimated);
    free(error);
}

/* ---- slow calls ---- */

/* Each thread has 4 calls of crc32 that are 100 times as long as the others. With a limit of zero, all are slow. */
static void shown_check_kept(const char *link)
{
    free(run_well("gcc -O1 -g -finstrument-functions " SOURCES "shown.c -o shown -pthread %s", link));
    char *kept = run_well("$DWELL record --overhead none --sample 0 --keep 'crc32>60us' --calls-to crc32 ./shown 2>&1 "
                          "| sed -n 's/^dwell: \\([0-9]*\\) slow calls kept.*/\\1/p'");
    cr_assert(ge(int, atoi(kept), 8), "%s: %s", link, kept);
    cr_assert(lt(int, atoi(kept), 400), "%s: %s", link, kept);
    free(kept);
    free(run_well("$DWELL why --slow '>60us' crc32 > why && grep -q crc32 why"));
    shown_expect(link,
                 "$DWELL record --overhead none --sample 0 --keep 'crc32>0ns' --calls-to crc32 ./shown 2>&1 | grep -o "
                 "'[0-9]* slow calls kept'",
                 "400 slow calls kept\n");
}

Test(e2e_calls_shown, kept_if_they_are_slow)
{
    shown_check_kept("-lz");
    shown_check_kept("-Wl,-Bstatic -lz -Wl,-Bdynamic");
}
