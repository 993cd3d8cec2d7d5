/* Counts the durations of a path's calls, of which many are short. */
#include "profile/short_durations.h"

void short_durations_add(struct short_durations *s, struct durations **d, uint64_t counter, uint64_t sum)
{
    if (counter < SHORT_COUNTERS)
        short_durations_move(s, d);
    durations_add_counter(d, counter, 1, sum);
}

void short_durations_move(struct short_durations *s, struct durations **d)
{
    for (uint64_t i = 0; i < SHORT_COUNTERS; i++)
        if (s->counts[i])
            durations_add_counter(d, i, s->counts[i], 0);
    if (*d)
        (*d)->sum += s->sum;
    *s = (struct short_durations){ 0 };
}
