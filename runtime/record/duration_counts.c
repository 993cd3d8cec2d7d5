/* Counts the durations of calls whose counters are there. A probe calls this, so it changes no vector registers. */
#include "duration_counts.h"

#include "call_tree.h"
#include "duration_rows.h"
#include "filter.h"
#include "keep_vectors.h"
#include "thread.h"

void duration_rows_add(struct thread *t, struct dwell_tree_node *node, uint64_t duration);
KEEPS_VECTORS(duration_rows_add, duration_rows_add_first);

uint32_t duration_counts_cost;

uint64_t duration_counts_begin(uint64_t function)
{
    return UNLIKELY(filter_settings.histograms) && filter_action(function) & DWELL_FILTER_HISTOGRAM ? DURATION_NO_CALL
                                                                                                    : UINT64_MAX;
}

void duration_counts_note(struct thread *t, struct dwell_tree_node *node, struct dwell_tree_node *parent,
                          uint64_t duration)
{
    if (!duration_counts_are_kept(node)) {
        node->shortest = duration;
        return;
    }
    duration_lower_shortest(node, duration);
    uint64_t *const calls = duration_find(t->durations.table, duration_key(node, duration_counter(duration)));
    if (LIKELY(calls != NULL)) {
        sum_add(calls, 1);
        sum_add(&parent->runtime, duration_counts_cost / DWELL_PROBE_FRACTION);
    } else {
        duration_rows_add(t, node, duration);
    }
}
