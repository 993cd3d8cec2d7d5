/* Prepares the durations of calls, and completes them when all events were added. */
#include "profile/timed_session.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/collect.h"
#include "profile/durations.h"
#include "trace/chunk_order.h"

/* Some chunks tell which calls of a path make calls, so that the cost of first callees is spread as views of single
 * calls spread it. */
static void timed_session_take_sample(struct timed_session *s, const struct probe_cost *costs, size_t count,
                                      unsigned jobs)
{
    enum { LEAST = 16, PART = 32 };
    const size_t step = larger(s->file->chunk_count / larger(LEAST, s->file->chunk_count / PART), 1);
    struct trace_chunk *chunks = need_memory(s->file->chunk_count + 1, sizeof *chunks);
    size_t taken = 0;
    for (size_t i = 0; i < s->file->chunk_count; i += step)
        chunks[taken++] = s->file->chunks[i];
    s->sample = collect_chunks(s->file, chunks, taken, jobs);
    s->probes = path_probes_of(s->sample, s->file, costs, count, true);
    s->rare_paths = rare_paths(s->sample);
    free(chunks);
}

struct timed_session timed_session_begin(const struct session_file *file, const struct probe_cost *costs, size_t count,
                                         unsigned jobs)
{
    struct timed_session s = { .file = file, .list = costs, .count = count };
    struct number_index *places = overhead_index_costs(costs, count);
    s.costs = need_memory(file->process_count + 1, sizeof *s.costs);
    s.parts = need_memory(file->chunk_count + 1, sizeof *s.parts);
    s.rare = need_memory(file->chunk_count + 1, sizeof *s.rare);
    for (size_t i = 0; i < file->process_count; i++) {
        const struct index_slot *slot = index_find(places, file->processes[i].serial, 0);
        s.costs[i] = slot->value_plus_1 ? &costs[slot->value_plus_1 - 1] : NULL;
    }
    index_free(places);
    timed_session_take_sample(&s, costs, count, jobs);
    return s;
}

const struct probe_cost timed_no_cost;

const struct probe_cost *timed_session_cost(const struct timed_session *s, const struct trace_chunk *chunk)
{
    const struct trace_process *process = session_file_process(s->file, chunk->process);
    const struct probe_cost *cost = process ? s->costs[process - s->file->processes] : NULL;
    return cost ? cost : &timed_no_cost;
}

static bool timed_session_take(void *context, const struct trace_chunk *chunk, const struct call_part *call,
                               const struct call_part *caller)
{
    struct profile *p = context;
    (void)chunk;
    (void)caller;
    durations_add(&p->nodes[call->path].durations, call_ticks(call->own.elapsed), 1, call->own.elapsed);
    return true;
}

/* Now that the paths' sums are known. */
static void timed_session_settle(const struct timed_session *s, struct profile *p)
{
    const struct path_probes_table probes = path_probes_of(p, s->file, s->list, s->count, true);
    for (size_t i = 0; i < s->file->chunk_count; i++) {
        const struct trace_chunk *chunk = &s->file->chunks[i];
        if (s->rare[i].count)
            rare_calls_settle(&s->rare[i], p, probes.paths, timed_session_cost(s, chunk), chunk->sequence,
                              s->parts[i].calls);
    }
    free(probes.paths);
}

bool timed_session_end(struct timed_session *s, struct profile *p)
{
    const bool whole = s->rare_count <= RARE_MOST && (!p->counts.switches || s->file->sums.summed_count);
    if (whole && s->rare_count)
        timed_session_settle(s, p);
    if (whole) {
        uint32_t *order = chunk_order_by_thread(s->file);
        call_parts_join(s->file, s->parts, order, timed_session_take, p);
        free(order);
    } else {
        profile_drop_durations(p);
    }
    for (size_t i = 0; i < s->file->chunk_count; i++) {
        free(s->parts[i].calls);
        rare_calls_free(&s->rare[i]);
    }
    free(s->costs);
    free(s->probes.paths);
    free(s->rare_paths);
    profile_free(s->sample);
    free(s->parts);
    free(s->rare);
    return whole;
}
