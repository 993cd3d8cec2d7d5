/* Calls that are noted while a session is read: the same times, to 1/256 tick, as those found in its events. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/single_calls.h"
#include "base/memory.h"
#include "dwell/format.h"
#include "profile/call_scan.h"
#include "profile/collect.h"
#include "profile/durations.h"
#include "profile/noted_calls.h"
#include "support/sampled_session.h"

TestSuite(unit_noted_calls, .timeout = 300);

enum { SEEDS = 60, CALLS = 600, DEPTH = 40, PERIOD = 1000, COST = 50 };

struct noted_events {
    struct writer *w;
    uint64_t state, time;
    struct open_call stack[DEPTH];
    uint32_t depth, calls, sequence;
    bool deeper; /* most calls make calls */
};

/* A pause, in which up to one call ends. */
static void noted_pause(struct noted_events *e, uint64_t number)
{
    const uint64_t pause = e->time;
    const uint32_t ended = e->depth && number & 1024;
    write_pause(e->w, pause);
    e->time += number % 500;
    write_resume(e->w, e->time, ended);
    e->depth -= ended;
    for (uint32_t i = 0; i < e->depth; i++)
        e->stack[i].enter_time += e->time - pause;
}

/* Extensions of the next event. */
static void noted_extras(struct noted_events *e, uint64_t number, uint64_t length)
{
    const uint16_t runtime[] = { DWELL_EXT_RUNTIME << DWELL_EXTENSION_LENGTH_BITS | 1, (uint16_t)(number % 60) };
    const uint16_t partly[] = { DWELL_EXT_OS << DWELL_EXTENSION_LENGTH_BITS | 3, (uint16_t)(length / 3), 0, 0 };
    if (number % 5 == 0)
        write_os(e->w);
    if (number % 7 == 0)
        write_off_cpu(e->w, number & 1024, e->time - length, length / 2);
    if (number % 11 == 0)
        write_faults(e->w, 2);
    if (number % 13 == 0)
        write_words(e->w, runtime, sizeof runtime / sizeof *runtime);
    if (number % 23 == 0)
        write_words(e->w, partly, sizeof partly / sizeof *partly);
}

static void noted_call(struct noted_events *e, uint64_t number, bool rare)
{
    e->deeper = e->depth == 0 || (e->deeper ? number % 37 && e->depth < DEPTH : number % 41 == 0);
    if (e->calls < CALLS && e->depth < DEPTH && (e->depth == 0 || number % 8 < (e->deeper ? 6 : 3))) {
        e->stack[e->depth] = (struct open_call){ 0x1000 + (number >> 8) % 3 * 0x1000, e->time };
        write_enter(e->w, e->time, e->stack[e->depth++].function);
        e->calls++;
        return;
    }
    const uint32_t left = rare && e->depth > 2 && number % 97 == 0;
    if (left)
        write_unwind(e->w, left);
    write_exit(e->w, e->time);
    e->depth -= 1 + left;
}

/* A session of one thread with samples. `rare`: with pauses, calls that are left, and a long time between two calls. */
static struct writer *noted_session(uint32_t seed, bool rare)
{
    struct noted_events e = { .w = writer_new(), .state = seed };
    sampling_write_modules(e.w);
    write_probes(e.w, 1, seed % 7 * 800, seed % 5 * 400, seed % 3 * 300);
    begin_events(e.w, 1, 1, 0, 0, NULL, 0);
    while (e.calls < CALLS || e.depth) {
        const uint64_t number = sampling_next_random(&e.state) >> 20;
        const uint64_t length = number % 9 ? 10 * (number % 5) : number % 3000;
        e.time += length;
        if (number % 59 == 0) {
            end_events(e.w, true);
            begin_events(e.w, 1, 1, ++e.sequence, e.time, e.stack, e.depth);
        } else if (rare && number % 307 == 0) {
            noted_pause(&e, number);
        } else {
            e.time += rare && number % 401 == 0 ? UINT64_C(1) << 33 : 0;
            noted_extras(&e, number, length);
            noted_call(&e, number, rare);
        }
    }
    end_events(e.w, true);
    write_header(e.w, 252, COST, 4);
    begin_samples(e.w, 1, 1, 70, 71, 0);
    for (uint64_t at = 100; at < CALLS * 100; at += PERIOD)
        sampling_write(e.w, at, at % 3 ? COPY : G);
    end_samples(e.w, true);
    return e.w;
}

