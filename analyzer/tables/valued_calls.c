/* In mode profile, calls with different values are on different paths, whose amounts are sums. */
#include "tables/valued_calls.h"

#include "base/memory.h"
#include "profile/trees.h"
#include "tables/value_ranges.h"

static void valued_calls_add(struct valued_calls *v, const struct analysis *analysis, const struct valued_by *by,
                             uint32_t node, const struct recorded_row *row)
{
    const struct profile_node *from = &analysis->profile->nodes[node];
    const struct times *times = &analysis->rollup->nodes[node];
    const bool others = row->unread & DWELL_VALUES_OTHERS;
    GROW(v->calls, v->count, v->room);
    struct valued_call *call = &v->calls[v->count++];
    *call = (struct valued_call){
        .time = (int64_t)(times->elapsed_inclusive * DWELL_PROBE_FRACTION),
        .blocked = times->blocked_inclusive,
        .off_cpu = times->blocked_inclusive + times->preempted_inclusive,
        .calls = from->calls,
        .longest = from->shortest <= from->longest ? from->longest : 0,
        .durations = from->durations,
    };
    for (unsigned i = 0; i < by->count; i++) {
        call->words[i] = recorded_value_words(by->arguments[i].values, row, by->arguments[i].index);
        call->range[i] = others ? RANGE_OTHERS : 0;
    }
    v->valued += from->calls;
    v->others += others ? from->calls : 0;
}

struct valued_calls valued_calls_of_paths(const struct analysis *analysis, const struct valued_by *by)
{
    struct valued_calls v = { .calls = NULL };
    const struct recorded_argument *a = &by->arguments[0];
    const struct profile *p = analysis->profile;
    for (uint32_t i = 0; i < p->node_count; i++) {
        if (p->nodes[i].function != a->function || !p->nodes[i].calls)
            continue;
        const struct recorded_row *row = trees_values_of(p, i, a->values);
        if (row && row->function == a->recorded)
            valued_calls_add(&v, analysis, by, i, row);
        else
            v.without += p->nodes[i].calls;
    }
    return v;
}
