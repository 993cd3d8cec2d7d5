/* What else slow calls have more often than usual ones, on hand-written sessions: shares of calls, and that chance
 * makes no factors. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "causes/why.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { HANDLE = 0x401100, ALSO = 176, CAUSES = 2, EACH = 1000, SHORT = 100, LONG = 500 };

static const char guid[16] = "request";

static struct writer *factor_new(void)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol(w, 0, 0, 0, 0x1100, "handle");
    return w;
}

/* What a thread's calls have: each takes `usual` ticks, and `slow` ones take more. */
typedef bool factor_chooser(uint64_t call);

static void factor_write_thread(struct writer *w, uint32_t thread, uint64_t calls, factor_chooser *is_slow,
                                factor_chooser *is_marked)
{
    char name[16];
    snprintf(name, sizeof name, "thread-%u", (unsigned)thread);
    write_thread_at(w, 1, thread, 100 + thread, SOURCE_PERF, 0, name);
    begin_events(w, 1, thread, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < calls; i++) {
        const uint64_t begin = EACH * i + thread;
        write_enter(w, begin, HANDLE);
        if (is_marked)
            write_mark(w, begin + 5, begin + 5, 1, is_marked(i) ? "large" : "small");
        write_exit(w, begin + (is_slow(i) ? LONG : SHORT) + i % 7);
    }
    end_events(w, true);
    write_thread_end(w, 1, thread, false, EACH * calls);
}

/* Lines are "NAME VALUE SLOW/USUAL", in percent. */
static void factor_check(struct writer *w, double percent, const char *expected)
{
    struct analysis analysis;
    struct why why;
    struct error error = { NULL };
    char *text;
    size_t length;
    writer_save(w, test_path("factors"));
    writer_free(w);
    load_whole(&analysis, test_path("factors"), 1);
    cr_assert(why_find(&why, &analysis, 0, &(struct why_choice){ .percent = percent }, &error));
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < why.factors.count; i++) {
        const struct why_factor *factor = &why.factors.list[i];
        fprintf(out, "%s %s %.1f/%.1f\n", factor->name, factor->value, 100 * factor->shares[WHY_SLOW],
                100 * factor->shares[WHY_USUAL]);
    }
    need_stream_end(out);
    cr_assert(eq(str, text, (char *)expected));
    free(text);
    why_drop(&why);
    analysis_drop(&analysis);
}

static bool factor_never(uint64_t call)
{
    (void)call;
    return false;
}

static bool factor_each_tenth(uint64_t call)
{
    return call % 10 == 5;
}

/* One of two threads has all slow calls. */
Test(unit_why_factors, thread)
{
    struct writer *w = factor_new();
    factor_write_thread(w, 1, 100, factor_never, NULL);
    factor_write_thread(w, 2, 100, factor_each_tenth, NULL);
    factor_check(w, 5, "thread thread-2 100.0/47.4\n");
}

/* A process with one thread that calls the function 40 times. */
static void factor_write_process(struct writer *w, uint32_t process, uint64_t start, factor_chooser *is_slow)
{
    enum { CALLS = 40 };
    if (process > 1) {
        write_process_of(w, process, 100 * process, 100, 1, start, "/bin/p");
        write_module(w, process, 1, 0x400000, 0x401000, 0x402000, start, "/bin/p");
    }
    write_thread_at(w, process, process, 100 * process, SOURCE_PERF, start, "thread");
    begin_events(w, process, process, 0, start, NULL, 0);
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t begin = start + EACH * i + process;
        write_enter(w, begin, HANDLE);
        write_exit(w, begin + (is_slow(i) ? LONG : SHORT) + i % 7);
    }
    end_events(w, true);
    write_thread_end(w, process, process, false, start + EACH * CALLS);
}

/* One of five processes has all slow calls. */
Test(unit_why_factors, process)
{
    struct writer *w = factor_new();
    for (uint32_t i = 1; i <= 5; i++)
        factor_write_process(w, i, 0, i == 4 ? factor_each_tenth : factor_never);
    factor_check(w, 2, "process p (400) 100.0/18.4\n");
}

