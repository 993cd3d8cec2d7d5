/* Which functions are recorded: patterns (filter_patterns.h), matched with the functions of the program before it
 * starts, and with those of other modules when processes load them. */
#ifndef DWELL_RECORDER_FILTERS_H
#define DWELL_RECORDER_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dwell/format.h"
#include "recorder/earlier_levels.h"
#include "recorder/function_set.h"
#include "recorder/keep_watches.h"
#include "recorder/planned_calls.h"
#include "session.h"

struct filter_pattern;
struct filter_module;

struct filters {
    struct filter_pattern *patterns;
    size_t pattern_count, pattern_room;
    struct filter_module *modules; /* judged ones */
    size_t module_count, module_room;
    uint32_t actions;                      /* of all patterns that were added */
    size_t modules_written;                /* into the session */
    uint32_t chunks;                       /* that a process has to read */
    bool strict;                           /* a pattern must match a function before the program starts */
    uint32_t depth;                        /* zero if unlimited */
    uint64_t shortest_ns;                  /* zero for all calls */
    uint64_t times_ns[DWELL_FILTER_TIMES]; /* the shortest durations in calls of certain functions */
    uint32_t time_count;
    struct keep_watches keep;
    bool hidden_out;                /* probes of functions that are hidden whatever calls them go out of the code */
    bool os_calls;                  /* patterns may match functions of libc that are recorded as calls of the OS */
    struct earlier_levels *earlier; /* levels that patterns can change; NULL if none */
    struct planned_calls *calls;    /* calls of functions of libraries that patterns may match, too; may be NULL */
    struct function_set *leveled;   /* gets the functions to which patterns have given a level; may be NULL */
};

bool filters_any(const struct filters *f);

/* Whether modules have functions that must be found. */
bool filters_have_functions(const struct filters *f);

/* Whether a call can be recorded only when it has ended, as mode profile cannot do. */
bool filters_wait(const struct filters *f);

/* Whether calls are selected by their targets. */
static inline bool filters_have_targets(const struct filters *f)
{
    return f->actions & DWELL_FILTER_TARGET;
}

/* Whether it depends on a call's duration or on the calls around it whether it is recorded. Counted calls are not
 * filtered in this way, except in functions that are ignored. */
static inline bool filters_select_calls(const struct filters *f)
{
    const uint32_t by_calls = DWELL_FILTER_ROOT | DWELL_FILTER_TARGET | DWELL_FILTER_START | DWELL_FILTER_STOP |
                              DWELL_FILTER_DEPTH | DWELL_FILTER_TIME;
    return f->depth || f->shortest_ns || f->actions & by_calls;
}

/* Whether a function is to have another level than timed. */
bool filters_have_levels(const struct filters *f);

/* Whether that is all they say. */
bool filters_have_only_levels(const struct filters *f);

/* A module that a recorded process has loaded. */
struct filter_loaded {
    char *path;
    char *file; /* where it can be read now; NULL if nowhere */
    uint8_t build_id[64];
    size_t build_id_length;
};

/* Matches the patterns with the program and the libraries that it loads at its start. If they are strict, it is an
 * error that a pattern matches no function. */
bool filters_find(struct filters *f, const char *program, struct error *error);

/* Matches the patterns with another module. Returns false if it was matched before. */
bool filters_judge_loaded(struct filters *f, const struct filter_loaded *loaded);

/* Writes the matches that are not in the session yet. Returns false if there is no room. */
bool filters_write(struct filters *f, const struct session *session, int fd);

/* The number of functions that patterns have matched. */
size_t filters_function_count(const struct filters *f);

/* A chunk that gives functions a level. */
struct filters_levels {
    uint32_t level;      /* enum dwell_level_of_probes */
    uint64_t link;       /* offset of another such chunk, or zero */
    const char *pattern; /* for modules that are loaded later; NULL for none */
};

/* Writes the matched functions of all modules as such a chunk. Returns its offset, or zero if there is no room. */
uint64_t filters_write_levels(const struct filters *f, const struct filters_levels *levels,
                              const struct session *session, int fd);

/* Prints a warning for each pattern that has matched no function. */
void filters_warn(const struct filters *f);

void filters_free(struct filters *f);

#endif
