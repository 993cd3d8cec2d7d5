/* Probe overhead: the recorded process measures it, and reports subtract and show it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "support/run.h"

TestSuite(e2e_overhead, .timeout = 300);

static const char *const modes[] = { "trace", "profile", "ring" };

/* Each row's measured times are those without overhead plus the overhead, except for rounding to nanoseconds. Calls and
 * the values that probes cannot affect are the same. */
static const char compare[] =
    "import csv, sys\n"
    "read = lambda name: {(r['function'], r['module'], r['line']): r for r in csv.DictReader(open(name))}\n"
    "raw, net = read('raw.csv'), read('net.csv')\n"
    "assert raw.keys() == net.keys() and raw\n"
    "some = 0\n"
    "for key, n in net.items():\n"
    "    r = raw[key]\n"
    "    assert r['calls'] == n['calls'] and r['page_faults'] == n['page_faults'], key\n"
    "    for kind in 'inclusive', 'exclusive':\n"
    "        value = lambda row, name: int(row[f'{name}_{kind}_ns'] or 0)\n"
    "        assert r[f'overhead_{kind}_ns'] == '', key\n"
    "        over = value(n, 'overhead')\n"
    "        some += over\n"
    "        assert abs(value(r, 'elapsed') - value(n, 'elapsed') - over) <= 2, (key, kind)\n"
    "        assert 0 <= value(n, 'application') <= value(n, 'elapsed'), (key, kind)\n"
    "        assert value(n, 'cpu') <= value(n, 'elapsed'), (key, kind)\n"
    "assert some > 0\n";

Test(e2e_overhead, overhead_is_subtracted_and_reported_separately)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        free(run_well("$DWELL record -q --mode %s $SAMPLES/threads 4 20000", modes[i]));
        free(run_well("$DWELL report --format csv > net.csv && $DWELL report --raw --format csv > raw.csv"));
        free(run_well("python3 -c \"%s\"", compare));
    }
}

Test(e2e_overhead, the_session_has_the_cost_of_a_call)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char *out = run_well("$DWELL record -q --mode %s $SAMPLES/fib 18 && $DWELL info", modes[i]);
        const char *line = strstr(out, "probes ");
        double callee = 0, caller = 0;
        cr_assert(line && sscanf(line, "probes %lf ns a call in the called function, %lf ns in its caller", &callee,
                                 &caller) == 2,
                  "%s", out);
        cr_assert(gt(dbl, callee, 0));
        cr_assert(gt(dbl, caller, 0));
        cr_assert(lt(dbl, callee + caller, 10000));
        free(out);
    }
}

/* A growing tree costs far more than the probes of main, which is called once and calls once. */
Test(e2e_overhead, the_first_call_on_each_path_of_a_tree)
{
    char *out = run_well(
        "$DWELL record -q --mode profile $SAMPLES/fib 18 >/dev/null; $DWELL info; $DWELL report --format csv | "
        "python3 -c \"import csv, sys\n"
        "print('main', [r['overhead_exclusive_ns'] for r in csv.DictReader(sys.stdin) if r['function'] == 'main'][0])\"");
    const char *line = strstr(out, "probes "), *own = strstr(out, "main ");
    double callee = 0, caller = 0, overhead = 0;
    cr_assert(line &&
                  sscanf(line, "probes %lf ns a call in the called function, %lf ns in its caller", &callee, &caller) ==
                      2 &&
                  own && sscanf(own, "main %lf", &overhead) == 1,
              "%s", out);
    cr_assert(gt(dbl, overhead, 5 * (callee + caller)), "%s", out);
    free(out);
}

