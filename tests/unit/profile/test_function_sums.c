/* Sums by function without call paths: of known stacks, and beside the profile of random sessions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/collect.h"
#include "profile/function_sums.h"
#include "support/model.h"
#include "support/scenario.h"

TestSuite(unit_function_sums, .timeout = 300);

enum { F = 0x1000, G = 0x2000 };

static struct function_sums sums_of(const struct session_file *file, struct profile *names)
{
    return function_sums_of(file, file->chunks, file->chunk_count, names);
}

/* Of all processes. */
static struct function_sum sum_of_function(const struct function_sums *s, uint32_t function)
{
    struct function_sum sum = { .function = function };
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].function == function) {
            sum.calls += s->list[i].calls;
            sum.inclusive += s->list[i].inclusive;
        }
    return sum;
}

static void check_sum(const struct outcome *o, const struct function_sums *s, uint64_t offset, uint64_t calls,
                      uint64_t inclusive)
{
    for (uint32_t i = 0; i < o->profile->function_count; i++)
        if (o->profile->functions[i].offset == offset) {
            const struct function_sum sum = sum_of_function(s, i);
            cr_assert(eq(u64, sum.calls, calls));
            cr_assert(eq(u64, sum.inclusive, inclusive));
            return;
        }
    cr_fatal("no such function");
}

static struct writer *sums_begin_thread(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    return w;
}

/* Recursive calls have their ticks again, as those of a tree's nodes do. */
Test(unit_function_sums, nested_and_recursive_calls)
{
    struct writer *w = sums_begin_thread();
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1010, F);
    write_enter(w, 1030, G);
    write_enter(w, 1040, F);
    write_exit(w, 1050);
    write_exit(w, 1070);
    write_exit(w, 1075);
    struct outcome o = outcome_of(w, 1);
    struct function_sums s = sums_of(o.file, o.profile);
    check_sum(&o, &s, F, 2, 65 + 10);
    check_sum(&o, &s, G, 1, 40);
    cr_assert(eq(u64, s.cpu, 75));
    cr_assert(eq(sz, s.threads, 1));
    function_sums_drop(&s);
    outcome_drop(&o);
}

/* Calls that are open at the chunk's begin and end have their ticks within it. Only enters are calls. */
Test(unit_function_sums, open_calls)
{
    const struct open_call open = { F, 500 };
    struct writer *w = sums_begin_thread();
    begin_events(w, 1, 1, 0, 1000, &open, 1);
    write_enter(w, 1010, G);
    write_exit(w, 1040);
    write_enter(w, 1060, G);
    struct outcome o = outcome_of(w, 1);
    struct function_sums s = sums_of(o.file, o.profile);
    check_sum(&o, &s, F, 0, 60);
    check_sum(&o, &s, G, 2, 30);
    cr_assert(eq(u64, s.cpu, 60));
    function_sums_drop(&s);
    outcome_drop(&o);
}

Test(unit_function_sums, time_off_the_processor_is_no_cpu_time)
{
    struct writer *w = sums_begin_thread();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_off_cpu(w, false, 20, 30);
    write_off_cpu(w, true, 60, 20);
    write_exit(w, 110);
    struct outcome o = outcome_of(w, 1);
    struct function_sums s = sums_of(o.file, o.profile);
    check_sum(&o, &s, F, 1, 100);
    cr_assert(eq(u64, s.cpu, 10 + 100 - 30 - 20));
    function_sums_drop(&s);
    outcome_drop(&o);
}

/* The profile of the same chunks, without the times from threads' last events to their ends. */
static struct profile *sums_profile(const struct session_file *file)
{
    struct trace_chunk *chunks = calloc(file->chunk_count, sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS) {
            chunks[count] = file->chunks[i];
            chunks[count++].last_of_thread = false;
        }
    struct profile *p = collect_chunks(file, chunks, count, 1);
    free(chunks);
    return p;
}

/* Each function's calls are those of the profile, and its ticks those of all its nodes' subtrees. */
Test(unit_function_sums, random_sessions)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct model *m = model_new(seed);
        struct writer *w = model_write(m, 0, 0);
        struct outcome o = outcome_of(w, 1);
        struct profile *p = sums_profile(o.file);
        struct function_sums s = sums_of(o.file, p);
        uint64_t *calls = calloc(p->function_count + 1, sizeof *calls);
        uint64_t *inclusive = calloc(p->function_count + 1, sizeof *inclusive);
        uint64_t *subtree = calloc(p->node_count + 1, sizeof *subtree);
        for (size_t i = p->node_count; i-- > 0;) {
            const struct profile_node *node = &p->nodes[i];
            subtree[i] += node->elapsed;
            if (node->parent == PROFILE_NONE)
                continue;
            subtree[node->parent] += subtree[i];
            calls[node->function] += node->calls;
            inclusive[node->function] += subtree[i];
        }
        for (uint32_t i = 0; i < p->function_count; i++) {
            const struct function_sum sum = sum_of_function(&s, i);
            cr_assert(eq(u64, sum.calls, calls[i]), "seed %lu, function %u", (unsigned long)seed, i);
            cr_assert(eq(u64, sum.inclusive, inclusive[i]), "seed %lu, function %u", (unsigned long)seed, i);
        }
        cr_assert(eq(sz, s.threads, p->thread_count));
        free(calls);
        free(inclusive);
        free(subtree);
        function_sums_drop(&s);
        profile_free(p);
        outcome_drop(&o);
        model_free(m);
    }
}
