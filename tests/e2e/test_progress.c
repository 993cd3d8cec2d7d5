/* The progress line of the commands: only on terminals, and removed before other output. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/on_terminal.h"

TestSuite(e2e_progress, .timeout = 300);

#define ERASE "\r\033[K"

static void progress_record(void)
{
    free(run_well("$DWELL record -q -o one $SAMPLES/fib 15 && $DWELL record -q -o two $SAMPLES/fib 14"));
}

/* The lines that are visible in the end. Removed lines are left out. */
static void erase_lines(char *text)
{
    for (char *at; (at = strstr(text, ERASE));) {
        char *begin = at;
        while (begin > text && begin[-1] != '\n')
            begin--;
        const char *rest = at + sizeof ERASE - 1;
        memmove(begin, rest, strlen(rest) + 1);
    }
}

/* A terminal ends lines with CR LF. */
static void drop_returns(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != '\r' || from[1] != '\n')
            *to++ = *from;
    *to = '\0';
}

/* The command shows progress while it works. What remains on the terminal is what it prints to a pipe. */
static void expect_progress(const char *command, const char *doing)
{
    struct ran piped = run("DWELL_PROGRESS=0 LC_ALL=C $DWELL %s", command);
    cr_assert(eq(int, piped.status, 0), "dwell %s: %s", command, piped.err);
    cr_assert(eq(str, piped.err, ""));
    struct ran r = run_on_terminal(90, "DWELL_PROGRESS=0 NO_COLOR=1 DWELL_PAGER= LC_ALL=C $DWELL %s >out", command);
    cr_assert(eq(int, r.status, 0), "dwell %s: %s", command, r.out);
    cr_assert(has(r.out, doing), "dwell %s: %s", command, r.out);
    erase_lines(r.out);
    cr_assert(eq(str, r.out, ""), "dwell %s", command);
    ran_drop(&r);
    char *out = run_well("cat out");
    cr_assert(eq(str, out, piped.out), "dwell %s", command);
    free(out);
    ran_drop(&piped);
}

Test(e2e_progress, every_command_that_reads_a_session_shows_progress)
{
    need_features("perflog");
    progress_record();
    expect_progress("report one", "reading one ");
    expect_progress("report one two", "reading two ");
    expect_progress("tree one", "reading one ");
    expect_progress("callers one fib", "reading one ");
    expect_progress("histogram one fib", "following one ");
    expect_progress("slowest one fib", "following one ");
    expect_progress("diff one two", "reading two ");
    expect_progress("replay one", "following one ");
    expect_progress("info one", "opening one ");
    expect_progress("marks one", "reading one ");
    expect_progress("merge one two -o both", "copying two ");
    expect_progress("export perflog one", "following one ");
    expect_progress("export callgrind -o fib.callgrind one", "reading one ");
}

Test(e2e_progress, after_a_recording)
{
    struct ran r = run_on_terminal(90, "DWELL_PROGRESS=0 LC_ALL=C $DWELL record -q $SAMPLES/fib 15 >out");
    cr_assert(eq(int, r.status, 0), "%s", r.out);
    cr_assert(has(r.out, "counting dwell.data "), "%s", r.out);
    erase_lines(r.out);
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

/* Progress and table are on one terminal. The table is the same as without progress. */
Test(e2e_progress, the_line_is_removed_before_the_output)
{
    need_features("perflog");
    progress_record();
    static const char *const pagers[] = { "", "cat", "sed s/^/paged:/" };
    static const char *const commands[] = { "report one", "tree one", "replay one", "export perflog one" };
    for (size_t i = 0; i < sizeof pagers / sizeof *pagers; i++)
        for (size_t j = 0; j < sizeof commands / sizeof *commands; j++) {
            struct ran with = run_on_terminal(
                70, "export NO_COLOR=1 LC_ALL=C DWELL_PAGER='%s'; DWELL_PROGRESS=0 $DWELL %s", pagers[i], commands[j]);
            struct ran without =
                run_on_terminal(70, "export NO_COLOR=1 LC_ALL=C DWELL_PAGER='%s'; DWELL_PROGRESS=never $DWELL %s",
                                pagers[i], commands[j]);
            cr_assert(has(with.out, "reading one ") || has(with.out, "opening one "), "%s", with.out);
            cr_assert(not(has(without.out, ERASE)));
            const char *last = strrchr(with.out, '\033'), *first = strchr(without.out, '\n');
            cr_assert(last != NULL && first != NULL);
            cr_assert(eq(str, (char *)last + 3, without.out), "%s, by '%s'", commands[j], pagers[i]);
            ran_drop(&with);
            ran_drop(&without);
        }
}

Test(e2e_progress, quick_commands_show_no_line)
{
    progress_record();
    struct ran r = run_on_terminal(70, "DWELL_PROGRESS=3600 DWELL_PAGER= $DWELL report one");
    cr_assert(not(has(r.out, ERASE)));
    ran_drop(&r);
}

Test(e2e_progress, errors_are_readable)
{
    progress_record();
    struct ran r = run_on_terminal(70, "DWELL_PROGRESS=0 DWELL_PAGER= LC_ALL=C $DWELL callers one nobody");
    cr_assert(eq(int, r.status, 2));
    erase_lines(r.out);
    drop_returns(r.out);
    cr_assert(eq(str, r.out, "dwell: one: no function 'nobody' was recorded; dwell report -s name lists them\n"));
    ran_drop(&r);
}
