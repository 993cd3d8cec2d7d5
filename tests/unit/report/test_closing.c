/* What stands below the tables of a report: two lines of remarks at most, and how many there are. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "report/opening.h"

static const char rest[] = "next: something";

/* An imported session has no line of sums. */
static struct summary closing_summary(void)
{
    return (struct summary){ .imported = true };
}

static void closing_expect(struct summary *summary, size_t width, const char *wanted)
{
    char *text = closing_text(summary, rest, width, USUAL_REMARK_LINES);
    cr_expect(eq(str, text, (char *)wanted));
    free(text);
    summary_drop_remarks(summary);
}

Test(unit_closing, remarks_of_one_line)
{
    struct summary s = closing_summary();
    closing_expect(&s, 80, "\nnext: something\n");
    summary_remark(&s, "events-lost", "one");
    closing_expect(&s, 80, "\n! one\n1 remark: dwell info; next: something\n");
    for (int i = 1; i <= 3; i++)
        summary_remark(&s, "events-lost", "number %d", i);
    closing_expect(&s, 80, "\n! number 1\n! number 2\n3 remarks: dwell info; next: something\n");
}

/* Of the first one, two lines. Others are shown as a whole or not at all. */
Test(unit_closing, remarks_of_several_lines)
{
    struct summary s = closing_summary();
    summary_remark(&s, "events-lost", "aaaa bbbb cccc dddd eeee ffff");
    summary_remark(&s, "events-lost", "gg");
    closing_expect(&s, 12, "\n! aaaa bbbb\ncccc dddd...\n2 remarks:\ndwell info;\nnext:\nsomething\n");
    summary_remark(&s, "events-lost", "aaaa bbbb cccc");
    summary_remark(&s, "events-lost", "gg");
    closing_expect(&s, 12, "\n! aaaa bbbb\ncccc\n2 remarks:\ndwell info;\nnext:\nsomething\n");
    summary_remark(&s, "events-lost", "gg");
    summary_remark(&s, "events-lost", "aaaa bbbb cccc");
    closing_expect(&s, 12, "\n! gg\n2 remarks:\ndwell info;\nnext:\nsomething\n");
}

/* What comes in most recordings is a mark and no remark. */
Test(unit_closing, caveats)
{
    static const char *const codes[] = { "counted-without-paths", "counted-without-times", "cpu-time-of-switches",
                                         "partly-timed" };
    struct summary s = closing_summary();
    s.counted = 740;
    s.partly_timed = 405;
    s.stack_samples = 1;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        summary_remark(&s, codes[i], "caveat");
    cr_expect(eq(sz, summary_count_special(&s), 0));
    closing_expect(&s, 80,
                   "\n740 functions only counted: ~ times by samples, > of timed calls, - unknown\nnext: something\n");
    s.counted = 1;
    s.stack_samples = 0;
    summary_remark(&s, codes[0], "caveat");
    summary_remark(&s, "events-lost", "special");
    closing_expect(&s, 80,
                   "\n1 function only counted: > times of timed calls, - unknown\n! special\n"
                   "1 remark: dwell info; next: something\n");
    s.partly_timed = 0;
    closing_expect(&s, 80, "\n1 function only counted: - unknown\nnext: something\n");
}

/* The figure of what recording added stands before the sums. With one line for remarks, there is one. */
Test(unit_closing, what_recording_added_comes_first)
{
    struct summary s = { .ticks_per_second = 1000, .off_cpu_known = true, .application_known = true };
    s.sums.elapsed_inclusive = s.elapsed_inclusive = s.application_inclusive = 2000;
    s.overhead_known = s.budget_acted = true;
    s.asked_percent = 10;
    s.reached_percent = 17;
    s.threads = 4;
    s.stack_samples = 280;
    s.samples_in_probes = 39;
    summary_remark(&s, "events-lost", "one");
    summary_remark(&s, "events-lost", "two");
    char *text = closing_text(&s, rest, 80, 1);
    cr_expect(eq(
        str, text,
        "\nrecording added 17 % to the CPU time (10 % asked); elapsed 2.000 s summed over 4\n"
        "threads, application 2.000 s (* is too low: read CPU time), 280 samples\n! one\n2 remarks: dwell info; next: something\n"));
    free(text);
    summary_drop_remarks(&s);
}
