/* Reads how long calls took into an analysis, and says of how many runs that is known. */
#include <stdlib.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "fleet/answer_part.h"
#include "profile/durations.h"

size_t answer_count_durations(const struct fleet_run *runs, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += (runs[i].knows & FLEET_KNOWS_DURATIONS) != 0;
    return known;
}

FILE *answer_ask_durations(const struct answer *a, bool by_path)
{
    const char *key = by_path ? "path" : "module, function", *first = a->place ? "place, " : "";
    char *place = a->place ? need_text("%s AS place, ", a->place) : need_text("%s", "");
    FILE *answer = fleet_ask(a->store, a->error,
                             "SELECT %s%s, counter, sum(calls), sum(elapsed) FROM %s." FLEET_DURATIONS
                             " WHERE %s GROUP BY %s%s, counter ORDER BY %s%s, counter FORMAT RowBinary",
                             place, key, a->store->database, a->rows, first, key, first, key);
    free(place);
    return answer;
}

/* The time is that of a single call. A counter has its most calls if the sum is more. */
static bool answer_add_counter(struct durations **d, uint64_t counter, uint64_t calls, uint64_t ns)
{
    const uint64_t most = (UINT64_C(1) << DURATION_COUNT_BITS) - 1;
    return durations_add_counter(d, counter, smaller(calls, most), ns * DWELL_PROBE_FRACTION);
}

static void answer_read_counter(struct binary_reader *r, struct durations **d)
{
    const uint64_t counter = binary_get(r, 4), calls = binary_get(r, 8), ns = binary_get(r, 8);
    r->broken = r->broken || !answer_add_counter(d, counter, calls, ns);
}

void answer_read_function_duration(struct answer *a, struct binary_reader *r)
{
    struct profile *p = a->analysis->profile;
    const uint64_t module = binary_get(r, 8), number = binary_get(r, 8);
    if (r->broken)
        return;
    const uint32_t node = profile_child(p, profile_root(p, 0, 0), answer_numbered(a, module, number));
    answer_read_counter(r, &p->nodes[node].durations);
}

void answer_read_path_duration(struct answer *a, struct binary_reader *r, const struct number_index *nodes)
{
    const uint32_t node = answer_find(nodes, binary_get(r, 8));
    r->broken |= node == PROFILE_NONE;
    if (!r->broken)
        answer_read_counter(r, &a->analysis->profile->nodes[node].durations);
}

bool answer_read_function_durations(struct answer *a, const struct fleet_run *runs, size_t count)
{
    if (!answer_count_durations(runs, count))
        return true;
    FILE *answer = answer_ask_durations(a, false);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r))
        answer_read_function_duration(a, &r);
    return answer_end(a, &r);
}

bool answer_read_path_durations(struct answer *a, const struct fleet_run *runs, size_t count,
                                const struct number_index *nodes)
{
    if (!answer_count_durations(runs, count))
        return true;
    FILE *answer = answer_ask_durations(a, true);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r))
        answer_read_path_duration(a, &r, nodes);
    return answer_end(a, &r);
}

/* ---- by a key ---- */

FILE *answer_ask_part_durations(const struct answer *a, const char *key, const char *functions)
{
    return fleet_ask(a->store, a->error,
                     "SELECT module, function, toUInt64(%s) AS key, counter, sum(calls), sum(elapsed) FROM "
                     "%s." FLEET_DURATIONS " WHERE %s AND %s AND module != 0 GROUP BY module, function, key, counter "
                     "ORDER BY module, function, key, counter FORMAT RowBinary",
                     key, a->store->database, a->rows, functions);
}

struct answer_part_counter answer_get_part_counter(struct binary_reader *r)
{
    struct answer_part_counter c = { .module = binary_get(r, 8) };
    c.number = binary_get(r, 8);
    c.key = binary_get(r, 8);
    c.counter = binary_get(r, 4);
    c.calls = binary_get(r, 8);
    c.ns = binary_get(r, 8);
    return c;
}

bool answer_add_part_counter(struct durations **d, const struct answer_part_counter *c)
{
    return answer_add_counter(d, c->counter, c->calls, c->ns);
}

/* ---- of how many runs ---- */

/* The store's counters do not say which calls of a function are of which run. */
static void answer_judge_chosen(struct summary *summary, const struct fleet_run *runs, size_t count)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        chosen += (runs[i].knows & FLEET_KNOWS_CHOSEN_DURATIONS) != 0;
    summary->durations_estimated = chosen;
    if (chosen)
        summary_remark(summary, "percentiles-of-chosen",
                       "of %s, only functions of --histogram have percentiles (~: estimates)", COUNTED(chosen, "run"));
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
                       "percentiles are those of %zu of the %s: the others were pushed without durations of "
                       "calls",
                       known, COUNTED(count, "run"));
    answer_judge_chosen(summary, runs, count);
}
