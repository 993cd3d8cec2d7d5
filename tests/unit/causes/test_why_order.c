/* In which order the rows of slow calls come, if one of the calls was preempted. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "causes/why.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/session_writer.h"

TestSuite(unit_why_order, .timeout = 300);

enum { HANDLE = 0x401100, ALSO = 176, CAUSES = 2, CALLS = 44, EACH = 11, SLOW = 5, PREEMPTED = 16, OFF = 4000 };

/* Forty usual calls, and four that take longer by so many ticks. One of these was also preempted. */
static void order_save(uint64_t longer)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol(w, 0, 0, 0, 0x1100, "handle");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "first");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t begin = 10000 * (i + 1), cpu = 100 + i * 5 % CALLS + (i % EACH == SLOW ? longer : 0);
        write_enter(w, begin, HANDLE);
        if (i == PREEMPTED)
            write_off_cpu(w, true, begin + 10, OFF);
        write_exit(w, begin + cpu + (i == PREEMPTED ? OFF : 0));
    }
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 500000);
    writer_save(w, test_path("order"));
    writer_free(w);
}

static void order_expect(uint64_t longer, const enum why_kind *kinds, bool named)
{
    struct analysis analysis;
    struct why why;
    struct error error = { NULL };
    order_save(longer);
    load_whole(&analysis, test_path("order"), 1);
    cr_assert(why_find(&why, &analysis, 0, &(struct why_choice){ .percent = 9 }, &error));
    cr_assert(eq(sz, why.line_count, 2));
    for (size_t i = 0; i < 2; i++)
        cr_assert(eq(int, why.lines[i].kind, kinds[i]), "%d, %d", (int)longer, (int)i);
    cr_assert(eq(i64, why.lines[kinds[0] == WHY_CPU].difference, OFF / 4));
    cr_assert(eq(int, why.lines[0].found, named));
    cr_assert(not(why.lines[1].found));
    why_drop(&why);
    analysis_drop(&analysis);
}

/* What happened to one of several slow calls alone proves nothing, though it is most of the difference. So it comes
 * after the row that is named. Without one, the longest row comes first. */
Test(unit_why_order, preempted_by_chance)
{
    order_expect(500, (enum why_kind[]){ WHY_CPU, WHY_RUNNABLE }, true);
    order_expect(0, (enum why_kind[]){ WHY_RUNNABLE, WHY_CPU }, false);
}
