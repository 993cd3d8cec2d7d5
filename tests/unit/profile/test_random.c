/*
 * Compares random sessions with a reference without trees, which walks the stack for each interval. The same events in
 * other chunks, read by more or fewer threads, give the same profile.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/scenario.h"

enum { FUNCTIONS = 7, THREADS = 3, EVENTS = 3000, DEEPEST = 40 };

struct event {
    uint64_t time;
    uint64_t function; /* zero for an exit */
    bool flagged;
    uint32_t unwound;
};

static uint64_t state;

static uint32_t random_events_below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static uint64_t random_function_number(uint32_t i)
{
    return (i % 2 ? 0x7f5500000000 : 0x5500000000) + 0x1000 + 0x40 * i;
}

static void random_make_events(struct event *events)
{
    uint64_t time = 1000;
    uint32_t depth = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct event *e = &events[i];
        *e = (struct event){ 0 };
        time += random_events_below(20) ? random_events_below(300) : random_events_below(100000);
        e->time = time;
        e->flagged = random_events_below(10) == 0;
        if (depth > 2 && random_events_below(50) == 0)
            e->unwound = 1 + random_events_below(depth - 1);
        depth -= e->unwound;
        if (depth == 0 || (depth < DEEPEST && random_events_below(2))) {
            e->function = random_function_number(random_events_below(FUNCTIONS));
            depth++;
        } else {
            depth--;
        }
    }
}

/* ---- the reference ---- */

struct reference {
    struct times functions[FUNCTIONS], thread;
};

static uint32_t random_index_of(uint64_t function)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (random_function_number(i) == function)
            return i;
    cr_fatal("no such function");
}

static void reference_add_interval(struct reference *r, const uint32_t *stack, uint32_t depth, uint64_t d, bool flagged)
{
    bool on_stack[FUNCTIONS] = { false };
    if (depth == 0)
        return;
    for (uint32_t i = 0; i < depth; i++)
        on_stack[stack[i]] = true;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        r->functions[i].elapsed_inclusive += on_stack[i] ? d : 0;
        r->functions[i].application_inclusive += on_stack[i] && !flagged ? d : 0;
    }
    r->functions[stack[depth - 1]].elapsed_exclusive += d;
    r->functions[stack[depth - 1]].application_exclusive += flagged ? 0 : d;
    r->thread.elapsed_inclusive += d;
    r->thread.application_inclusive += flagged ? 0 : d;
}

static void reference_walk(struct reference *r, const struct event *events)
{
    uint32_t stack[DEEPEST + 1], depth = 0;
    uint64_t last = 1000;
    memset(r, 0, sizeof *r);
    for (int i = 0; i < EVENTS; i++) {
        reference_add_interval(r, stack, depth, events[i].time - last, events[i].flagged);
        depth -= events[i].unwound;
        if (events[i].function) {
            stack[depth++] = random_index_of(events[i].function);
            r->functions[stack[depth - 1]].calls++;
        } else {
            depth--;
        }
        last = events[i].time;
    }
}

/* ---- the session ---- */

/* A new chunk begins before every event with a chance of one in `pieces`, or never if it is zero. */
static void random_write_events(struct writer *w, uint32_t thread, const struct event *events, uint32_t pieces)
{
    struct open_call stack[DEEPEST + 1];
    uint32_t depth = 0, sequence = 0;
    begin_events(w, 1, thread, sequence++, 1000, NULL, 0);
    for (int i = 0; i < EVENTS; i++) {
        const struct event *e = &events[i];
        if (pieces && random_events_below(pieces) == 0) {
            end_events(w, random_events_below(2));
            begin_events(w, 1, thread, sequence++, i ? events[i - 1].time : 1000, stack, depth);
        }
        if (e->flagged)
            write_os(w);
        if (e->unwound)
            write_unwind(w, e->unwound);
        depth -= e->unwound;
        if (e->function) {
            write_enter(w, e->time, e->function);
            stack[depth++] = (struct open_call){ e->function, e->time };
        } else {
            write_exit(w, e->time);
            depth--;
        }
    }
    end_events(w, true);
}

static struct outcome random_read_back(struct event events[THREADS][EVENTS], uint32_t pieces, unsigned jobs)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/random");
    for (uint32_t t = 0; t < THREADS; t++)
        write_thread(w, 1, t + 1, t + 10, SOURCE_PERF, "t");
    for (uint32_t t = 0; t < THREADS; t++)
        random_write_events(w, t + 1, events[t], pieces);
    return outcome_of(w, jobs);
}

static void reference_compare(const struct outcome *o, const struct reference *references)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct times sum = { 0 };
        for (int t = 0; t < THREADS; t++) {
            const struct times *f = &references[t].functions[i];
            sum.elapsed_inclusive += f->elapsed_inclusive;
            sum.elapsed_exclusive += f->elapsed_exclusive;
            sum.application_inclusive += f->application_inclusive;
            sum.application_exclusive += f->application_exclusive;
            sum.calls += f->calls;
        }
        ASSERT_TIMES(function_times(o, random_function_number(i)), sum.elapsed_inclusive, sum.elapsed_exclusive,
                     sum.application_inclusive, sum.application_exclusive, sum.calls);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        const struct times *thread = &references[t].thread;
        struct times found = thread_times(o, t + 1);
        cr_assert(eq(u64, found.elapsed_inclusive, thread->elapsed_inclusive));
        cr_assert(eq(u64, found.application_inclusive, thread->application_inclusive));
    }
}

Test(unit_random, equals_the_reference_for_any_chunks, .timeout = 300)
{
    static struct event events[THREADS][EVENTS];
    static struct reference references[THREADS];
    for (uint64_t seed = 1; seed <= 12; seed++) {
        state = seed;
        for (int t = 0; t < THREADS; t++) {
            random_make_events(events[t]);
            reference_walk(&references[t], events[t]);
        }
        const uint32_t pieces[] = { 0, 500, 20, 2 };
        for (int i = 0; i < 4; i++) {
            struct outcome o = random_read_back(events, pieces[i], (unsigned)(1 + seed % 4));
            reference_compare(&o, references);
            check_identities(&o);
            outcome_drop(&o);
        }
    }
}
