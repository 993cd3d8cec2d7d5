/* dwell annotate of real programs: calls by line are exact, and samples are where the work is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

/* Numbers of lines are those of these texts, from 1. `spin` has nearly all of the time in its line 5. */
static const char annotate_source[] = "static volatile unsigned long sink;\n"
                                      "template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }\n"
                                      "__attribute__((noinline)) void spin(unsigned long n)\n"
                                      "{\n"
                                      "    for (unsigned long i = 0; i < n; i++) sink = sink * 3 + i;\n"
                                      "    sink = sink + 1;\n"
                                      "}\n"
                                      "#define PLAIN __attribute__((no_instrument_function, always_inline))\n"
                                      "PLAIN static inline void twofold(void) { twice(1); twice(2L); }\n"
                                      "template <class T> __attribute__((noinline)) void run(T x)\n"
                                      "{\n"
                                      "    for (int i = 0; i < 10; i++)\n"
                                      "        twice(x);\n"
                                      "    twofold();\n"
                                      "    spin(x); twice(x);\n"
                                      "}\n"
                                      "int main() { run(20000000); run(30000000L); }\n";

static void annotate_build(void)
{
    without_os_calls();
    char *path = run_well("mkdir src; printf %%s \"$PWD/src/run.cc\"");
    FILE *out = fopen(path, "w");
    cr_assert(out != NULL);
    fputs(annotate_source, out);
    fclose(out);
    free(path);
    free(run_well("touch -d 2000-01-01 src/run.cc; cd src; PATH=/usr/bin:/bin $DWELL c++ g++ -O1 -g $PWD/run.cc "
                  "-Wl,--build-id -o ../run; cd ..; $DWELL record -q --call-sites --sample 1000 ./run"));
}

TestSuite(e2e_annotate, .init = annotate_build, .timeout = 300);

/* A member of the row of that line. */
static uint64_t annotate_value(const char *arguments, unsigned line, const char *key)
{
    char *text = run_well("$DWELL annotate --format json %s | python3 -c 'import json,sys; "
                          "print([r[\"%s\"] for r in json.load(sys.stdin)[\"rows\"] if r[\"line\"] == %u][0])'",
                          arguments, key, line);
    const uint64_t value = strtoull(text, NULL, 10);
    free(text);
    return value;
}

Test(e2e_annotate, calls_by_line)
{
    cr_assert(eq(u64, annotate_value("'run<int>'", 13, "calls"), 10));
    cr_assert(eq(u64, annotate_value("'run<int>'", 14, "calls"), 2), "of an inlined function without probes");
    cr_assert(eq(u64, annotate_value("'run<int>'", 15, "calls"), 2));
    cr_assert(eq(u64, annotate_value("'run<*'", 13, "calls"), 20), "both copies");
    cr_assert(eq(u64, annotate_value("main", 17, "calls"), 2));
    const uint64_t spin = annotate_value("'run<*'", 15, "time_ns"), all = annotate_value("main", 17, "time_ns");
    cr_assert(gt(u64, spin, 0));
    cr_assert(le(u64, spin, all));
    char *text = run_well("$DWELL annotate 'run<*'");
    cr_assert(has(text, " *     spin(x); twice(x);\n"), "a hot line: %s", text);
    free(text);
}

Test(e2e_annotate, own_time_by_line)
{
    const uint64_t loop = annotate_value("spin", 5, "samples"), after = annotate_value("spin", 6, "samples");
    cr_assert(gt(u64, loop, 20));
    cr_assert(lt(u64, after, loop / 10));
    struct report *r = report_of("dwell.data");
    const uint64_t own = report_sum(r, "function", "spin(unsigned long)", "cpu_exclusive_ns");
    report_drop(r);
    cr_assert(gt(u64, annotate_value("spin", 5, "self_ns"), own / 2));
}

/* The compiler left no line of the function's begin: its first is that of a loop without braces. */
Test(e2e_annotate, a_function_that_begins_with_its_first_statement)
{
    free(run_well("$DWELL record -q --overhead none --sample 2000 -o heavy.data $PROGRAMS/sampled 6000"));
    char *text = run_well("$DWELL annotate heavy heavy.data");
    cr_assert(has(text, " WITHOUT_PROBES static int heavy(const void *a, const void *b)\n"), "%s", text);
    cr_assert(has(text, "         heavy_sum = heavy_sum + i;\n"), "%s", text);
    cr_assert(has(text, "     return *(const int *)a - *(const int *)b;\n"), "%s", text);
    cr_assert(not(has(text, "static void part(void)")), "%s", text);
    free(text);
}

Test(e2e_annotate, a_source_elsewhere)
{
    free(run_well("mv src/run.cc elsewhere.cc; mkdir there; mv elsewhere.cc there/run.cc"));
    struct ran r = run("$DWELL annotate spin");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "/src/run.cc: no such source file; --source-path"), "%s", r.err);
    ran_drop(&r);
    char *text = run_well("$DWELL annotate --source-path $PWD/src=there spin");
    cr_assert(has(text, "sink = sink * 3 + i;\n"), "%s", text);
    free(text);
    text = run_well("touch there/run.cc; $DWELL annotate --source-path $PWD/src=there spin 2>&1");
    cr_assert(has(text, "dwell: there/run.cc: is newer than "), "%s", text);
    free(text);
}

/* A server of files, in the folders of the protocol of debuginfod. */
Test(e2e_annotate, a_source_from_a_server)
{
    struct ran r = run("ldconfig -p | grep -q libdebuginfod.so.1");
    if (r.status)
        cr_skip("libdebuginfod is not installed");
    ran_drop(&r);
    free(run_well("id=$(readelf -n run | sed -n 's/.*Build ID: //p'); mkdir -p web/buildid/$id/source$PWD/src; "
                  "mv src/run.cc web/buildid/$id/source$PWD/src/"));
    char *text =
        run_well("python3 -u -c 'import http.server, functools, sys\n"
                 "h = functools.partial(http.server.SimpleHTTPRequestHandler, directory=\"web\")\n"
                 "s = http.server.HTTPServer((\"127.0.0.1\", 0), h)\n"
                 "print(s.server_port, flush=True)\n"
                 "s.serve_forever()' >port 2>log & server=$!; while [ ! -s port ]; do sleep 0.1; done; "
                 "DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) $DWELL annotate spin; "
                 "status=$?; kill $server; exit $status");
    cr_assert(has(text, "sink = sink * 3 + i;\n"), "%s", text);
    free(text);
    r = run("DEBUGINFOD_URLS= $DWELL annotate spin");
    cr_assert(eq(int, r.status, 2), "no server is asked: %s", r.err);
    ran_drop(&r);
}
