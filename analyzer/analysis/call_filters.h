/*
 * The filters of calls that the user typed for a recorded session: --only, --suppress, --ignore, --depth and
 * --min-duration. They mean what they mean for `dwell record`.
 */
#ifndef DWELL_ANALYSIS_CALL_FILTERS_H
#define DWELL_ANALYSIS_CALL_FILTERS_H

#include "profile/call_filter.h"
#include "symbols/function_pattern.h"

struct call_pattern {
    struct function_pattern of;
    const char *option;      /* such as "--only" */
    enum call_action action; /* CALL_SHOWN for --only */
    bool matched;            /* any function so far */
};

/* All zero leaves nothing out. */
struct call_filters {
    struct call_pattern *list;
    size_t count, room;
    bool only;         /* functions that no pattern names are suppressed */
    bool several;      /* of several sessions: a pattern may match in any of them. The caller checks them */
    uint32_t depth;    /* zero if unlimited */
    uint64_t shortest; /* nanoseconds; zero if all calls are shown */
};

static inline bool call_filters_any(const struct call_filters *f)
{
    return f->count || f->depth || f->shortest;
}

/* Adds a pattern of an option, whose name must stay. It is an error if the pattern is not valid, or if another option
 * has the same one. */
bool call_filters_add(struct call_filters *f, const char *option, enum call_action action, const char *text,
                      struct error *error);
void call_filters_drop(struct call_filters *f);

/* Whether the filters have an effect on such a session. It is an error if they cannot: imported reports have no calls,
 * and mode profile keeps no durations. */
struct session_file;
bool call_filters_fit(const struct call_filters *f, const struct session_file *file, struct error *error);

/* Leaves calls out of the events of a session that was just opened, by `jobs` workers. */
bool call_filters_apply(const struct call_filters *f, struct session_file *file, unsigned jobs, struct error *error);

/* Leaves calls out of a profile of call trees. `names` are those of its functions. `places` is that of
 * call_filter_apply. The caller frees the result. */
struct function_name;
struct profile *call_filters_apply_tree(const struct call_filters *f, const struct profile *p,
                                        const struct function_name *names, uint32_t *places);

/* After the filters were applied: it is an error if a pattern has matched no function. `path` begins the message. */
bool call_filters_check(const struct call_filters *f, const char *path, struct error *error);

#endif
