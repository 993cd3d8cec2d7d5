/* Subtracts what earlier deltas have from the sums of a session. */
#include "sums/sums_delta.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/durations.h"
#include "profile/subtree.h"
#include "symbols/symbols.h"

struct sums_deltas {
    struct profile *made; /* the sum of all deltas; its processes and threads are those of the sums */
    uint64_t counts[DWELL_SUMMED_COUNTS];
    struct sums_losses losses;
    uint32_t count;
    uint64_t begin;              /* of the next delta */
    struct function_name *names; /* by function of `made` */
    size_t name_count;
    struct binaries *binaries;
    struct intern counted;   /* threads and functions whose calls are counted */
    uint64_t *counted_calls; /* by number in `counted`: calls in all deltas */
    size_t counted_count, counted_room;
};

struct sums_deltas *sums_deltas_new(uint64_t begin)
{
    struct sums_deltas *d = need_memory(1, sizeof *d);
    d->made = profile_new();
    d->begin = begin;
    d->binaries = binaries_new();
    return d;
}

void sums_deltas_free(struct sums_deltas *d)
{
    if (!d)
        return;
    names_free(d->names, d->name_count);
    binaries_free(d->binaries);
    intern_drop(&d->counted);
    free(d->counted_calls);
    profile_free(d->made);
    free(d);
}

uint32_t sums_deltas_count(const struct sums_deltas *d)
{
    return d->count;
}

/* ---- amounts ---- */

static uint64_t delta_take_part(uint64_t now, uint64_t *made, uint64_t most)
{
    const uint64_t part = smaller(less(now, *made), most);
    *made += part;
    return part;
}

/* Shortest and longest calls are in the delta that has them. */
static uint64_t delta_take_limit(uint64_t now, uint64_t *made, bool better, uint64_t unknown)
{
    if (!better)
        return unknown;
    *made = now;
    return now;
}

/* Takes the amounts of a path that are not in earlier deltas. Parts of the elapsed time are never more than it, as
 * readers require: what is too much waits for the next delta. */
static bool delta_take_amounts(struct profile_node *node, struct profile_node *made)
{
    struct profile_node d = *node;
    const uint64_t any = UINT64_MAX;
    d.elapsed = delta_take_part(node->elapsed, &made->elapsed, any);
    d.flagged = delta_take_part(node->flagged, &made->flagged, d.elapsed);
    d.blocked = delta_take_part(node->blocked, &made->blocked, d.elapsed);
    d.preempted = delta_take_part(node->preempted, &made->preempted, d.elapsed - d.blocked);
    const uint64_t on_cpu = d.elapsed - d.blocked - d.preempted;
    d.runtime = delta_take_part(node->runtime, &made->runtime, on_cpu);
    d.runtime_flagged = delta_take_part(node->runtime_flagged, &made->runtime_flagged, on_cpu);
    d.page_faults = delta_take_part(node->page_faults, &made->page_faults, any);
    d.calls = delta_take_part(node->calls, &made->calls, any);
    d.samples = delta_take_part(node->samples, &made->samples, any);
    d.samples_in_stubs = delta_take_part(node->samples_in_stubs, &made->samples_in_stubs, any);
    d.sample_time = delta_take_part(node->sample_time, &made->sample_time, any);
    d.stub_time = delta_take_part(node->stub_time, &made->stub_time, any);
    d.shortest = delta_take_limit(node->shortest, &made->shortest, node->shortest < made->shortest, any);
    d.longest = delta_take_limit(node->longest, &made->longest, node->longest > made->longest, 0);
    d.net_shortest =
        delta_take_limit(node->net_shortest, &made->net_shortest, node->net_shortest < made->net_shortest, any);
    d.net_longest = delta_take_limit(node->net_longest, &made->net_longest, node->net_longest > made->net_longest, 0);
    d.first = delta_take_limit(node->first, &made->first, node->first < made->first, any);
    durations_take_new(&d.durations, &made->durations);
    *node = d;
    return d.elapsed || d.flagged || d.blocked || d.preempted || d.runtime || d.runtime_flagged || d.page_faults ||
           d.calls || d.samples || d.samples_in_stubs || d.shortest != any || d.longest || d.net_shortest != any ||
           d.net_longest || d.first != any || d.durations;
}

/* ---- call paths ---- */

static void delta_mark_causes(const struct sums *sums, bool *kept)
{
    for (size_t i = 0; i < sums->cause_count; i++) {
        kept[sums->causes[i].node] = true;
        if (sums->causes[i].cause_node != PROFILE_NONE)
            kept[sums->causes[i].cause_node] = true;
    }
}

/* Which nodes the delta has: new ones, those with amounts, and those that lead to them. */
static bool *delta_take_nodes(struct sums_deltas *d, struct sums *sums)
{
    struct profile *p = sums->profile;
    const size_t known = d->made->node_count;
    uint32_t *places = profile_add_nodes(d->made, p);
    bool *kept = need_memory(p->node_count + 1, sizeof *kept);
    for (size_t i = 0; i < p->node_count; i++) {
        const bool amounts =
            p->nodes[i].parent != PROFILE_NONE && delta_take_amounts(&p->nodes[i], &d->made->nodes[places[i]]);
        kept[i] = amounts || places[i] >= known;
    }
    free(places);
    delta_mark_causes(sums, kept);
    subtree_keep_callers(p, kept);
    return kept;
}

/* ---- counted calls ---- */