/* A process measures when it begins and when it ends. Its forked children use its measurements. */
static const char records_of_probes[] =
    "import struct\n"
    "data, at, found = open('dwell.data', 'rb').read(), 4096, {}\n"
    "while at < len(data):\n"
    "    magic, kind, size, used, process = struct.unpack_from('<IHxxIII', data, at)\n"
    "    record, end = at + 64, at + (used or size)\n"
    "    while kind == 2 and record + 8 <= end:\n"
    "        type, length = struct.unpack_from('<HxxI', data, record)\n"
    "        if type == 0:\n"
    "            break\n"
    "        if type == 18:\n"
    "            found[process] = found.get(process, 0) + 1\n"
    "        record += length\n"
    "    at += size or 4096\n"
    "print(sorted(found.values()))\n";

Test(e2e_overhead, overhead_is_measured_at_begin_and_end)
{
    static const char *const programs[][2] = { { "$SAMPLES/fib 5", "[2]\n" }, { "$SAMPLES/processes 1", "[1, 2]\n" } };
    for (size_t i = 0; i < 2; i++) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q --mode %s %s", modes[m], programs[i][0]));
            char *out = run_well("python3 -c \"%s\"", records_of_probes);
            cr_assert(eq(str, out, (char *)programs[i][1]), "%s, %s", programs[i][0], modes[m]);
            free(out);
        }
    }
}

Test(e2e_overhead, a_forked_child_has_its_parents_measurements)
{
    char *out =
        run_well("$DWELL record -q $SAMPLES/processes 3 > /dev/null && $DWELL report --by process --format csv | "
                 "python3 -c \"import csv, sys\n"
                 "rows = list(csv.DictReader(sys.stdin))\n"
                 "print(len(rows), all(int(r['overhead_inclusive_ns']) > 0 for r in rows))\"");
    cr_assert(eq(str, out, "4 True\n"));
    free(out);
}

Test(e2e_overhead, nothing_is_subtracted_if_the_clock_is_not_the_counter)
{
    char *out =
        run_well("$DWELL record -q --clock monotonic $SAMPLES/fib 18 && $DWELL info && $DWELL report --format csv");
    cr_assert(strstr(out, "clock           CLOCK_MONOTONIC") != NULL, "%s", out);
    cr_assert(strstr(out, "\nprobes ") == NULL, "%s", out);
    cr_assert(strstr(out, "left out") == NULL, "%s", out);
    free(out);
}

Test(e2e_overhead, an_ordered_clock_counts_the_same_calls)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char *out =
            run_well("$DWELL record -q --clock ordered --mode %s $SAMPLES/threads 4 20000 && $DWELL info", modes[i]);
        cr_assert(strstr(out, "the clock is read when all before it is done") != NULL, "%s", out);
        cr_assert(strstr(out, "lost events     0\n") != NULL, "%s", out);
        free(out);
        free(run_well(
            "$DWELL report --format csv > ordered.csv; $DWELL record -q --mode %s $SAMPLES/threads 4 20000 && "
            "$DWELL report --format csv > usual.csv; "
            "for f in ordered usual; do python3 -c \"import csv, sys\n"
            "print(sorted((r['function'], r['calls']) for r in csv.DictReader(sys.stdin)))\" < $f.csv > $f.txt; done; "
            "cmp ordered.txt usual.txt",
            modes[i]));
    }
}

Test(e2e_overhead, a_system_that_forbids_changes_of_code)
{
    char *out =
        run_well("$DWELL record -q --clock ordered $PROGRAMS/scarcity/refuse %d@2=%d 1 $SAMPLES/fib 18 && $DWELL info",
                 SYS_mprotect, PROT_READ | PROT_WRITE | PROT_EXEC);
    cr_assert(strstr(out, "the clock could not be put in order") != NULL, "%s", out);
    cr_assert(strstr(out, "lost events     0\n") != NULL, "%s", out);
    free(out);
}

Test(e2e_overhead, unknown_clocks)
{
    struct ran r = run("$DWELL record --clock sundial $SAMPLES/fib 5");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.err, "dwell: --clock: 'sundial' is none of auto, ordered, monotonic\n"));
    ran_drop(&r);
}
