/* Collects the stack samples of the calls of the function: in which functions below a call path the thread was whose
 * calls are only counted or have no probes. Their time is in that of the path. */
#include <stdlib.h>

#include "base/numbers.h"
#include "causes/why_worker.h"
#include "profile/sampling.h"

/* In 1/256 ticks. Zero if it is unknown, or no time of the recording is told apart. */
static uint64_t why_samples_charge(const struct why_job *job)
{
    const struct dwell_file_header *h = &job->file->header;
    if (job->plan->loaded->summary.raw || h->sample_cost > h->sample_period)
        return 0;
    return (uint64_t)((uint128)h->sample_cost * h->ticks_per_second * DWELL_PROBE_FRACTION / 1000000000);
}

void why_samples_begin(struct why_job *job)
{
    const struct analysis *loaded = job->plan->loaded;
    const struct session_samples *s = loaded->samples;
    if (!s || !job->plan->waits)
        return;
    bool *functions = sampling_find_timed(loaded->profile, job->file);
    job->sample_charge = why_samples_charge(job);
    job->timed = need_memory(s->frame_count + 1, sizeof *job->timed);
    for (size_t i = 0; i < s->frame_count; i++) {
        const uint32_t function = sampled_frame_find(loaded->profile, &s->frames[i]);
        job->timed[i] = function != PROFILE_NONE && functions[function];
    }
    free(functions);
}

void why_samples_begin_chunk(struct why_worker *w, const struct trace_chunk *chunk)
{
    w->sampled.samples = w->job->timed ? w->job->plan->loaded->samples : NULL;
    sampled_paths_begin(&w->sampled, chunk->thread, chunk->start_time);
}

/* The path of a sample below that of a call. Code before the enter and after the exit of a timed function is its
 * caller's. */
static uint32_t why_samples_node(struct why_worker *w, uint32_t node, const struct sampled_chain *chain, uint32_t below)
{
    const struct session_samples *s = w->sampled.samples;
    for (uint32_t i = below; i-- > 0;) {
        const uint32_t frame = s->links[chain->first + i];
        if (!w->job->timed[frame])
            node = sampled_frame_child(w->found.paths, node, &s->frames[frame]);
    }
    return node;
}

/* Time in the runtime itself is that of the probes already. */
static void why_samples_add(struct why_worker *w, uint32_t node, const struct sample_point *point)
{
    const struct session_samples *s = w->sampled.samples;
    const struct sampled_chain *chain = &s->chains[point->chain];
    enum sampled_code code;
    const uint32_t below = sampled_paths_below(s, w->found.paths, node, chain, &code);
    const bool counting = code == SAMPLED_STUB && !w->job->plan->loaded->summary.raw;
    if (code == SAMPLED_RUNTIME)
        return;
    if (code == SAMPLED_PROGRAM)
        node = why_samples_node(w, node, chain, below);
    GROW(w->stacks, w->stack_count, w->stack_room);
    w->stacks[w->stack_count++] = (struct why_stack){ node, point->period, counting };
}

void why_samples_take(struct why_worker *w, uint32_t row, uint64_t end)
{
    struct sampled_paths *s = &w->sampled;
    for (const struct sample_point *point = s->next; row != PROFILE_NONE && point < s->end && point->time < end;
         point++) {
        why_samples_add(w, w->found.rows[row].node, point);
        why_touch(w, row)->charge += w->job->sample_charge;
    }
    sampled_paths_skip(s, end);
}

void why_samples_keep(struct why_worker *w, unsigned set)
{
    struct why_found *f = &w->found;
    for (size_t i = 0; i < w->stack_count; i++) {
        const struct why_stack *stack = &w->stacks[i];
        struct index_slot *slot = index_find(w->known_stacks, stack->node, stack->counting);
        const bool is_new = !slot->value_plus_1;
        const size_t place = is_new ? f->stack_count : slot->value_plus_1 - 1;
        if (is_new) {
            index_set(w->known_stacks, slot, stack->node, stack->counting, (uint32_t)place);
            GROW(f->stacks, f->stack_count, f->stack_room);
            f->stacks[f->stack_count++] = (struct why_stacks){ .node = stack->node, .counting = stack->counting };
        }
        sample_sum_add(&f->stacks[place].sets[set], 1, larger(stack->period, 1));
    }
}
