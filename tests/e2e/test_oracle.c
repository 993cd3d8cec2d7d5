/*
 * Compares recorded stacks with those of an unwinder. The programs are generated in C and C++, by GCC and clang, with
 * and without optimisation. The modes are trace, ring and profile, and trace and profile with rows of libraries.
 * tests/oracle makes the programs, unwinds and compares.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_oracle, .timeout = 600);

enum { PROGRAMS = 100, AT_ONCE = 25 }; /* of each language */

static const struct {
    const char *language, *compiler;
} oracle_compilers[] = { { "c", "gcc" }, { "c", "clang" }, { "c++", "g++" }, { "c++", "clang++" } };
static const char *const oracle_levels[] = { "-O0", "-O2" };

/* A case holds numbers only: it runs in a process of its own, in which pointers are not valid. */
struct oracle_case {
    int compiler, level, first;
};

ParameterizedTestParameters(e2e_oracle, stacks_of_made_programs)
{
    static struct oracle_case cases[4 * 2 * PROGRAMS / AT_ONCE];
    size_t count = 0;
    for (int compiler = 0; compiler < 4; compiler++)
        for (int level = 0; level < 2; level++)
            for (int first = 0; first < test_rounds(PROGRAMS); first += AT_ONCE)
                cases[count++] = (struct oracle_case){ compiler, level, first };
    return cr_make_param_array(struct oracle_case, cases, count);
}

ParameterizedTest(struct oracle_case *c, e2e_oracle, stacks_of_made_programs)
{
    char *agreed = run_well("$ORACLE/run $BUILD oracle %s %d %d %s %s", oracle_compilers[c->compiler].language,
                            c->first, AT_ONCE, oracle_compilers[c->compiler].compiler, oracle_levels[c->level]);
    /* Each program makes at least thirty calls, and there are five recordings. */
    cr_assert(gt(int, atoi(agreed), AT_ONCE * 30 * 5), "%s", agreed);
    free(agreed);
}
