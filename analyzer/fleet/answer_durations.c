/* Reads how long calls took into an analysis, and says of how many runs that is known. */
#include <stdlib.h>

#include "base/numbers.h"
#include "fleet/answer_part.h"
#include "profile/durations.h"

static size_t answer_count_durations(const struct fleet_run *runs, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += (runs[i].knows & FLEET_KNOWS_DURATIONS) != 0;
    return known;
}

/* The key of each row is that of a function, with its module, or that of a path. */
static FILE *answer_ask_durations(const struct answer *a, const char *key)
{
    return fleet_ask(a->store, a->error,
                     "SELECT %s, counter, sum(calls), sum(elapsed) FROM %s." FLEET_DURATIONS
                     " WHERE %s GROUP BY %s, counter ORDER BY %s, counter FORMAT RowBinary",
                     key, a->store->database, a->rows, key, key);
}

/* The time is that of a single call. A counter has its most calls if the sum is more. */
static void answer_read_counter(struct binary_reader *r, struct durations **d)
{
    const uint64_t most = (UINT64_C(1) << DURATION_COUNT_BITS) - 1;
    const uint64_t counter = binary_get(r, 4), calls = binary_get(r, 8), ns = binary_get(r, 8);
    r->broken = r->broken || !durations_add_counter(d, counter, smaller(calls, most), ns * DWELL_PROBE_FRACTION);
}

bool answer_read_function_durations(struct answer *a, const struct fleet_run *runs, size_t count)
{
    struct profile *p = a->analysis->profile;
    if (!answer_count_durations(runs, count))
        return true;
    FILE *answer = answer_ask_durations(a, "module, function");
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    const uint32_t root = profile_root(p, 0, 0);
    while (binary_has_row(&r)) {
        const uint64_t module = binary_get(&r, 8), number = binary_get(&r, 8);
        if (r.broken)
            break;
        const uint32_t node = profile_child(p, root, answer_numbered(a, module, number));
        answer_read_counter(&r, &p->nodes[node].durations);
    }
    return answer_end(a, &r);
}

bool answer_read_path_durations(struct answer *a, const struct fleet_run *runs, size_t count,
                                const struct number_index *nodes)
{
    struct profile *p = a->analysis->profile;
    if (!answer_count_durations(runs, count))
        return true;
    FILE *answer = answer_ask_durations(a, "path");
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        const uint32_t node = answer_find(nodes, binary_get(&r, 8));
        r.broken |= node == PROFILE_NONE;
        if (r.broken)
            break;
        answer_read_counter(&r, &p->nodes[node].durations);
    }
    return answer_end(a, &r);
}

void answer_judge_durations(struct analysis *analysis, const struct fleet_run *runs, size_t count)
{
    struct summary *summary = &analysis->summary;
    const size_t known = answer_count_durations(runs, count);
    analysis->durations = true;
    summary->durations_known = known == count;
    if (!known)
        summary_remark(summary, "percentiles-need-calls",
                       "percentiles are unknown: the runs were pushed without durations of calls, by an older dwell, "
                       "to an older store, or in mode profile");
    else if (known < count)
        summary_remark(summary, "percentiles-of-some",
                       "percentiles are those of %zu of the %zu runs: the others were pushed without durations of "
                       "calls",
                       known, count);
}
