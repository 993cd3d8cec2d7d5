/* Finds a measure by its name, checks that the session has it, and returns its value for a call path. */
#include "export/measures.h"

#include <string.h>

#include "base/units.h"

/* The value of each measure. */
static const enum value_id measured[] = {
    [EXPORT_ELAPSED] = VALUE_ELAPSED, [EXPORT_APPLICATION] = VALUE_APPLICATION,
    [EXPORT_CPU] = VALUE_CPU,         [EXPORT_BLOCKED] = VALUE_BLOCKED,
    [EXPORT_CALLS] = VALUE_CALLS,
};

static const struct value *measure_value(enum export_time measure)
{
    return &value_table[measured[measure]];
}

static bool measure_is_samples(const struct analysis *session, enum export_time measure)
{
    return session->summary.samples && measure == EXPORT_ELAPSED;
}

const char *measure_key(const struct analysis *session, enum export_time measure)
{
    return measure_is_samples(session, measure) ? "samples" : measure_value(measure)->key;
}

const char *measure_label(const struct analysis *session, enum export_time measure)
{
    return measure_is_samples(session, measure) ? "Samples" : measure_value(measure)->label;
}

bool measure_is_time(const struct analysis *session, enum export_time measure)
{
    return measure_value(measure)->kind == VALUE_IS_TIME && !session->summary.samples;
}

static const char *measure_name(enum export_time measure)
{
    return measure_value(measure)->names[EXCLUSIVE];
}

bool measure_find(const char *name, enum export_time *measure)
{
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        if (strcmp(measure_name((enum export_time)i), name) == 0) {
            *measure = (enum export_time)i;
            return true;
        }
    }
    return false;
}

void measure_names(char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof measured / sizeof *measured && length < size; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", measure_name((enum export_time)i));
}

bool measure_is_known(const struct analysis *session, enum export_time measure)
{
    return value_is_known(measured[measure], summary_knows(&session->summary) | NEEDS_CALLS, NULL);
}

bool measure_check(const struct analysis *session, enum export_time measure, struct error *error)
{
    if (measure_is_known(session, measure))
        return true;
    return error_set(error, "%s: %s is unknown: no thread had a source of OS events that reports it",
                     session->summary.path, measure_name(measure));
}

uint64_t measure_exclusive_ticks(const struct profile_node *node, enum export_time measure)
{
    const struct times own = times_of_path(node);
    return times_value(&own, measured[measure], EXCLUSIVE);
}

uint64_t measure_inclusive(const struct times *times, enum export_time measure)
{
    return times_value(times, measured[measure], INCLUSIVE);
}

uint64_t measure_exclusive(const struct analysis *session, uint32_t node, enum export_time measure)
{
    const uint64_t value = measure_exclusive_ticks(&session->profile->nodes[node], measure);
    return measure_is_time(session, measure) ? ticks_to_ns(value, session->summary.ticks_per_second) : value;
}
