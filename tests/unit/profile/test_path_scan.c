/* The time of functions in ranges of a thread's time, and which one took most, whatever the number of workers. */
#include "profile/path_scan.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "profile/chunk_ends.h"
#include "profile/path_memory.h"
#include "support/scenario.h"

TestSuite(unit_path_scan, .timeout = 300);

enum { A = 0x1000, B = 0x2000, C = 0x3000, OUTSIDE = 0, MOST_JOBS = 3, RANGES = 5 };

static const struct path_range ranges[RANGES] = {
    { 1, 100, 140, 100 }, /* in two chunks */
    { 1, 140, 150, 140 }, /* ends with a wait and work */
    { 1, 150, 160, 150 }, /* two functions took the same */
    { 2, 0, 20, 0 },      /* ends in a wait */
    { 2, 20, 60, 30 },    /* the wait was over at 30, and the thread's events end at 50 */
};

struct expected {
    uint64_t function;
    uint32_t range;
    struct path_times times;
};

static const struct expected all_times[] = {
    { A, 0, { .work = 11 } },        { B, 0, { .work = 16 } },
    { C, 0, { .work = 10 } },        { OUTSIDE, 0, { .work = 3 } },
    { C, 1, { .work = 2 } },         { A, 1, { .work = 5, .outside = 3 } },
    { C, 2, { .work = 5 } },         { B, 2, { .work = 5 } },
    { A, 3, { 10, .outside = 10 } }, { A, 4, { 10, .runnable = 10, .outside = 10 } },
};

enum { TIMES = sizeof all_times / sizeof *all_times };

/* Thread 1 has two chunks, with a call open between them. */
static struct outcome two_threads(void)
{
    struct writer *w = writer_new();
    const struct open_call open[] = { { A, 100 }, { B, 118 } };
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "one");
    write_thread(w, 1, 2, 101, SOURCE_PERF, "two");
    begin_events(w, 1, 1, 0, 100, NULL, 0);
    write_enter(w, 100, A);
    write_enter(w, 110, B);
    write_exit(w, 118);
    write_enter(w, 118, B);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 118, open, 2);
    write_exit(w, 126);
    write_exit(w, 127);
    write_enter(w, 130, C);
    write_exit(w, 142);
    write_enter(w, 142, A);
    write_off_cpu(w, false, 144, 3);
    write_exit(w, 150);
    write_enter(w, 150, C);
    write_exit(w, 155);
    write_enter(w, 155, B);
    write_exit(w, 160);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 0, A);
    write_off_cpu(w, false, 10, 30);
    write_exit(w, 50);
    end_events(w, true);
    return outcome_of(w, 1);
}

static uint64_t address_of(const struct outcome *o, size_t function)
{
    return function < o->profile->function_count ? o->profile->functions[function].offset : OUTSIDE;
}

static struct path_times expected_times(uint64_t function, uint32_t range)
{
    for (size_t i = 0; i < TIMES; i++)
        if (all_times[i].function == function && all_times[i].range == range)
            return all_times[i].times;
    return (struct path_times){ 0 };
}

static void check_sums(const struct outcome *o, const struct path_scan *s)
{
    cr_assert(eq(sz, s->functions, o->profile->function_count + 1));
    for (size_t i = 0; i < s->functions; i++) {
        struct path_times sum = { 0 };
        for (uint32_t range = 0; range < RANGES; range++) {
            const struct path_times times = expected_times(address_of(o, i), range);
            path_times_add(&sum, &times);
        }
        cr_assert(eq(u64, s->sums[i].work, sum.work));
        cr_assert(eq(u64, s->sums[i].runnable, sum.runnable));
        cr_assert(eq(u64, s->sums[i].outside, sum.outside));
    }
}

Test(unit_path_scan, the_amounts_of_functions_in_ranges)
{
    const uint64_t outside[RANGES] = { 0, 3, 0, 10, 10 };
    struct outcome o = two_threads();
    for (unsigned jobs = 1; jobs <= MOST_JOBS; jobs++) {
        struct path_scan s = path_scan_run(o.file, o.profile, jobs, ranges, RANGES, true, NULL);
        size_t found = 0;
        check_sums(&o, &s);
        for (size_t i = 0; i < s.functions; i++) {
            for (size_t next = 0; next < s.amounts[i].count; found++) {
                uint32_t range;
                const struct path_times times = path_amounts_next(&s.amounts[i], &next, &range);
                const struct path_times expected = expected_times(address_of(&o, i), range);
                cr_assert(eq(u64, times.work, expected.work));
                cr_assert(eq(u64, times.runnable, expected.runnable));
            }
        }
        cr_assert(eq(sz, found, TIMES));
        for (size_t i = 0; i < RANGES; i++)
            cr_assert(eq(u64, s.outside[i], outside[i]));
        path_scan_drop(&s);
    }
    outcome_drop(&o);
}

Test(unit_path_scan, the_function_that_took_most_of_a_range)
{
    const uint64_t longest[RANGES] = { B, A, B, A, A };
    struct outcome o = two_threads();
    for (unsigned jobs = 1; jobs <= MOST_JOBS; jobs++) {
        struct path_scan s = path_scan_run(o.file, o.profile, jobs, ranges, RANGES, false, NULL);
        check_sums(&o, &s);
        for (size_t i = 0; i < RANGES; i++)
            cr_assert(eq(u64, address_of(&o, s.longest[i]), longest[i]));
        path_scan_drop(&s);
    }
    outcome_drop(&o);
}

/* ---- several scans of a session ---- */

enum { CHUNKS = 4 };

