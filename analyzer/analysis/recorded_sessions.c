/* Brings the sessions of a file of sums to one unit. A call path of a thread is rounded once, so that the order of
 * sessions is of no account. */
#include "analysis/recorded_sessions.h"

#include <stdlib.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/counted.h"
#include "profile/path_probes.h"
#include "profile/sampling.h"
#include "profile/subtree.h"

/* By node: the place of its session in the file. The caller frees the list. */
static size_t *recorded_sessions_of_nodes(const struct profile *p, const struct session_file *file)
{
    size_t *places = need_memory(p->node_count + 1, sizeof *places);
    for (size_t i = 0; i < p->thread_count; i++)
        places[p->threads[i].root] = session_file_summed_of(file, p->threads[i].process);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].parent != PROFILE_NONE)
            places[i] = places[p->nodes[i].parent];
    return places;
}

/* The call paths of one session. Functions keep their numbers. */
static struct profile *recorded_sessions_part(const struct profile *p, const size_t *places, size_t place)
{
    bool *kept = need_memory(p->node_count + 1, sizeof *kept);
    uint32_t *nodes = need_memory(p->node_count + 1, sizeof *nodes);
    for (size_t i = 0; i < p->node_count; i++)
        kept[i] = places[i] == place;
    struct profile *part = subtree_kept(p, kept, nodes);
    free(kept);
    free(nodes);
    return part;
}

static bool recorded_sessions_is_sampled(const struct profile *p, const size_t *places, size_t place)
{
    for (size_t i = 0; i < p->node_count; i++)
        if (places[i] == place && (p->nodes[i].samples || p->nodes[i].samples_in_stubs))
            return true;
    return false;
}

/* `counted` has the counted calls of all sessions. */
static void recorded_sessions_divide_one(struct profile *p, const struct profile *counted,
                                         const struct analysis *analysis, const struct dwell_file_header *recorded,
                                         bool sampled)
{
    if (!analysis->raw)
        sampling_subtract_cost(p, recorded);
    if (sampled)
        sampling_divide(p, analysis->file, analysis->raw,
                        analysis->file->sums.summed_count > 1 ? recorded->mode == DWELL_MODE_PROFILE
                                                              : session_file_has_trees(analysis->file));
    if (sampled && !analysis->raw)
        sampling_subtract_counting(p, counted, recorded);
    if (!analysis->raw)
        path_probes_shorten_calls(p);
}

/* The profile keeps its counts and counted calls. Its nodes become those of the parts. */
static void recorded_sessions_divide_each(struct analysis *analysis, const struct profile *counted)
{
    struct profile *p = analysis->profile, *whole = profile_new();
    size_t *places = recorded_sessions_of_nodes(p, analysis->file);
    profile_copy_functions(whole, p);
    for (size_t i = 0; i <= analysis->file->sums.summed_count; i++) {
        struct profile *part = recorded_sessions_part(p, places, i);
        if (i < analysis->file->sums.summed_count)
            recorded_sessions_divide_one(part, counted, analysis, &analysis->file->sums.summed[i].record.header,
                                         recorded_sessions_is_sampled(p, places, i));
        profile_merge(whole, part);
        profile_free(part);
    }
    profile_drop_durations(p);
    for (size_t i = 0; i < p->node_count; i++)
        amounts_clear(&p->nodes[i]);
    profile_merge(whole, p);
    free(places);
    profile_free(p);
    analysis->profile = whole;
}

static void recorded_sessions_scale(struct profile *p, const struct session_file *file)
{
    size_t *places = recorded_sessions_of_nodes(p, file);
    for (size_t i = 0; i < p->node_count; i++)
        if (places[i] < file->sums.summed_count)
            amounts_scale(&p->nodes[i], file->sums.summed[places[i]].record.header.ticks_per_second);
    free(places);
}

/* The counted calls of a profile that shall have none: counting them took time all the same. */
static struct profile *recorded_sessions_counted(const struct analysis *analysis)
{
    struct profile *counted = profile_new();
    profile_copy_functions(counted, analysis->profile);
    counted_collect(counted, analysis->file, analysis->selection);
    return counted;
}

void recorded_sessions_divide(struct analysis *analysis)
{
    const bool several = analysis->file->sums.summed_count > 1;
    const bool sampled = analysis->profile->counts.samples;
    struct profile *own = sampled && !analysis->profile->counted_count ? recorded_sessions_counted(analysis) : NULL;
    const struct profile *counted = own ? own : analysis->profile;
    if (!several)
        recorded_sessions_divide_one(analysis->profile, counted, analysis, &analysis->file->header, sampled);
    else if (sampled || analysis->file->header.sample_cost)
        recorded_sessions_divide_each(analysis, counted);
    if (own)
        profile_free(own);
    if (several)
        recorded_sessions_scale(analysis->profile, analysis->file);
}

uint64_t recorded_sessions_rate(const struct session_file *file, uint32_t process)
{
    const size_t place = session_file_summed_of(file, process);
    return file->sums.summed_count > 1 && place < file->sums.summed_count
               ? file->sums.summed[place].record.header.ticks_per_second
               : 0;
}

uint32_t recorded_sessions_held(const struct trace_summed *s)
{
    uint32_t held = 0;
    for (size_t i = 0; i < s->held_length; i++)
        held += (uint32_t)__builtin_popcount(s->held[i]);
    return held;
}

uint32_t recorded_sessions_last(const struct trace_summed *s)
{
    size_t last = s->held_length * 8;
    while (last && !(s->held[(last - 1) / 8] >> (last - 1) % 8 & 1))
        last--;
    return (uint32_t)last;
}

void recorded_sessions_remark(struct summary *summary, const struct session_file *file)
{
    size_t partial = 0;
    const struct trace_summed *first = NULL;
    for (size_t i = 0; i < file->sums.summed_count; i++) {
        const uint32_t shards = file->sums.summed[i].record.shards;
        const bool whole =
            !shards || recorded_sessions_held(&file->sums.summed[i]) == shards; /* deltas lack nothing by accident */
        partial += !whole;
        first = whole || first ? first : &file->sums.summed[i];
    }
    if (partial == 1)
        summary_remark(summary, "shards-missing", "%u of %s of a session %s missing: its sums are not whole",
                       first->record.shards - recorded_sessions_held(first), COUNTED(first->record.shards, "shard"),
                       counted_word(first->record.shards - recorded_sessions_held(first), "is", "are"));
    else if (partial)
        summary_remark(summary, "shards-missing", "shards of %s are missing: their sums are not whole",
                       COUNTED(partial, "session"));
}
