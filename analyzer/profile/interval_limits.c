/* Adds the OS events of an interval, or of a part of it, to the amounts of a call path. */
#include "profile/interval_limits.h"

#include "base/numbers.h"
#include "profile/interval.h"

uint64_t interval_length_within(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    return less(smaller(end, to), larger(begin, from));
}

void interval_add_os(struct profile_node *node, const struct decoded_extras *extras, uint64_t length)
{
    const struct interval_parts parts = interval_parts(extras, length);
    node->blocked += parts.blocked;
    node->preempted += parts.preempted;
    node->page_faults += extras->page_faults;
    node->runtime += parts.runtime;
    node->flagged += parts.flagged;
    node->runtime_flagged += parts.runtime_flagged;
}

void interval_count_os(struct profile_counts *counts, const struct decoded_extras *extras)
{
    counts->os_events += extras->os_events;
    counts->page_faults += extras->page_faults;
    counts->blocked += extras->blocked;
    counts->preempted += extras->preempted;
    counts->flagged_intervals += extras->flagged;
}

static uint64_t interval_first_within(const struct interval *i, uint64_t begin, uint64_t length)
{
    return interval_length_within(i->from, i->to, begin, begin + length);
}

static uint64_t interval_last_within(const struct interval *i, uint64_t length)
{
    return interval_length_within(i->from, i->to, i->end - length, i->end);
}

/* An interval has only the sums of its times. Off-CPU and flagged times are assumed to be at its beginning, first
 * blocked, then preempted. The probe works at its end. Counts belong to the time of the event at the end. */
struct decoded_extras interval_extras_within(const struct decoded_extras *extras, const struct interval *i)
{
    const struct interval_parts whole = interval_parts(extras, i->end - i->begin);
    const bool ends_within = i->end >= i->from && i->end < i->to;
    const uint64_t length = interval_first_within(i, i->begin, i->end - i->begin);
    const uint64_t flagged = interval_first_within(i, i->begin, whole.flagged);
    return (struct decoded_extras){
        .blocked = interval_first_within(i, i->begin, whole.blocked),
        .preempted = interval_first_within(i, i->begin + whole.blocked, whole.preempted),
        .flagged = extras->flagged && (flagged || !whole.flagged) && length,
        .flagged_part = flagged < length ? flagged : 0,
        .runtime = interval_last_within(i, whole.runtime),
        .os_events = ends_within ? extras->os_events : 0,
        .page_faults = ends_within ? extras->page_faults : 0,
    };
}

void interval_add_os_within(struct profile_node *node, struct profile_counts *counts,
                            const struct decoded_extras *extras, const struct interval *i)
{
    const struct interval_parts whole = interval_parts(extras, i->end - i->begin);
    const struct decoded_extras part = interval_extras_within(extras, i);
    interval_count_os(counts, &part);
    node->blocked += part.blocked;
    node->preempted += part.preempted;
    node->page_faults += part.page_faults;
    node->flagged += interval_first_within(i, i->begin, whole.flagged);
    node->runtime += part.runtime;
    node->runtime_flagged += interval_last_within(i, whole.runtime_flagged);
}