/* A calls B for 10 of each 100 ticks: a chunk. In the third one it is preempted for 5. The last one ends at 395. */
static struct outcome four_chunks(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "one");
    for (uint32_t i = 0; i < CHUNKS; i++) {
        begin_events(w, 1, 1, i, 100 * i, (struct open_call[]){ { A, 0 } }, i > 0);
        if (i == 0)
            write_enter(w, 0, A);
        write_enter(w, 100 * i + 20, B);
        if (i == 2)
            write_off_cpu(w, true, 222, 5);
        write_exit(w, 100 * i + 30);
        write_enter(w, 100 * i + 95, B);
        write_exit(w, 100 * i + 95);
        end_events(w, true);
    }
    return outcome_of(w, 1);
}

static struct path_times sum_of(const struct outcome *o, const struct path_scan *s, uint64_t function)
{
    for (size_t i = 0; i < s->functions; i++)
        if (address_of(o, i) == function)
            return s->sums[i];
    return (struct path_times){ 0 };
}

/* The range holds the first chunk and the third one as a whole. The second one is in two ranges, and the last one of a
 * thread is always read. */
Test(unit_path_scan, chunks_in_one_range_are_read_once)
{
    const struct path_range first[] = { { 1, 0, 150, 0 }, { 1, 150, 1000, 200 } },
                            second[] = { { 1, 0, 100, 0 }, { 1, 100, 1000, 100 } };
    struct outcome o = four_chunks();
    for (unsigned jobs = 1; jobs <= MOST_JOBS; jobs++) {
        struct path_memory *memory = path_memory_new(o.file);
        struct path_scan s = path_scan_run(o.file, o.profile, jobs, first, 2, false, memory),
                         plain = path_scan_run(o.file, o.profile, jobs, second, 2, false, NULL);
        path_scan_drop(&s);
        size_t known = 0;
        for (size_t i = 0; i < o.file->chunk_count; i++) {
            const struct path_chunk *chunk = path_memory_find(memory, i);
            if (!chunk)
                continue;
            const uint64_t start = o.file->chunks[i].start_time;
            cr_assert(start == 0 || start == 200);
            cr_assert(eq(u64, chunk->last, start + 95));
            cr_assert(eq(sz, chunk->count, start ? 2 : 3)); /* the time before the first event is outside of all */
            known++;
        }
        cr_assert(eq(sz, known, 2));
        s = path_scan_run(o.file, o.profile, jobs, second, 2, false, memory);
        for (size_t i = 0; i < s.functions; i++) {
            cr_assert(eq(u64, s.sums[i].work, plain.sums[i].work));
            cr_assert(eq(u64, s.sums[i].runnable, plain.sums[i].runnable));
            cr_assert(eq(u64, s.sums[i].outside, plain.sums[i].outside));
        }
        cr_assert(eq(u64, sum_of(&o, &s, B).work, 35));
        cr_assert(eq(u64, sum_of(&o, &s, B).runnable, 5));
        cr_assert(eq(u64, address_of(&o, s.longest[0]), A));
        path_scan_drop(&s);
        for (size_t i = 0; i < o.file->chunk_count; i++) { /* they are not read: what is remembered counts */
            const struct path_chunk *chunk = path_memory_find(memory, i);
            for (size_t j = 0; chunk && j < chunk->count; j++)
                chunk->list[j].times.work += address_of(&o, chunk->list[j].function) == B ? 1000 : 0;
        }
        s = path_scan_run(o.file, o.profile, jobs, second, 2, false, memory);
        cr_assert(eq(u64, sum_of(&o, &s, B).work, 3035)); /* the second scan has added the second chunk */
        path_scan_drop(&s);
        path_scan_drop(&plain);
        path_memory_free(memory);
    }
    outcome_drop(&o);
}

/* The next chunk of the same thread of the same process tells it, if none is missing between them. The first chunk has
 * no events. */
Test(unit_path_scan, the_ends_of_chunks)
{
    struct writer *w = writer_new();
    const struct {
        uint32_t process, thread, sequence;
        uint64_t start, end;
    } chunks[] = {
        { 1, 1, 1, 40, 70 },         { 1, 1, 0, 10, 40 },         { 1, 1, 2, 70, UINT64_MAX },
        { 1, 2, 3, 80, UINT64_MAX }, { 1, 2, 5, 90, UINT64_MAX }, { 2, 3, 6, 95, UINT64_MAX },
    };
    enum { COUNT = sizeof chunks / sizeof *chunks };
    write_process(w, 1, 100, "/bin/prog");
    for (size_t i = 0; i < COUNT; i++) {
        begin_events(w, chunks[i].process, chunks[i].thread, chunks[i].sequence, chunks[i].start, NULL, 0);
        write_enter(w, chunks[i].start, A);
        write_exit(w, chunks[i].start + 1);
        end_events(w, true);
    }
    struct outcome o = outcome_of(w, 1);
    uint64_t *ends = chunk_ends(o.file);
    size_t found = 0;
    for (size_t i = 0; i < o.file->chunk_count; i++) {
        const struct trace_chunk *chunk = &o.file->chunks[i];
        for (size_t j = 0; j < COUNT; j++) {
            if (chunk->kind != DWELL_CHUNK_EVENTS || chunk->start_time != chunks[j].start)
                continue;
            cr_assert(eq(u64, ends[i], chunks[j].end));
            found++;
        }
    }
    cr_assert(eq(sz, found, COUNT));
    cr_assert(eq(u64, ends[0], 0));
    free(ends);
    outcome_drop(&o);
}
