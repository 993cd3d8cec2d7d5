/* Parameters that code changes before the probe is called, and those that a copy of the function does not have. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_changed, .timeout = 600);

/* A line for each printed parameter: its name, and "same", "unread" if not all calls have one, or "differs". */
static const char compare_all[] =
    "$DWELL record -q --overhead none $(sed 's/|.*//' names | sort -u | sed 's/^/--values /') ./changed >printed && "
    "while IFS='|' read -r function name; do "
    "sed -n \"s/^$function|$name|//p\" printed | LC_ALL=C sort >wanted; "
    "$DWELL values --each -n 0 --format csv \"$function:$name\" 2>/dev/null | tail -n +2 | "
    "awk -F, '{ for (i = 0; i < $2; i++) print $1 }' | LC_ALL=C sort >got; "
    "if cmp -s wanted got; then echo \"$function $name same\"; "
    "elif grep . got | grep -qvxFf wanted; then echo \"$function $name differs\"; "
    "else echo \"$function $name unread\"; fi; done <names >compared";

static void changed_check(const char *compiler, const char *expected_unread)
{
    free(run_well("%s -g -finstrument-functions -o changed " DWELL_CONSUMERS "/../e2e/programs/values/changed.c && "
                  "./changed | cut -d'|' -f1,2 | sort -u >names",
                  compiler));
    free(run_well("%s", compare_all));
    char *differs = run_well("sed -n 's/ differs//p' compared"), *unread = run_well("sed -n 's/ unread//p' compared"),
         *count = run_well("wc -l <compared");
    cr_assert(eq(str, differs, ""), "%s", compiler);
    cr_assert(eq(str, unread, (char *)expected_unread), "%s", compiler);
    cr_assert(eq(str, count, "16\n"));
    free(differs);
    free(unread);
    free(count);
}

/* What the code has lost is not shown. */
Test(e2e_values_changed, of_gcc)
{
    changed_check("gcc -O2", "copied unused\n");
    char *where = run_well("$DWELL values --list ./changed swap_4:n --format json | jq -r '.rows[].where'");
    cr_assert(eq(str, where, "swapped(rbx):4\n"));
    free(where);
}

/* GCC says of the copy that both parameters are in the same register. */
Test(e2e_values_changed, of_copies)
{
    changed_check("gcc -O3", "copied unused\n");
}

Test(e2e_values_changed, of_others)
{
    changed_check("gcc -O1", "copied unused\n");
    changed_check("clang -O2 -Wno-unknown-attributes", "copied unused\n");
    changed_check("gcc -O0", "");
}
