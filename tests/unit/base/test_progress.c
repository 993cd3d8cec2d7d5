/* The progress line of a long operation: its text, and when the terminal shows it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/progress.h"
#include "support/on_terminal.h"

/* ---- the line ---- */

static void expect_line(struct progress p, unsigned width, bool blocks, const char *expected)
{
    char line[PROGRESS_LINE];
    progress_text(&p, width, blocks, line);
    cr_assert(eq(str, line, (char *)expected));
}

Test(unit_progress, the_line_drops_parts_to_fit_its_width)
{
    const struct progress p = { "reading", "dwell.data", 250, 1000, 3 };
    expect_line(p, 100, false, "reading dwell.data ##########..............................  25 %, 9 s left");
    expect_line(p, 79, false, "reading dwell.data #########...........................  25 %, 9 s left");
    expect_line(p, 60, false, "reading dwell.data ####.............  25 %, 9 s left");
    expect_line(p, 50, false, "reading well.data ##......  25 %, 9 s left");
    expect_line(p, 40, false, "##......  25 %, 9 s left");
    expect_line(p, 31, false, " 25 %, 9 s left");
    expect_line(p, 14, false, "");
}

Test(unit_progress, blocks_and_names_of_many_bytes)
{
    const struct progress p = { "reading", "\u00e4\u00f6\u00fc.data", 1, 2, 0 };
    expect_line(p, 60, true,
                "reading \u00e4\u00f6\u00fc.data \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
                "\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591\u2591  50 %");
    expect_line(p, 47, true, "reading \u00fc.data \u2588\u2588\u2588\u2588\u2591\u2591\u2591\u2591  50 %");
}

Test(unit_progress, the_remaining_time_is_shown_once_it_can_be_estimated)
{
    expect_line((struct progress){ "reading", "a", 49, 1000, 9 }, 40, false, "........   4 %");
    expect_line((struct progress){ "reading", "a", 50, 1000, 0 }, 40, false, "........   5 %");
    expect_line((struct progress){ "reading", "a", 50, 1000, 9 }, 40, false, "........   5 %, 171 s left");
    expect_line((struct progress){ "reading", "a", 1000, 1000, 9 }, 40, false, "######## 100 %, 0 s left");
}

Test(unit_progress, more_than_all_or_nothing_at_all)
{
    expect_line((struct progress){ "reading", "a", 2000, 1000, 0 }, 40, false, "######## 100 %");
    expect_line((struct progress){ "reading", "a", 5, 0, 0 }, 40, false, "######## 100 %");
    expect_line((struct progress){ "reading", "a", 0, 0, 0 }, 40, false, "........   0 %");
}

Test(unit_progress, no_line_is_too_long)
{
    char line[PROGRESS_LINE];
    const struct progress p = { "looking through", "a-name-that-is-quite-long-0123456789.data", 99, 1000, 99999 };
    for (unsigned width = 0; width < 2000; width++) {
        progress_text(&p, width, true, line);
        unsigned columns = 0;
        for (const char *at = line; *at; at++)
            columns += (*at & 0xc0) != 0x80;
        cr_assert(le(uint, columns, width));
    }
}

/* ---- on the terminal ---- */

static uint64_t moment;

static uint64_t clock_of_test(void)
{
    return moment;
}

static struct terminal *progress_begin_test(const char *delay)
{
    setlocale(LC_ALL, "C");
    setenv("TERM", "xterm", 1);
    unsetenv("DWELL_PROGRESS");
    if (delay)
        setenv("DWELL_PROGRESS", delay, 1);
    moment = 5;
    progress_use_clock(clock_of_test);
    return terminal_for_errors(61);
}

static void expect_sent(struct terminal *t, const char *expected)
{
    char *sent = terminal_take(t);
    cr_assert(eq(str, sent, (char *)expected));
    free(sent);
}

#define ERASE "\r\033[K"
static const uint64_t second = 1000000000, tenth = 100000000;

Test(unit_progress, the_line_appears_after_a_second)
{
    struct terminal *t = progress_begin_test(NULL);
    progress_begin("reading", "/tmp/dwell.data", 100);
    moment += second - 1;
    progress_add(10);
    expect_sent(t, "");
    moment += 1;
    progress_add(15);
    expect_sent(t, ERASE "reading dwell.data ####.............  25 %, 3 s left");
    moment += tenth - 1; /* not all the time */
    progress_add(25);
    expect_sent(t, "");
    moment += 1;
    progress_add(0);
    expect_sent(t, ERASE "reading dwell.data ########.........  50 %, 1 s left");
    progress_end();
    expect_sent(t, ERASE);
    progress_end();
    expect_sent(t, "");
    progress_begin("following", "dwell.data", 100); /* that second has passed */
    expect_sent(t, ERASE "following dwell.data ...............   0 %");
    progress_end();
    expect_sent(t, ERASE);
    terminal_drop(t);
}

Test(unit_progress, quick_work_shows_no_line)
{
    struct terminal *t = progress_begin_test(NULL);
    for (unsigned i = 0; i < 9; i++) {
        progress_begin("reading", "dwell.data", 2);
        progress_add(1);
        moment += tenth;
        progress_add(1);
        progress_end();
    }
    expect_sent(t, "");
    terminal_drop(t);
}

Test(unit_progress, the_delay_can_be_set)
{
    struct terminal *t = progress_begin_test("0");
    progress_begin("reading", "dwell.data", 2);
    expect_sent(t, ERASE "reading dwell.data .................   0 %");
    progress_end();
    expect_sent(t, ERASE);
    terminal_drop(t);
}

Test(unit_progress, the_line_can_be_turned_off)
{
    struct terminal *t = progress_begin_test("never");
    progress_begin("reading", "dwell.data", 2);
    moment += 1000 * second;
    progress_add(1);
    progress_end();
    expect_sent(t, "");
    terminal_drop(t);
}

Test(unit_progress, not_on_a_dumb_terminal)
{
    struct terminal *t = progress_begin_test("0");
    setenv("TERM", "dumb", 1);
    progress_begin("reading", "dwell.data", 2);
    progress_end();
    expect_sent(t, "");
    terminal_drop(t);
}

Test(unit_progress, messages_have_lines_of_their_own)
{
    struct terminal *t = progress_begin_test("0");
    progress_begin("reading", "dwell.data", 2);
    say("something");
    moment += tenth;
    progress_add(1);
    progress_end();
    expect_sent(t, ERASE "reading dwell.data .................   0 %" ERASE "dwell: something\r\n" ERASE
                         "reading dwell.data ########.........  50 %" ERASE);
    terminal_drop(t);
}

Test(unit_progress, an_interrupt_removes_the_line)
{
    struct terminal *t = progress_begin_test("0");
    const pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        progress_begin("reading", "dwell.data", 2);
        raise(SIGINT);
        _exit(0);
    }
    int status;
    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    cr_assert(eq(int, WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGINT));
    expect_sent(t, ERASE "reading dwell.data .................   0 %" ERASE);
    terminal_drop(t);
}