/* ---- durations of an analysis ---- */

struct noted_found {
    const struct profile *profile;
    struct durations **durations; /* by path */
};

static void noted_take(void *context, const struct call_amount *amounts, size_t count)
{
    const struct noted_found *found = context;
    for (size_t i = 0; i < count; i++)
        if (amounts[i].path < found->profile->node_count)
            durations_add(&found->durations[amounts[i].path], call_ticks(amounts[i].time), 1, amounts[i].time);
}

static void noted_expect_equal(const struct durations *found, const struct durations *wanted, uint32_t seed)
{
    size_t count, wanted_count;
    struct durations_counter *a = durations_counters(found, &count), *b = durations_counters(wanted, &wanted_count);
    cr_assert(eq(sz, count, wanted_count), "seed %u", seed);
    for (size_t i = 0; i < count; i++)
        cr_assert(all(eq(u64, a[i].counter, b[i].counter), eq(u64, a[i].calls, b[i].calls)), "seed %u", seed);
    cr_assert(eq(u64, found ? found->sum : 0, wanted ? wanted->sum : 0), "seed %u", seed);
    free(a);
    free(b);
}

/* The durations of the analysis are those of the calls in its events. Returns how many paths have calls and have lost
 * time to samples. */
static size_t noted_check_durations(const struct analysis *analysis, uint32_t seed)
{
    const struct profile *p = analysis->profile;
    struct noted_found found = { p, need_memory(p->node_count, sizeof *found.durations) };
    void *contexts[] = { &found, &found, &found };
    size_t lost = 0;
    cr_assert(zero(ptr, analysis->measured));
    analysis_scan_elapsed(analysis, PROFILE_NONE, noted_take, contexts);
    for (size_t i = 0; i < p->node_count; i++) {
        noted_expect_equal(p->nodes[i].durations, found.durations[i], seed);
        lost += p->nodes[i].durations && p->nodes[i].given;
        free(found.durations[i]);
    }
    free(found.durations);
    return lost;
}

static size_t noted_load_and_check(uint32_t seed, bool rare)
{
    struct analysis analysis;
    struct writer *w = noted_session(seed, rare);
    writer_save(w, test_path("noted.data"));
    writer_free(w);
    load_with(&analysis, test_path("noted.data"),
              &(struct analysis_options){ .durations = true, .jobs = 1 + seed % 3, .raw = seed % 4 == 3 });
    analysis.jobs = 1;
    const size_t lost = noted_check_durations(&analysis, seed);
    analysis_drop(&analysis);
    return lost;
}

Test(unit_noted_calls, random_calls_have_the_times_of_their_events)
{
    size_t lost = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++)
        lost += noted_load_and_check(seed, false);
    cr_assert(gt(sz, lost, SEEDS));
}

Test(unit_noted_calls, so_they_have_beside_rare_events)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++)
        noted_load_and_check(seed, true);
}

/* ---- notes ---- */

struct noted_sum_of_calls {
    uint64_t calls, sum; /* of times, each by its path and end */
};

static void noted_add_up(void *context, const struct call_amount *amounts, size_t count)
{
    struct noted_sum_of_calls *sum = context;
    for (size_t i = 0; i < count; i++) {
        sum->calls++;
        sum->sum += (amounts[i].time + 1) * (amounts[i].path + 3) * (2 * amounts[i].end + 1);
    }
}

/* How many chunks have events, and how many of them have notes. */
struct noted_count {
    size_t chunks, noted;
};

