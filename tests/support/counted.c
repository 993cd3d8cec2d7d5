#include "support/counted.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

const char *const counted_modes[3] = { "trace", "ring=1G", "profile" };

void counted_check(const char *out, const char *what)
{
    struct report *r = report_of("");
    int functions = 0;
    for (const char *line = strstr(out, "calls "); line; line = strstr(line + 1, "\ncalls ")) {
        char name[64];
        unsigned long calls;
        cr_assert(eq(int, sscanf(line + (*line == '\n'), "calls %63s %lu", name, &calls), 2));
        cr_assert(eq(u64, report_sum(r, "function", name, "calls"), calls), "%s: %s", what, name);
        if (calls && strncmp(name, "hot_", 4) == 0)
            cr_assert(eq(u64, report_sum(r, "function", name, "elapsed_inclusive_ns"), 0), "%s: %s", what, name);
        functions++;
    }
    cr_assert(gt(int, functions, 3));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", what);
    report_drop(r);
    char *csv = run_well("$DWELL report --format csv --filter 'name~hot_*' | cut -d, -f1,6-7,27");
    for (const char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1)
        cr_assert(eq(int, strncmp(strchr(line, ','), ",,,counted", 10), 0), "%s: %s", what, csv);
    free(csv);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
}

void counted_run(const char *mode, const char *arguments)
{
    char *out =
        run_well("$DWELL record -q --mode %s --level 'counted=hot_*' $PROGRAMS/levels/counted %s", mode, arguments);
    counted_check(out, arguments);
    free(out);
}
