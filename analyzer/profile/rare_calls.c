/* Keeps the calls of rare paths until the costs of their probes are known. */
#include "profile/rare_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/durations.h"

bool *rare_paths(const struct profile *p)
{
    bool *rare = need_memory(p->node_count + 1, sizeof *rare);
    uint64_t *calls = need_memory(p->node_count + 1, sizeof *calls);
    for (size_t i = p->node_count; i-- > 0;) { /* children come after their parents */
        const struct profile_node *node = &p->nodes[i];
        calls[i] += node->calls;
        rare[i] = calls[i] < RARE_FEWEST;
        if (node->parent != PROFILE_NONE)
            calls[node->parent] += calls[i];
    }
    free(calls);
    return rare;
}

void rare_calls_add(struct rare_calls *calls, const struct rare_open *open, struct rare_open *caller, uint64_t elapsed,
                    struct rare_call call)
{
    call.own = elapsed - open->below;
    call.callees = open->callees;
    call.first = open->first;
    call.count = (uint32_t)(calls->count - open->before + 1);
    GROW(calls->list, calls->count, calls->room);
    if (open->off_cpu) {
        GROW(calls->off_cpu, calls->off_cpu_count, calls->off_cpu_room);
        calls->off_cpu[calls->off_cpu_count++] = (struct rare_off_cpu){ calls->count, open->off_cpu };
    }
    calls->list[calls->count++] = call;
    if (caller)
        caller->below += elapsed;
}

static void *rare_calls_copy(const void *list, size_t size)
{
    return size ? memcpy(need_memory(1, size), list, size) : NULL;
}

struct rare_calls rare_calls_take(struct rare_calls *calls)
{
    const struct rare_calls taken = {
        .list = rare_calls_copy(calls->list, calls->count * sizeof *calls->list),
        .count = calls->count,
        .off_cpu = rare_calls_copy(calls->off_cpu, calls->off_cpu_count * sizeof *calls->off_cpu),
        .off_cpu_count = calls->off_cpu_count,
    };
    calls->count = calls->off_cpu_count = 0;
    return taken;
}

void rare_calls_free(struct rare_calls *calls)
{
    free(calls->list);
    free(calls->off_cpu);
}

/* The own time of a call of a path that is not held, as views of single calls have it. */
static uint64_t rare_calls_own(const struct rare_call *call, const struct path_probes *probes,
                               const struct probe_cost *cost, uint64_t sequence)
{
    const uint64_t rest = call->first && probes->first == sequence ? probes->rest : 0;
    const uint64_t charge = (uint64_t)call->callees * probes->callee + (call->entered ? probes->call : 0) - rest;
    return call->own + rare_probes(cost, call->entered, call->callees) - charge;
}

void rare_calls_settle(const struct rare_calls *calls, struct profile *p, const struct path_probes *paths,
                       const struct probe_cost *cost, uint64_t sequence, struct call_part *parts)
{
    uint64_t *sums = need_memory(calls->count + 1, sizeof *sums); /* of the calls before */
    size_t off_cpu = 0;
    for (size_t i = 0; i < calls->count; i++) {
        const struct rare_call *call = &calls->list[i];
        const struct path_probes *probes = &paths[call->path];
        uint64_t own_off_cpu = 0;
        if (off_cpu < calls->off_cpu_count && calls->off_cpu[off_cpu].call == i)
            own_off_cpu = calls->off_cpu[off_cpu++].time;
        sums[i + 1] = sums[i] + (probes->held ? own_off_cpu : rare_calls_own(call, probes, cost, sequence));
        const uint64_t elapsed = sums[i + 1] - sums[i + 1 - call->count];
        if (call->part == RARE_WHOLE)
            durations_add_call(&p->nodes[call->path].durations, call_ticks(elapsed), elapsed);
        else if (call->part != RARE_LOST)
            parts[call->part].own.elapsed = elapsed;
    }
    free(sums);
}