/* Notes the calls of a session in so many bytes, and compares the times that are found with them. */
static struct noted_count noted_compare(uint32_t seed, bool rare, size_t bytes)
{
    struct noted_count count = { 0, 0 };
    struct analysis analysis;
    size_t costs;
    struct noted_sum_of_calls with = { 0 }, without = { 0 };
    struct writer *w = noted_session(seed, rare);
    writer_save(w, test_path("noted.data"));
    writer_free(w);
    load_whole(&analysis, test_path("noted.data"), 1);
    struct noted_calls *noted = noted_calls_new(analysis.file, bytes);
    struct profile *p = collect_noted(analysis.file, analysis.samples, 2, NULL, noted);
    struct calls_source source = { .file = analysis.file, .profile = p, .recorded = true, .by_path = true };
    struct probe_cost *list = single_calls_list_costs(analysis.file, &costs);
    source.costs = list;
    source.cost_count = costs;
    calls_scan_elapsed(&source, PROFILE_NONE, 1, noted_add_up, (void *[]){ &without });
    noted_calls_number(noted, p);
    source.noted = noted;
    calls_scan_elapsed(&source, PROFILE_NONE, 1, noted_add_up, (void *[]){ &with });
    cr_assert(all(eq(u64, with.calls, without.calls), eq(u64, with.sum, without.sum)), "seed %u", seed);
    for (size_t i = 0; i < analysis.file->chunk_count; i++) {
        const uint32_t *paths;
        count.chunks += analysis.file->chunks[i].kind == DWELL_CHUNK_EVENTS;
        count.noted += noted_calls_of(noted, i, &paths) != NULL;
    }
    noted_calls_free(noted);
    profile_free(p);
    free(list);
    analysis_drop(&analysis);
    return count;
}

Test(unit_noted_calls, all_chunks_have_notes)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        const struct noted_count count = noted_compare(seed, false, NOTED_BYTES);
        cr_assert(eq(sz, count.noted, count.chunks), "seed %u", seed);
        cr_assert(gt(sz, count.chunks, 5));
    }
}

Test(unit_noted_calls, chunks_with_rare_events_have_none)
{
    struct noted_count all = { 0, 0 };
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        const struct noted_count count = noted_compare(seed, true, NOTED_BYTES);
        all.chunks += count.chunks;
        all.noted += count.noted;
    }
    cr_assert(all(gt(sz, all.noted, all.chunks / 4), lt(sz, all.noted, all.chunks - all.chunks / 20)));
}

/* A worker that gets no block can only note that nothing happened in a chunk. */
Test(unit_noted_calls, without_room_chunks_have_none)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        const struct noted_count some = noted_compare(seed, false, 1 << 19), none = noted_compare(seed, false, 0);
        cr_assert(lt(sz, some.noted, some.chunks / 2), "seed %u", seed);
        cr_assert(le(sz, none.noted, 1), "seed %u", seed);
    }
}

/* Another profile has other paths: its notes are lost, and the calls are those of the events. */
Test(unit_noted_calls, of_another_profile_are_lost)
{
    struct analysis analysis, other;
    const uint32_t *paths;
    struct writer *w = noted_session(1, false);
    writer_save(w, test_path("noted.data"));
    writer_free(w);
    w = sampling_two_calls();
    writer_save(w, test_path("other.data"));
    writer_free(w);
    load_whole(&analysis, test_path("noted.data"), 1);
    load_whole(&other, test_path("other.data"), 1);
    struct noted_calls *noted = noted_calls_new(analysis.file, NOTED_BYTES);
    struct profile *p = collect_noted(analysis.file, analysis.samples, 1, NULL, noted);
    size_t kept = 0;
    for (size_t i = 0; i < analysis.file->chunk_count; i++)
        kept += noted_calls_of(noted, i, &paths) != NULL;
    cr_assert(gt(sz, kept, 0));
    noted_calls_number(noted, other.profile);
    for (size_t i = 0; i < analysis.file->chunk_count; i++)
        cr_assert(zero(ptr, (void *)noted_calls_of(noted, i, &paths)));
    noted_calls_free(noted);
    profile_free(p);
    analysis_drop(&analysis);
    analysis_drop(&other);
}