static bool factor_is_early(uint64_t call)
{
    return call < 4;
}

/* The first four calls of each process are slow. The last process begins 40 us after the first one, so the slow calls
 * are early in the session, too. */
Test(unit_why_factors, process_age)
{
    struct writer *w = factor_new();
    for (uint32_t i = 1; i <= 5; i++)
        factor_write_process(w, i, (i - 1) * 10 * EACH, factor_is_early);
    factor_check(w, 10,
                 "process age up to 3.508 us 100.0/0.0\n"
                 "time from 1 ns to 44.109 us 100.0/55.6\n"
                 "first call of a process 25.0/0.0\n"
                 "first call of a thread 25.0/0.0\n");
}

static bool factor_each_fifth(uint64_t call)
{
    return call % 5 == 0;
}

/* All slow calls set one mark, and few others do. */
Test(unit_why_factors, mark)
{
    struct writer *w = factor_new();
    factor_write_thread(w, 1, 200, factor_each_tenth, factor_each_fifth);
    factor_check(w, 10, "mark large 100.0/11.1\n");
}

/* Each tenth call is slow; all have a mark of one text, with a number. */
static struct writer *factor_write_numbers(uint32_t (*number_of)(uint64_t call))
{
    enum { CALLS = 200 };
    struct writer *w = factor_new();
    write_thread_at(w, 1, 1, 101, SOURCE_PERF, 0, "thread");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t begin = EACH * i + 1;
        write_enter(w, begin, HANDLE);
        write_mark(w, begin + 5, begin + 5, number_of(i), "order");
        write_exit(w, begin + (factor_each_tenth(i) ? LONG : SHORT) + i % 7);
    }
    end_events(w, true);
    write_thread_end(w, 1, 1, false, EACH * CALLS);
    return w;
}

static uint32_t factor_number_of_slow_calls(uint64_t call)
{
    return factor_each_tenth(call) ? 7 : 1;
}

static uint32_t factor_number_of_its_own(uint64_t call)
{
    return 1 + (uint32_t)call;
}

/* The slow calls have a number of their own. Numbers that tell single calls apart are no factor. */
Test(unit_why_factors, number_of_a_mark)
{
    factor_check(factor_write_numbers(factor_number_of_slow_calls), 10, "mark order=7 100.0/0.0\n");
    factor_check(factor_write_numbers(factor_number_of_its_own), 10, "");
}

static bool factor_is_in_the_middle(uint64_t call)
{
    return call >= 90 && call < 110;
}

/* The slow calls follow each other. */
Test(unit_why_factors, time)
{
    struct writer *w = factor_new();
    factor_write_thread(w, 1, 200, factor_is_in_the_middle, NULL);
    factor_check(w, 10, "time from 90.001 us to 109.505 us 100.0/0.0\n");
}

static bool factor_is_first(uint64_t call)
{
    return call == 0;
}

/* The first call of each thread is slow; so the slow calls are at one time, too. */
Test(unit_why_factors, first_call)
{
    struct writer *w = factor_new();
    for (uint32_t thread = 1; thread <= 10; thread++)
        factor_write_thread(w, thread, 40, factor_is_first, NULL);
    factor_check(w, 2.5,
                 "first call of a thread 100.0/0.0\n"
                 "time from 1 ns to 1.111 us 100.0/2.6\n");
}

/* All slow calls have an event with one value, and half of the others have that event with another one. */
Test(unit_why_factors, trace_event)
{
    struct writer *w = factor_new();
    write_event_class(w, 1, guid, "request");
    write_event_layout(
        w, 1, guid, &(struct written_layout){ .type = 256, .fields = 1, .name = "", .types = "\4", .names = "kind" });
    factor_write_thread(w, 1, 200, factor_each_tenth, NULL);
    begin_trace_events(w, 1, 1, 0);
    for (uint64_t i = 0; i < 200; i++) {
        const uint32_t kind = i % 10 == 5 ? 7 : 1;
        if (i % 2 == 0 && kind == 1)
            continue;
        write_trace_event(w, guid,
                          &(struct written_event){ .time = EACH * i + 50, .data = &kind, .size = sizeof kind });
    }
    end_trace_events(w, true);
    factor_check(w, 10,
                 "event request.kind=7 100.0/0.0\n"
                 "event request 100.0/44.4\n");
}

