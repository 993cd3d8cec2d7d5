/* Calls into libraries by the constructors of plugins, and by plugins in a namespace of their own. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_of_plugins, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"

/* The plugin's constructor makes 7 calls of callee_ints, opened_run 100 of it and of callee_sum. */
static void plugins_build(const char *how)
{
    free(run_well("gcc -O1 -w -shared -fPIC " SOURCES
                  "callee.c -o libcallee.so && gcc -O1 -finstrument-functions " SOURCES
                  "opener.c -o opener -pthread && gcc -O2 -DCONSTRUCTED -fno-builtin -finstrument-functions -shared "
                  "-fPIC " SOURCES "opened.c -o libopened.so -L. -lcallee -Wl,-rpath,$PWD %s",
                  how));
}

/* The library is loaded and unloaded 5 times. */
static void plugins_expect(const char *library, const char *mode, const char *expected)
{
    char *without = run_well("LD_LIBRARY_PATH=$PWD ./opener %s 1 5 %s", library, mode);
    char *with =
        run_well("LD_LIBRARY_PATH=$PWD $DWELL record -q --sample 0 --overhead none --calls-to 'libcallee.so!*' "
                 "./opener %s 1 5 %s 2>errors",
                 library, mode);
    cr_assert(eq(str, with, without), "%s %s", library, mode);
    free(without);
    free(with);
    char *rows = run_well("$DWELL report --by function -n 0 --format json | jq -r '[.rows[] | select(.function | "
                          "test(\"^(callee_|opened_)\")) | \"\\(.function) \\(.calls)\"] | sort[]'");
    cr_assert(eq(str, rows, (char *)expected), "%s %s", library, mode);
    free(rows);
}

/* The enter of the constructor is the thread's next probe. */
Test(e2e_calls_of_plugins, constructors)
{
    static const char *const how[] = { "-Wl,-z,lazy", "-Wl,-z,now", "-fno-plt -Wl,-z,now" };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const char *expected = "callee_ints 535\ncallee_sum 500\nopened_construct 5\nopened_run 5\n";
        plugins_build(how[i]);
        plugins_expect("./libopened.so", "lazy", expected);
        plugins_expect("./libopened.so", "now", expected);
        plugins_expect("libopened.so", "lazy", expected);
    }
}

/* The plugin's libraries are others there than those of the program. */
Test(e2e_calls_of_plugins, in_a_namespace_of_their_own)
{
    plugins_build("");
    plugins_expect("./libopened.so", "apart", "opened_run 5\n");
}

/* ---- functions that the loader does not find ---- */

/* A newer library has one of the two functions no more. The program runs until it calls that one, which ends it. */
Test(e2e_calls_of_plugins, missing_functions)
{
    free(run_well(
        "printf 'int here(int n) { return n + 1; } int gone(int n) { return n; }' > old.c && "
        "printf 'int here(int n) { return n + 1; }' > new.c && "
        "printf '#include <stdlib.h>\\nint here(int); int gone(int); int main(int argc, char **argv) { int n = "
        "0; while (n < 50) n = here(n); return argc > 1 ? gone(0) : 0; }' > calls.c && "
        "gcc -O1 -w -shared -fPIC old.c -o libmoved.so && gcc -O1 -w -finstrument-functions calls.c -o calls "
        "-Wl,-z,lazy -L. -lmoved -Wl,-rpath,$PWD && gcc -O1 -w -shared -fPIC new.c -o libmoved.so"));
    static const char *const patterns[] = { "--calls-to 'libmoved.so!*'", "--calls-to-all", "--calls-to here" };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        free(run_well("$DWELL record -q --overhead none %s ./calls", patterns[i]));
        char *rows = run_well("$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | "
                              "\"\\(.function) \\(.calls)\"] | sort'");
        cr_assert(eq(str, rows, "[\"here 50\",\"main 1\"]\n"), "%s", patterns[i]);
        free(rows);
        struct ran ends = run("$DWELL record -q --overhead none %s ./calls once", patterns[i]);
        cr_assert(eq(int, ends.status, 127), "%s", patterns[i]);
        cr_assert(has(ends.err, "undefined symbol: gone"), "%s: %s", patterns[i], ends.err);
        ran_drop(&ends);
    }
}
