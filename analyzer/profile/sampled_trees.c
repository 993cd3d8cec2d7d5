/* Finds the functions of samples in the call trees of their threads. */
#include "profile/sampled_trees.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/identify.h"
#include "profile/sampled_paths.h"

struct sampled_trees {
    struct profile *profile;
    const struct session_file *file;
    const struct session_samples *samples;
    struct number_index *nodes; /* (function, thread of the profile) -> the first node with it */
    uint32_t *level_functions;  /* by level of the file: its function in the profile, or PROFILE_NONE */
    bool *has_levels;           /* by function */
    size_t function_count;      /* before functions of samples were added */
};

static void sampled_trees_index(struct sampled_trees *s)
{
    const struct profile *p = s->profile;
    uint32_t *threads = need_memory(p->node_count + 1, sizeof *threads);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[p->threads[i].root] = (uint32_t)i;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        threads[i] = threads[node->parent];
        struct index_slot *slot = index_find(s->nodes, node->function, threads[i]);
        if (!slot->value_plus_1)
            index_set(s->nodes, slot, node->function, threads[i], i);
    }
    free(threads);
}

static void sampled_trees_find_levels(struct sampled_trees *s)
{
    s->level_functions = need_memory(s->file->levels.change_count + 1, sizeof *s->level_functions);
    s->has_levels = need_memory(s->function_count + 1, sizeof *s->has_levels);
    for (size_t i = 0; i < s->file->levels.change_count; i++) {
        const struct trace_level *level = &s->file->levels.changes[i];
        const struct trace_process *process = session_file_process(s->file, level->process);
        s->level_functions[i] = find_function(s->profile, process, level->function, level->time);
        if (s->level_functions[i] != PROFILE_NONE)
            s->has_levels[s->level_functions[i]] = true;
    }
}

/* Whether calls of the function were timed at that time, as far as its levels say. */
static bool sampled_trees_is_timed(const struct sampled_trees *s, uint32_t process, uint32_t function, uint64_t time)
{
    uint64_t latest = 0;
    bool timed = true;
    for (size_t i = 0; s->has_levels[function] && i < s->file->levels.change_count; i++) {
        const struct trace_level *level = &s->file->levels.changes[i];
        if (s->level_functions[i] != function || level->process != process || level->time > time ||
            level->time < latest)
            continue;
        latest = level->time;
        timed = level->level == DWELL_PROBES_TIMED;
    }
    return timed;
}

/* The node of the innermost function that was timed, and how many functions are below it. PROFILE_NONE if there is
 * none. */
static uint32_t sampled_trees_anchor(const struct sampled_trees *s, uint32_t thread, const struct sampled_chain *chain,
                                     uint64_t time, uint32_t *depth)
{
    for (*depth = 0; *depth < chain->count; ++*depth) {
        const uint32_t function =
            sampled_frame_find(s->profile, &s->samples->frames[s->samples->links[chain->first + *depth]]);
        if (function == PROFILE_NONE || function >= s->function_count)
            continue;
        const struct index_slot *slot = index_find(s->nodes, function, thread);
        if (slot->value_plus_1 && sampled_trees_is_timed(s, s->profile->threads[thread].process, function, time))
            return slot->value_plus_1 - 1;
    }
    return PROFILE_NONE;
}

static void sampled_trees_add_sample(struct sampled_trees *s, uint32_t thread, const struct sample_point *point)
{
    const struct sampled_chain *chain = &s->samples->chains[point->chain];
    struct profile *p = s->profile;
    uint32_t depth;
    if (chain->count && s->samples->frames[s->samples->links[chain->first]].code != SAMPLED_PROGRAM) {
        p->counts.samples++;
        p->counts.samples_in_probes++;
        p->sampled_time += point->period;
        p->sampled_in_probes += point->period;
        return;
    }
    uint32_t node = sampled_trees_anchor(s, thread, chain, point->time, &depth);
    if (node == PROFILE_NONE)
        return;
    p->counts.samples++;
    p->sampled_time += point->period;
    for (uint32_t i = depth; i-- > 0;)
        node = sampled_frame_child(p, node, &s->samples->frames[s->samples->links[chain->first + i]]);
    p->nodes[node].samples++;
    p->nodes[node].sample_time += point->period;
}

void sampled_trees_add(struct profile *trees, const struct session_file *file, const struct session_samples *samples)
{
    struct sampled_trees s = {
        .profile = trees,
        .file = file,
        .samples = samples,
        .nodes = index_new(),
        .function_count = trees->function_count,
    };
    sampled_trees_index(&s);
    sampled_trees_find_levels(&s);
    for (uint32_t i = 0; i < trees->thread_count; i++) {
        const struct sample_point *end, *point = session_samples_from(samples, trees->threads[i].thread, 0, &end);
        for (; point < end; point++)
            sampled_trees_add_sample(&s, i, point);
    }
    index_free(s.nodes);
    free(s.level_functions);
    free(s.has_levels);
}