static void factor_write_cpu(struct writer *w, uint64_t begin, uint16_t cpu)
{
    write_off_cpu(w, false, begin, 10);
    write_words(w, (uint16_t[]){ DWELL_EXT_CPU << DWELL_EXTENSION_LENGTH_BITS | 1, cpu }, 2);
}

enum { UNKNOWN_CPU = UINT16_MAX };

/* Before each call, the thread is off its CPU. */
static struct writer *factor_write_cpus(uint16_t (*find_cpu)(uint64_t call))
{
    struct writer *w = factor_new();
    write_thread_at(w, 1, 1, 101, SOURCE_PERF, 0, "first");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t begin = EACH * i + 1;
        const uint16_t cpu = find_cpu(i);
        if (cpu == UNKNOWN_CPU)
            write_off_cpu(w, false, begin - 20, 10);
        else
            factor_write_cpu(w, begin - 20, cpu);
        write_enter(w, begin, HANDLE);
        write_exit(w, begin + (factor_each_tenth(i) ? LONG : SHORT) + i % 7);
    }
    end_events(w, true);
    write_thread_end(w, 1, 1, false, EACH * 200);
    return w;
}

static uint16_t factor_own_cpu(uint64_t call)
{
    return factor_each_tenth(call) ? 3 : 1;
}

/* The usual calls after these have come back. */
static uint16_t factor_unknown_afterwards(uint64_t call)
{
    return factor_each_tenth(call) ? 3 : UNKNOWN_CPU;
}

/* The thread stays where it came to. */
static uint16_t factor_moves_to_and_fro(uint64_t call)
{
    return (call + 5) / 10 % 2 ? 3 : 1;
}

Test(unit_why_factors, cpu)
{
    factor_check(factor_write_cpus(factor_own_cpu), 10,
                 "cpu 3 100.0/0.0\n"
                 "migration to another cpu 100.0/11.1\n");
    factor_check(factor_write_cpus(factor_unknown_afterwards), 10, "cpu 3 100.0/0.0\n");
}

Test(unit_why_factors, migration)
{
    factor_check(factor_write_cpus(factor_moves_to_and_fro), 10, "migration to another cpu 100.0/0.0\n");
}

/* Nothing else differs if slow calls are spread. */
Test(unit_why_factors, nothing)
{
    struct writer *w = factor_new();
    factor_write_thread(w, 1, 200, factor_each_tenth, NULL);
    factor_check(w, 10, "");
}

static uint64_t factor_state;

static bool factor_at_random(uint64_t call)
{
    (void)call;
    factor_state = factor_state * 6364136223846793005U + 1442695040888963407U;
    return (factor_state >> 33) % 50 == 0;
}

/* Of 100 sessions in which slow calls are random, at most 5 have factors. */
Test(unit_why_factors, chance, .timeout = 600)
{
    size_t found = 0;
    for (uint64_t i = 0; i < 100; i++) {
        struct writer *w = factor_new();
        struct analysis analysis;
        struct why why;
        struct error error = { NULL };
        factor_state = i;
        for (uint32_t thread = 1; thread <= 4; thread++)
            factor_write_thread(w, thread, 100, factor_at_random, factor_at_random);
        writer_save(w, test_path("factors"));
        writer_free(w);
        load_whole(&analysis, test_path("factors"), 1);
        cr_assert(why_find(&why, &analysis, 0, &(struct why_choice){ .percent = 2 }, &error));
        found += why.factors.count > 0;
        why_drop(&why);
        analysis_drop(&analysis);
    }
    cr_assert(le(sz, found, 5));
}
