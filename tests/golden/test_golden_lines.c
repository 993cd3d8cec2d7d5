/* The views by line, byte for byte, for any split of the recording. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/site_session.h"

static void save_site_session(int way)
{
    struct writer *w = site_session(way);
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
}

TestSuite(golden_lines, .timeout = 300);

Test(golden_lines, views)
{
    for (int way = 0; way < SITES_WAYS; way++) {
        save_site_session(way);
        check_golden("report --by line --format csv", "lines.csv");
        check_golden("report --by line --format json --limit 2 --sort calls", "lines.json");
        check_golden("tree --by line", "lines-tree.txt");
        check_golden("tree --by line --fold-recursion --format csv", "lines-tree.csv");
        check_golden("callers --by line f", "lines-callers.txt");
        check_golden("callers --by line f --format csv", "lines-callers.csv");
        check_golden("export callgrind", "lines.callgrind");
        char *text = run_well("$DWELL export pprof -o p.gz && python3 -B " DWELL_CONSUMERS "/pprof.py print p.gz");
        check_text(text, "lines.pprof.txt");
        free(text);
    }
}

Test(golden_lines, text)
{
    save_site_session(SITES_WHOLE);
    check_golden("report --by line", "lines.txt");
    check_golden("report --by line --filter 'function=main' --columns calls", "lines-some.txt");
    check_golden("report", "lines-none.txt");
}

Test(golden_lines, a_range_of_time)
{
    save_site_session(SITES_WHOLE);
    check_golden("report --by line --from 50ns --to 120ns --format csv", "lines-range.csv");
}
