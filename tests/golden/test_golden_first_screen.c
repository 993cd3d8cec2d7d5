/* The first screen of the report, and the tree and the callers that follow CPU time: byte for byte, in terminals of
 * several widths. In one session the work has no application time; in the other, most threads wait. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Neither two remarks nor a long name make it a line too long: then there are fewer functions above, and one remark. */
Test(golden_first_screen, of_24_lines_with_remarks)
{
    enum { TROUBLE = 116, LOST_EVENTS = 120 };
    struct writer *w = waiting_many();
    write_header(w, TROUBLE, DWELL_TROUBLE_TRUNCATED | DWELL_TROUBLE_MAX_SIZE, 4);
    write_header(w, LOST_EVENTS, 12, 8);
    first_screen_save(w, "as-long-as-those-of-days-and-hosts.data");
    for (size_t rows = 24; rows >= 22; rows--) {
        char *text =
            run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols 80 rows %zu; $DWELL report "
                     "as-long*\" /dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
                     rows);
        size_t lines = 0;
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        cr_expect(eq(sz, lines, rows - 1)); /* and the prompt */
        cr_expect(has(text, "CPU 325 ms: compute_25 8 %, compute_24 7 %\n\nWork"), "%s", text);
        cr_expect(has(text, "\n! 12 events were lost\n"), "%s", text);
        cr_expect(eq(int, has(text, "\n! the file was truncated"), rows > 22), "%s", text);
        cr_expect(has(text, "\n3 remarks: dwell info; next: "), "%s", text);
        free(text);
    }
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

static void first_screen_save_odd_names(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/odd");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/bin/odd");
    write_symbol_module(w, 1, "/bin/odd");
    write_symbol(w, 1, 0, 0, 0x1000, "a|b`c@all_y_<img>\x1b[1m");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x1000);
    write_exit(w, 1000);
    end_events(w, true);
    first_screen_save(w, "odd");
}

/* The report in short is Markdown of at most 40 lines, in which names mean nothing. */
Test(golden_first_screen, summaries)
{
    check_golden("report --summary server", "summary-server.md");
    check_golden("report --summary server preempted", "summary-several.md");
    check_golden("report --summary --from 15ms --to 35ms server", "summary-range.md");
    first_screen_save_odd_names();
    check_golden("report --summary odd", "summary-odd.md");
    char *lines = run_well("$DWELL report --summary many | tee many.md | wc -l; grep -c '^| `' many.md");
    cr_assert(eq(str, lines, (char *)"21\n10\n"));
    free(lines);
    struct ran r = run("$DWELL report --summary --by module server");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "dwell: --summary: is Markdown with rows of its own;"), "%s", r.err);
    ran_drop(&r);
}

/* Without CPU times, rows go by elapsed time. */
Test(golden_first_screen, summary_without_cpu_times)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/blind");
    write_thread(w, 1, 1, 100, SOURCE_NONE, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x1000);
    write_exit(w, 1000);
    end_events(w, true);
    first_screen_save(w, "blind");
    check_golden("report --summary blind", "summary-blind.md");
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
