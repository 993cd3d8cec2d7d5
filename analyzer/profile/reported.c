#include "profile/reported.h"

#include <stdlib.h>

#include "base/memory.h"
#include "dwell/format.h"

void reported_add(struct times *into, const struct times *from)
{
    into->elapsed_inclusive += from->elapsed_inclusive;
    into->elapsed_exclusive += from->elapsed_exclusive;
    into->application_inclusive += from->application_inclusive;
    into->application_exclusive += from->application_exclusive;
    into->calls += from->calls;
    if (from->shortest < into->shortest)
        into->shortest = from->shortest;
    if (from->longest > into->longest)
        into->longest = from->longest;
}

void reported_functions(const struct profile *p, struct times *sums)
{
    bool *begun = need_memory(p->function_count, sizeof *begun);
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *r = &p->reported[i];
        if (r->kind != DWELL_REPORTED_FUNCTION)
            continue;
        if (!begun[r->function])
            sums[r->function] = (struct times){ .shortest = UINT64_MAX };
        begun[r->function] = true;
        reported_add(&sums[r->function], &r->times);
    }
    free(begun);
}

bool reported_has_edges(const struct profile *p)
{
    for (size_t i = 0; i < p->reported_count; i++)
        if (p->reported[i].kind != DWELL_REPORTED_FUNCTION)
            return true;
    return false;
}