/* Sums the calls of each function and thread, as a function may have several entries, and takes what is new. */
static void delta_take_counted(struct sums_deltas *d, const struct profile *from, struct profile *into)
{
    uint64_t *now = need_memory(d->counted.count + from->counted_count + 1, sizeof *now);
    for (size_t i = 0; i < from->counted_count; i++) {
        const struct profile_counted *c = &from->counted[i];
        const uint32_t key[] = { from->threads[c->thread].thread,
                                 profile_find_same_function(d->made, from, c->function) };
        const uint32_t number = intern(&d->counted, key, sizeof key);
        if (number == d->counted_count) {
            GROW(d->counted_calls, d->counted_count, d->counted_room);
            d->counted_calls[d->counted_count++] = 0;
        }
        now[number] += c->calls;
        const uint64_t before = now[number] - c->calls, made = d->counted_calls[number];
        const uint64_t calls = less(now[number], larger(before, made));
        if (calls)
            counted_add_on(into, from->threads[c->thread].process, from->threads[c->thread].thread, c->function, calls);
    }
    for (size_t i = 0; i < d->counted_count; i++)
        d->counted_calls[i] = larger(d->counted_calls[i], now[i]);
    free(now);
}

static void delta_take_paths(struct sums_deltas *d, struct sums *sums)
{
    struct profile *p = sums->profile;
    bool *kept = delta_take_nodes(d, sums);
    uint32_t *nodes = need_memory(p->node_count + 1, sizeof *nodes);
    sums->profile = subtree_kept(p, kept, nodes);
    delta_take_counted(d, p, sums->profile);
    for (size_t i = 0; i < sums->cause_count; i++) {
        struct sums_cause *c = &sums->causes[i];
        c->node = nodes[c->node];
        c->cause_node = c->cause_node == PROFILE_NONE ? PROFILE_NONE : nodes[c->cause_node];
    }
    profile_free(p);
    free(nodes);
    free(kept);
}

/* ---- the session ---- */

/* Makes the only session of the sums one of which there is a delta. Returns whether it has lost anything since. */
static bool delta_take_session(struct sums_deltas *d, struct trace_summed *summed, bool last)
{
    struct dwell_rec_summed *record = &summed->record;
    const struct sums_losses now = sums_losses_of(&record->header), made = d->losses;
    record->header.lost_events = less(now.events, made.events);
    record->header.lost_threads = less(now.threads, made.threads);
    record->header.lost_trace_events = less(now.trace_events, made.trace_events);
    record->header.replaced_events = less(now.replaced, made.replaced);
    record->header.lost_samples = (uint32_t)less(now.samples, made.samples);
    d->losses = now;
    for (size_t i = 0; i < DWELL_SUMMED_COUNTS; i++)
        record->counts[i] = delta_take_part(record->counts[i], &d->counts[i], UINT64_MAX);
    record->shards = 0;
    record->deltas = last ? d->count + 1 : 0;
    record->begin = d->begin;
    free(summed->held);
    summed->held_length = d->count / 8 + 1;
    summed->held = need_memory(summed->held_length, 1);
    summed->held[d->count / 8] = (uint8_t)(1u << d->count % 8);
    return record->header.lost_events || record->header.lost_trace_events || record->header.lost_threads;
}

static void delta_name_functions(struct sums_deltas *d, struct sums *sums, const struct session_file *file)
{
    names_extend(&d->names, &d->name_count, file, d->made, d->binaries);
    for (uint32_t i = 0; i < sums->profile->function_count; i++) {
        const uint32_t function = profile_find_same_function(d->made, sums->profile, i);
        if (function == PROFILE_NONE)
            continue;
        const struct function_name *name = &d->names[function];
        const struct profile_module *m = &sums->profile->modules[sums->profile->functions[i].module];
        const struct symbol_module module = { m->path, m->build_id, m->build_id_length };
        const bool lines = binaries_count(d->binaries, &module) > 0; /* as in the complete session */
        sums_name_function(sums, i, name->linkage_name, lines ? name->file : NULL, lines ? name->line : 0);
    }
}

static bool delta_read_running(struct sums_deltas *d, struct sums *sums, const char *path, bool *any,
                               struct error *error)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    if (!file)
        return error_set(error, "%s: %s", path, wrong);
    const bool good = sums_add_running(sums, file, error);
    if (good) {
        delta_take_paths(d, sums);
        delta_name_functions(d, sums, file);
        *any = sums->profile->node_count > 0;
    }
    session_file_close(file);
    return good;
}

static bool delta_read_complete(struct sums_deltas *d, struct sums *sums, const char *path, struct error *error)
{
    if (!sums_add_recorded(sums, path, (struct sums_shard){ 0, 1 }, 0, error))
        return false;
    delta_take_paths(d, sums);
    return true;
}

struct sums *sums_deltas_take(struct sums_deltas *d, const char *path, uint64_t now, bool last, struct error *error)
{
    if (!last && d->count >= DWELL_MOST_DELTAS - 1)
        return NULL;
    struct sums *sums = sums_new();
    bool any = last;
    const bool good = last ? delta_read_complete(d, sums, path, error) : delta_read_running(d, sums, path, &any, error);
    if (good)
        any |= delta_take_session(d, &sums->sessions[0].summed, last);
    if (good && any) {
        d->count++;
        d->begin = now;
        return sums;
    }
    sums_free(sums);
    return NULL;
}
