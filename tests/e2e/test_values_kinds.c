/* Values of every kind, under a timer's signals and with threads, against what the program prints. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_kinds, .timeout = 1800);

enum { ROUNDS = 25000 /* in each of four threads */ };

/* A line for each function: its name, and "same", "unread" or "differs". */
static const char compare_all[] =
    "./kinds | while read -r function what; do "
    "$DWELL record -q --values \"$function:$what\" ./kinds $function %d 2>/dev/null | LC_ALL=C sort > printed; "
    "[ -s printed ] || { echo \"$function unread\"; continue; }; "
    "$DWELL values --each -n 0 --format csv $function | tail -n +2 | sed 's/^\"\",/,/' | awk -F, '{ print $1 \"|\" $2 }' | "
    "LC_ALL=C sort > recorded; "
    "cmp -s printed recorded && echo \"$function same\" || echo \"$function differs\"; done > compared";

static void kinds_check(const char *compiler, const char *expected_unread)
{
    free(run_well("%s -std=c++17 -g -o kinds " DWELL_CONSUMERS "/../e2e/programs/values/kinds.cc -lpthread", compiler));
    free(run_well(compare_all, ROUNDS));
    char *differs = run_well("sed -n 's/ differs//p' compared"), *unread = run_well("sed -n 's/ unread//p' compared"),
         *whole = run_well("test $(wc -l < compared) -eq $(./kinds | wc -l) && echo whole");
    cr_assert(eq(str, differs, ""), "%s", compiler);
    cr_assert(eq(str, unread, (char *)expected_unread), "%s", compiler);
    cr_assert(eq(str, whole, "whole\n"));
    free(differs);
    free(unread);
    free(whole);
}

Test(e2e_values_kinds, of_gcc_without_optimisation)
{
    kinds_check("g++ -O0 -finstrument-functions -finstrument-functions-exclude-file-list=/usr", "");
}

/* GCC says of small parameters that they are optimised out, as it has extended them. The code shows where they are. */
Test(e2e_values_kinds, of_gcc)
{
    kinds_check("g++ -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr", "");
}

Test(e2e_values_kinds, of_clang)
{
    kinds_check("clang++ -O2 -finstrument-functions-after-inlining", "take_view\nclass_small\nclass_third\n");
}

/* A library is loaded and unloaded 20 times. Those calls that come before its values are read have -1. */
Test(e2e_values_kinds, of_a_library_that_comes_and_goes)
{
    free(run_well("gcc -O2 -g -DPLUGIN -fPIC -shared -finstrument-functions -o plugin.so " DWELL_CONSUMERS
                  "/../e2e/programs/values/unloaded.c && gcc -O2 -g -finstrument-functions -o unloaded " DWELL_CONSUMERS
                  "/../e2e/programs/values/unloaded.c -ldl -lpthread && "
                  "$DWELL record -q --values './plugin.so!take:n,return' ./unloaded ./plugin.so 20 1000 >printed"));
    char *same =
        run_well("$DWELL values --each -n 0 --format csv take:n | tail -n +2 | awk -F, '{ print $1 \"|\" $2 }' | "
                 "grep -v '^-1|' >recorded; sort printed >p; sort recorded >r; cmp p r && echo same");
    cr_assert(eq(str, same, "same\n"));
    free(same);
    same = run_well(
        "$DWELL values --each -n 0 --format csv take:return | tail -n +2 | awk -F, '{ print $1 / 3 \"|\" $2 }' "
        "| grep -v '^-1|' >recorded; awk -F'|' '{ print $1 + 0 \"|\" $2 }' printed | sort >p; sort recorded >r; "
        "cmp p r && echo same");
    cr_assert(eq(str, same, "same\n"));
    free(same);
}
