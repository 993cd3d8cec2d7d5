/* Calls into libraries and of functions that are linked in, as often as other programs count them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_counted, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"
#define LIBRARY_FUNCTIONS "^(qsort|malloc|free|strdup|compress2|uncompress|crc32|adler32|SHA256)$"

/* uftrace counts at the linker's stubs. While threads look functions up, it misses calls: so all are looked up first.
 */
static void counted_check(const char *compile, const char *options)
{
    free(run_well("%s -Wno-psabi -finstrument-functions -Wl,-z,now " SOURCES "real.cc -o real -pthread -lz -lcrypto",
                  compile));
    free(run_well("uftrace record --no-sched --no-event -d traced ./real && uftrace report -d traced -f call | "
                  "awk '$2 ~ /" LIBRARY_FUNCTIONS "/ { print $2, $1 }' | LC_ALL=C sort > expected; "
                  "test $(wc -l < expected) = 9"));
    free(run_well("$DWELL record -q --sample 0 %s --calls-to-all ./real", options));
    char *different =
        run_well("$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.calls and (.function | "
                 "test(\"" LIBRARY_FUNCTIONS "\"))) | \"\\(.function) \\(.calls)\"' | LC_ALL=C sort | diff - expected");
    cr_assert(eq(str, different, ""), "%s %s", compile, options);
    free(different);
}

Test(e2e_calls_counted, as_often_as_uftrace_counts)
{
    struct ran has_it = run("command -v uftrace");
    const bool there = has_it.status == 0;
    ran_drop(&has_it);
    if (!there)
        cr_skip_test("there is no uftrace here");
    counted_check("gcc -x c -O2 -g", "--overhead none");
    counted_check("gcc -x c -O0", "--mode profile");
    counted_check("gcc -x c -O2", "--overhead none --level 'counted=*'");
    counted_check("gcc -x c -O1 -no-pie -fno-pie", "");
}
