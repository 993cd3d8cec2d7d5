/* The first screen of the report, and the tree and the callers that follow CPU time: byte for byte, in terminals of
 * several widths. In one session the work has no application time; in the other, most threads wait. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwell/format.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/waiting.h"

static void first_screen_save(struct writer *w, const char *name)
{
    writer_save(w, test_path(name));
    writer_free(w);
}

static void first_screen_save_sessions(void)
{
    first_screen_save(waiting_preempted(), "preempted");
    first_screen_save(waiting_server(), "server");
    first_screen_save(waiting_many(), "many");
}

TestSuite(golden_first_screen, .init = first_screen_save_sessions, .timeout = 300);

/* Without application time, the report opens with the function that computes, and says why. */
Test(golden_first_screen, work_that_was_preempted)
{
    check_golden("report preempted", "first-screen-preempted.txt");
    check_golden("tree preempted", "first-screen-preempted-tree.txt");
}

/* Work comes before waits, and each wait names its caller and its threads. */
Test(golden_first_screen, waits)
{
    check_golden("report server", "first-screen-server.txt");
    check_golden("tree server", "first-screen-server-tree.txt");
    check_golden("callers server main", "first-screen-server-callers.txt");
    check_golden("callers server epoll_wait", "first-screen-server-waits-callers.txt");
}

Test(golden_first_screen, of_widths)
{
    static const unsigned widths[] = { 80, 120, 200 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[64];
        snprintf(name, sizeof name, "first-screen-%u.txt", widths[i]);
        char *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %u; $DWELL report server; "
                              "$DWELL report preempted; $DWELL tree server; $DWELL callers server main\" /dev/null "
                              "</dev/null | tr -d '\\r' | sed 's/ *$//'",
                              widths[i]);
        check_text(text, name);
        free(text);
    }
}

/* Both tables fit on the terminal's first screen. */
Test(golden_first_screen, of_24_lines)
{
    char *text =
        run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols 80 rows 24; $DWELL report many\" "
                 "/dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'");
    check_text(text, "first-screen-24-lines.txt");
    free(text);
}

/* Remarks come after the tables, the losses first: two lines of them, and how many there are. */
Test(golden_first_screen, remarks)
{
    enum { TROUBLE = 116, LOST_EVENTS = 120, LOST_THREADS = 128 };
    struct writer *w = waiting_server();
    write_header(w, TROUBLE, DWELL_TROUBLE_NO_MEMORY | DWELL_TROUBLE_MAX_SIZE, 4);
    write_header(w, LOST_EVENTS, 12, 8);
    write_header(w, LOST_THREADS, 2, 8);
    first_screen_save(w, "losses");
    check_golden("report losses", "first-screen-remarks.txt");
    w = waiting_server();
    write_header(w, TROUBLE, DWELL_TROUBLE_TRUNCATED | DWELL_TROUBLE_MAX_SIZE, 4);
    first_screen_save(w, "cut");
    char *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols 80; $DWELL report cut\" "
                          "/dev/null </dev/null | tr -d '\\r' | sed 's/ *$//' | tail -4");
    check_text(text, "first-screen-remarks-80.txt");
    free(text);
    text = run_well("$DWELL info losses | grep -c ^remark");
    cr_assert(eq(str, text, (char *)"4\n"));
    free(text);
}

/* A limit is that of each table; filters and parts of the session apply to both. */
Test(golden_first_screen, limits_filters_and_parts)
{
    check_golden("report server --limit 1", "first-screen-limited.txt");
    check_golden("report server --filter 'calls>5'", "first-screen-filtered.txt");
    check_golden("report server --thread 'bio_*'", "first-screen-threads.txt");
    check_golden("report server --from 15ms --to 35ms", "first-screen-range.txt");
    check_golden("report server --root poll_events", "first-screen-root.txt");
    check_golden("report server preempted", "first-screen-several.txt");
    check_golden("report server --hot", "first-screen-hot.txt");
    check_golden("report server --raw", "first-screen-server.txt");
}

/* With an order, columns or other rows, there is one table. Data formats do not change. */
Test(golden_first_screen, one_table_on_request)
{
    char *by = run_well("$DWELL report server --by function"),
         *sorted = run_well("$DWELL report server --sort elapsed_exclusive"),
         *chosen = run_well("$DWELL report server --columns calls --filter 'elapsed_inclusive_max>1ms'");
    cr_assert(eq(str, by, sorted));
    check_text(by, "first-screen-by-function.txt");
    cr_assert(not(has(chosen, "Work,")));
    free(by);
    free(sorted);
    free(chosen);
}
