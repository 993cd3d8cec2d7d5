/* Exports of the call tree of the same handmade session, byte for byte. Binary formats are compared as a reader prints
 * them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void tree_exports_save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF), *blind = example_session(SOURCE_NONE);
    writer_save(w, test_path("example.dwell"));
    writer_save(blind, test_path("blind.dwell"));
    writer_free(w);
    writer_free(blind);
}

TestSuite(golden_tree_exports, .init = tree_exports_save_sessions, .timeout = 300);

Test(golden_tree_exports, callgrind)
{
    check_golden("export callgrind example.dwell", "export.callgrind");
}

Test(golden_tree_exports, collapsed)
{
    check_golden("export collapsed example.dwell", "export.collapsed");
}

Test(golden_tree_exports, speedscope)
{
    check_golden("export speedscope example.dwell", "export.speedscope.json");
}

static void check_pprof(const char *session, const char *name)
{
    char *text =
        run_well("$DWELL export pprof %s -o p.gz && python3 -B " DWELL_CONSUMERS "/pprof.py print p.gz", session);
    check_text(text, name);
    free(text);
}

Test(golden_tree_exports, pprof)
{
    check_pprof("example.dwell", "export.pprof.txt");
    check_pprof("blind.dwell", "export-blind.pprof.txt");
}

/* Between two samples, the thread was on the CPU for the first one's time, or not at all. Threads without OS events,
 * and call trees, say nothing about it. */
Test(golden_tree_exports, cpu_times_of_firefox)
{
    static const char print[] = "$DWELL export firefox %s | python3 -c 'import json, sys\n"
                                "for t in json.load(sys.stdin)[\"threads\"]:\n"
                                "    s = t[\"samples\"]\n"
                                "    print(t[\"name\"], s[\"time\"], s[\"weight\"], s.get(\"threadCPUDelta\"))'";
    char *known = run_well(print, "example.dwell"), *blind = run_well(print, "blind.dwell");
    check_text(known, "export-cpu.firefox.txt");
    check_text(blind, "export-cpu-blind.firefox.txt");
    free(known);
    free(blind);
}
