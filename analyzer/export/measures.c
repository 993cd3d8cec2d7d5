#include "export/measures.h"

#include <string.h>

#include "base/units.h"

static const char *const names[] = {
    [EXPORT_ELAPSED] = "elapsed_exclusive",
    [EXPORT_APPLICATION] = "application_exclusive",
    [EXPORT_BLOCKED] = "blocked_exclusive",
    [EXPORT_CALLS] = "calls",
};

const char measure_names[] = "elapsed_exclusive, application_exclusive, blocked_exclusive, calls";

bool measure_find(const char *name, enum export_time *measure)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *measure = (enum export_time)i;
            return true;
        }
    }
    return false;
}

bool measure_is_known(const struct analysis *session, enum export_time measure)
{
    if (measure == EXPORT_APPLICATION)
        return session->summary.application_known;
    return measure != EXPORT_BLOCKED || session->summary.away_known;
}

bool measure_check(const struct analysis *session, enum export_time measure, struct error *error)
{
    if (measure_is_known(session, measure))
        return true;
    return error_set(error, "%s: %s is unknown: no thread had a source of OS events that reports it",
                     session->summary.path, names[measure]);
}

uint64_t measure_ticks(const struct profile_node *node, enum export_time measure)
{
    switch (measure) {
    case EXPORT_ELAPSED:
        return node->elapsed;
    case EXPORT_APPLICATION:
        return node->elapsed - node->flagged;
    case EXPORT_BLOCKED:
        return node->blocked;
    case EXPORT_CALLS:
        return node->calls;
    }
    return 0;
}

uint64_t measure_own(const struct analysis *session, uint32_t node, enum export_time measure)
{
    const uint64_t value = measure_ticks(&session->profile->nodes[node], measure);
    return measure == EXPORT_CALLS ? value : ticks_to_ns(value, session->summary.ticks_per_second);
}
