/* Reads rows of durations, each of which is checked before it is added. */
#include "profile/tree_durations.h"

#include <string.h>

#include "profile/path_probes.h"

bool tree_durations_can_be(const struct dwell_duration_row *row)
{
    return row->counter == DWELL_DURATION_ONE ||
           (row->counter < DWELL_DURATION_COUNTERS && row->calls && !(row->calls >> DURATION_COUNT_BITS));
}

bool tree_durations_add_row(struct durations **d, const struct dwell_duration_row *row)
{
    if (row->counter != DWELL_DURATION_ONE)
        return durations_add_counter(d, row->counter, row->calls, 0);
    durations_add(d, call_ticks(row->calls), 1, row->calls);
    return true;
}

struct tree_durations_reader {
    struct profile *profile;
    const uint32_t *nodes;
    size_t count;
    bool damaged;
};

static bool tree_durations_take(void *context, const void *bytes)
{
    struct tree_durations_reader *r = context;
    struct dwell_duration_row row;
    memcpy(&row, bytes, sizeof row);
    if (!row.node || r->damaged)
        return false;
    r->damaged =
        row.node >= r->count || !tree_durations_add_row(&r->profile->nodes[r->nodes[row.node]].durations, &row);
    return !r->damaged;
}

bool tree_durations_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                         uint32_t thread, struct profile *p, const uint32_t *nodes, size_t count)
{
    struct tree_durations_reader r = { p, nodes, count, false };
    tree_chunks_read(chunks, file, process, thread, sizeof(struct dwell_duration_row), tree_durations_take, &r);
    return !r.damaged;
}
