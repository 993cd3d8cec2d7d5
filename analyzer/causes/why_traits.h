/* What each call of a comparison has, besides its time: traits, of which it may have several, and its place on axes. */
#ifndef DWELL_CAUSES_WHY_TRAITS_H
#define DWELL_CAUSES_WHY_TRAITS_H

#include "analysis/analysis.h"
#include "base/intern.h"
#include "causes/why_scan.h"
#include "trace/recorded_values.h"

/* Something that calls have or do not have. */
struct why_trait {
    const char *name;
    char *value;
    uint32_t calls; /* that have it */
};

/* Calls in the order of a number, in bins of as many calls each. */
struct why_axis {
    const char *name;
    bool ages; /* only ranges from zero on count */
    size_t bins;
    uint32_t *of_calls;             /* the bin of each call; `bins` if the call is in none */
    uint64_t *begins, *end;         /* by bin: of its first call, and of its last one: nanoseconds */
    bool is_argument;               /* begins and ends are words of this one: */
    struct recorded_value argument; /* without names */
};

enum { WHY_MOST_ARGUMENTS = DWELL_VALUES_MOST, WHY_MOST_AXES = 2 + WHY_MOST_ARGUMENTS };

struct why_traits {
    const struct why_sampled *calls;
    size_t call_count;
    struct why_trait *list;
    size_t count, room;
    struct intern known; /* names and values */
    uint32_t *first;     /* by call: its traits are of_calls[first] to of_calls[first of the next call] */
    uint32_t *of_calls;
    struct why_axis axes[WHY_MOST_AXES];
    size_t axis_count;
};

struct why_part;
/* With `values`, arguments are traits as well. */
struct why_traits why_traits_find(const struct why_part *parts, size_t count, const struct why_found *scan,
                                  bool values);
void why_traits_drop(struct why_traits *traits);

#endif
