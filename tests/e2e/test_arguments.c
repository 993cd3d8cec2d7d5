/*
 * Reads arguments and results while programs run, and compares them with what the programs print of them. The called
 * functions do not print, so that nothing keeps alive what the compiler would drop.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/traced.h"

TestSuite(e2e_arguments, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/arguments/"

static const struct traced_function in_c[] = {
    { "f_integers", "a b c d e f g h return" },
    { "f_small", "a b c d return" },
    { "f_floats", "a b c n return" },
    { "f_half", "a return" },
    { "f_point", "p->x p->low p->high p->sign p->next->y p->name[1] p->next->list[2] p[0].x *q return" },
    { "f_text", "text other *text return" },
    { "f_large", "by_value.words[3] by_value.tail last return" },
    { "f_pair", "p.first p.second last return" },
    { "f_make", "tail return.tail return.words[4]" },
    { "f_dead", "unused used return" },
    { "f_variadic", "count return" },
    { "f_loop", "list[1] count return" },
    { "f_two_ends", "n return" },
    { "f_pointer", "p return" },
    { "f_recursive", "depth sum return" },
    { "f_inlined", "a b return" },
    { NULL, NULL },
};

static const struct traced_function in_cxx[] = {
    { "f_handle",
      "this this->count request.serial request.kind request.name request.length view pointer->length return" },
    { "f_own", "own shared own->serial shared->name return" },
    { "f_title", "n return" },
    { "f_largest", "least return" },
    { "f_make", "good text return return->length" },
    { "f_pass", "request.length return.length" },
    { "f_throws", "n return" },
    { NULL, NULL },
};

/* Lines that were read, and those with ?. */
struct arguments_count {
    int read, missing;
};

/* Each line that was read is the program's, in its order. */
static struct arguments_count arguments_compare(char *read, char *printed, const char *how)
{
    struct arguments_count count = { 0, 0 };
    char *ours, *theirs;
    while ((ours = strsep(&read, "\n")) && *ours) {
        theirs = strsep(&printed, "\n");
        const size_t length = strlen(ours);
        const bool missing = length > 1 && strcmp(ours + length - 2, " ?") == 0;
        cr_assert(theirs != NULL, "%s: '%s' was not printed", how, ours);
        cr_assert(missing ? strncmp(ours, theirs, length - 1) == 0 : strcmp(ours, theirs) == 0,
                  "%s: read '%s', printed '%s'", how, ours, theirs);
        count.read += !missing;
        count.missing += missing;
    }
    cr_assert(printed != NULL && !*printed, "%s: not read: '%.80s'", how, printed ? printed : "");
    return count;
}

static struct arguments_count arguments_check(const char *compile, const struct traced_function *functions, int rounds)
{
    char argument[16];
    free(run_well("%s -o called", compile));
    snprintf(argument, sizeof argument, "%d", rounds);
    char program[4096], output[4096];
    snprintf(program, sizeof program, "%s", test_path("called"));
    snprintf(output, sizeof output, "%s", test_path("printed"));
    char *read = traced_run(program, argument, output, functions), *printed = run_well("cat printed");
    const struct arguments_count count = arguments_compare(read, printed, compile);
    free(read);
    free(printed);
    return count;
}

/* Compiles, runs and compares. `least` percent of the lines are read. */
static void arguments_check_share(const char *compiler, const char *level, const char *more,
                                  const struct traced_function *functions, int least)
{
    char compile[4096];
    snprintf(compile, sizeof compile, "%s %s -g -fwrapv %s", compiler, level, more);
    const struct arguments_count count = arguments_check(compile, functions, 20);
    cr_assert(ge(int, count.read * 100, (count.read + count.missing) * least), "%s: %d read, %d not", compile,
              count.read, count.missing);
}

/* Without optimisation, GCC stores all parameters before it calls the probe, and clang afterwards. */
Test(e2e_arguments, of_c)
{
    static const char *const levels[] = { "-O0", "-O1", "-O2", "-O3", "-Os" };
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        arguments_check_share("gcc -finstrument-functions", levels[l], SOURCES "called.c", in_c, l ? 80 : 100);
        arguments_check_share("clang -finstrument-functions", levels[l], SOURCES "called.c", in_c, l ? 80 : 30);
    }
}

Test(e2e_arguments, of_cxx)
{
    static const char *const levels[] = { "-O0", "-O2", "-O3" };
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        arguments_check_share("g++ -finstrument-functions", levels[l], "-std=c++17 " SOURCES "called.cc", in_cxx,
                              l ? 80 : 100);
        arguments_check_share("clang++ -finstrument-functions-after-inlining", levels[l],
                              "-std=c++17 " SOURCES "called.cc", in_cxx, l ? 80 : 30);
    }
}

/* Code without a position of its own, parts of it elsewhere, debug information elsewhere, and all at link time. */
Test(e2e_arguments, of_other_builds)
{
    static const char *const builds[] = { "-no-pie -fno-pie",           "-gsplit-dwarf",           "-gdwarf-4",
                                          "-fomit-frame-pointer -flto", "-fno-omit-frame-pointer", "-fno-plt",
                                          "-ffunction-sections -gz" };
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        char more[4096];
        snprintf(more, sizeof more, "%s %s", builds[i], SOURCES "called.c");
        arguments_check_share("gcc -finstrument-functions", "-O2", more, in_c, 80);
    }
}
