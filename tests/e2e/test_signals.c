/* Signal handlers that run instrumented code, wherever they interrupt. Counts are exact, and both stacks are
 * correct. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_signals, .timeout = 300);

static const char *const modes[] = { "trace", "profile", "ring=1G" };
static const char *const levels[] = { "-O0", "-O2" };

/* Frames that belong to the program only. A handler may interrupt any of them, and nothing else may be below a leaf. */
static void check_paths(const char *what)
{
    char *paths = report_paths("");
    char *copy = strdup(paths), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        const char *handler = strstr(line, "handler");
        const char *leaf = strstr(line, "/leaf/");
        cr_assert(not(leaf && (!handler || leaf > handler)), "%s: %s", what, line); /* below leaf come handlers only */
        const char *after = strstr(line, "handler/");
        cr_assert(not(after && strncmp(after, "handler/handler", 15) != 0), "%s: %s", what, line);
    }
    free(copy);
    free(paths);
}

static void signals_check(const char *how, bool paths)
{
    for (int i = 0; i < 6; i++) {
        const char *mode = modes[i / 2], *level = levels[i % 2];
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/signals/signals%s %s 60000", mode, level, how);
        struct report *r = report_of("");
        check_counts(out, r, 4);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
        if (!paths)
            continue;
        char *info = run_well("$DWELL info");
        cr_assert(has(info, " 0 frames left without one"), "%s %s: %s", how, mode, info);
        cr_assert(not(has(info, "remark")), "%s %s: %s", how, mode, info);
        free(info);
        check_paths(how);
    }
}

Test(e2e_signals, nested_in_four_threads)
{
    signals_check("nested", true);
}

Test(e2e_signals, on_alternate_stacks)
{
    signals_check("alternate", true);
}

Test(e2e_signals, without_the_helper)
{
    char *out = run_well("DWELL_HELPER=off $DWELL record -q $PROGRAMS/signals/signals-O2 nested 20000");
    struct report *r = report_of("");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
}

Test(e2e_signals, a_handler_left_by_siglongjmp)
{
    for (int i = 0; i < 6; i++) {
        char *out =
            run_well("$DWELL record -q --mode %s $PROGRAMS/signals/signals%s jump", modes[i / 2], levels[i % 2]);
        struct report *r = report_of("");
        check_counts(out, r, 5);
        report_drop(r);
        free(out);
        char *paths = report_paths("");
        cr_assert(eq(str, paths,
                     "catcher 500\ncatcher/leaf 500\ncatcher/raiser 500\ncatcher/raiser/jumper 167\n"
                     "catcher/raiser/jumper/handler_leaf 167\n"
                     "catcher/raiser/jumper/handler_leaf/handler_leaf 167\n"
                     "catcher/raiser/raiser 333\ncatcher/raiser/raiser/jumper 167\n"
                     "catcher/raiser/raiser/jumper/handler_leaf 167\n"
                     "catcher/raiser/raiser/jumper/handler_leaf/handler_leaf 167\n"
                     "catcher/raiser/raiser/raiser 166\ncatcher/raiser/raiser/raiser/jumper 166\n"
                     "catcher/raiser/raiser/raiser/jumper/handler_leaf 166\n"
                     "catcher/raiser/raiser/raiser/jumper/handler_leaf/handler_leaf 166\n"),
                  "%s %s", modes[i / 2], levels[i % 2]);
        free(paths);
    }
}

Test(e2e_signals, a_handler_that_never_returns)
{
    signals_check("never", false);
    char *paths = report_paths("");
    cr_assert(eq(
        str, paths,
        "raiser 1\nraiser/finisher 1\nraiser/finisher/fflush 1\nraiser/finisher/work 1000\nraiser/finisher/work/leaf 1000\n"
        "raiser/finisher/work/work 1000\nraiser/finisher/work/work/leaf 1000\n"));
    free(paths);
}
