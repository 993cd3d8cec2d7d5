/*
 * Filters: which functions are recorded.
 */
#ifndef DWELL_FILTER_H
#define DWELL_FILTER_H

#include "call.h"
#include "common.h"
#include "dwell/format.h"
#include "kept.h"
#include "level.h"

#pragma GCC visibility push(hidden)

struct event;
struct thread;

/* What `dwell record` has put into the session. */
struct filter_settings {
    bool only;         /* functions that no filter names are hidden */
    bool starts;       /* some function starts the recording */
    bool roots;        /* only calls of roots, and calls below them, are shown */
    bool depths;       /* some function has a limit of the depth below it */
    bool targets;      /* only calls of targets, and calls that lead to them, are shown */
    bool hidden_out;   /* the probes of functions that are hidden whatever calls them go out of the code */
    bool waits;        /* calls wait until it is known whether they are shown */
    bool waits_partly; /* calls wait, but not all */
    bool histograms;   /* mode profile: of some functions, the durations of calls are counted */
    uint32_t depth;    /* number of shown calls that may be open */
    /* Ticks: shorter calls are not recorded. The first one counts for all calls, the others in calls of certain
     * functions. If there are targets, no duration is long enough. */
    uint64_t shortest[1 + DWELL_FILTER_TIMES];

    /* What the probes of a call take that a filter hides, and of one that is too short: 1/256 ticks. calibrate.c
     * measures it. */
    uint32_t hidden_cost, short_cost;
};

/* In a thread's block. */
struct thread_filter {
    uint32_t ignored_depth;   /* if not zero: paused until the shadow stack is that deep (bytes) again */
    uint32_t left_unrecorded; /* calls left without an exit that the file does not know of yet */

    /* Hidden calls have no records. What the next record has to say of the time since the last one: */
    uint64_t last_seen;     /* ticks: the thread's last event, also of a hidden call */
    uint64_t cost;          /* 1/256 ticks: what hidden calls and the slow path have taken since the thread began */
    uint64_t cost_recorded; /* the part of it that the file has */
    struct kept_events kept;
    struct kept_waiting *waiting; /* what comes after the enters of calls that wait; NULL if it was never needed */
    uint32_t waiting_count;
};

/* A loaded module that the filters name: its load bias, and its number in the filters. */
struct filter_use {
    uint64_t bias;
    uint32_t module;
};

/* Reads the filters of the session `fd`. False if there are none that a probe has to ask: levels are none. */
bool filter_begin(int fd);

/* Whether filter_begin has found filters. */
bool filter_is_on(void);

/* Stores a module's functions that are watched or have another level than timed, at most `room`, and returns their
 * number. */
uint32_t filter_levels_of_module(uint32_t module, uint64_t bias, struct leveled_function *functions, uint32_t room);

/* Reads the filters that the recorder has added. False if that is not possible. */
bool filter_map(int fd);

/* Copies bytes of the session `fd`. False if there are not so many. */
bool filter_copy(int fd, uint64_t offset, void *into, uint32_t size);

/* A copy of the chunk at an offset, as somebody may overwrite the file: NULL if it is not of that kind, has less than
 * `least` bytes, or there is no memory. The caller unmaps it. */
struct dwell_chunk_header *filter_copy_chunk(int fd, uint64_t offset, uint32_t kind, uint32_t least);

/* A copy of the chunk of that kind (filters or levels) at that offset of the session `fd`. NULL if there is none. Its
 * modules and their functions and texts lie in the copy. The caller unmaps chunk.size bytes. */
const struct dwell_filters *filter_read_chunk(int fd, uint64_t offset, uint32_t kind);

/* The module that follows in such a chunk, and the functions of one. */
static inline const struct dwell_filter_module *filter_next_module(const struct dwell_filter_module *m)
{
    return (const struct dwell_filter_module *)((const char *)m + m->size);
}

static inline const struct dwell_filter *filter_functions_of_module(const struct dwell_filter_module *m)
{
    return (const struct dwell_filter *)((const char *)m + m->size) - m->functions;
}

/* The number that the filters give to a module; zero if they do not name it. */
uint32_t filter_module(struct text build_id, struct text path);

/* Makes the table of functions anew for the modules that are loaded. Under the lock of the module map. */
void filter_use_modules(const struct filter_use *uses, uint32_t count);

/* Actions that decide nothing about which calls are shown. */
enum {
    FILTER_HIDES_NOTHING = DWELL_FILTER_OUT | DWELL_FILTER_COUNTED | DWELL_FILTER_KEEP | DWELL_FILTER_HISTOGRAM,
};

extern struct filter_settings filter_settings;

/* Returns the actions that the filters have for a function: bits of DWELL_FILTER_*. Safe at any time. */
uint32_t filter_action(uint64_t function);

/* Whether no call of the function is ever shown, and it has no other action. */
static inline bool filter_hides(uint64_t function)
{
    return (filter_action(function) & ~(uint32_t)FILTER_HIDES_NOTHING) == DWELL_FILTER_SUPPRESS;
}

/* The cost that the next record has to say, in ticks. */
static inline uint64_t filter_cost_ticks(const struct thread_filter *f)
{
    return (f->cost - f->cost_recorded) / DWELL_PROBE_FRACTION;
}

/* The cost so far, in 16 ticks: the low bits. */
static inline uint32_t filter_cost_mark(const struct thread_filter *f)
{
    return (uint32_t)(f->cost / (16 * DWELL_PROBE_FRACTION));
}

/* The part of the cost that the file does not have, up to a mark of the last minutes. */
static inline uint64_t filter_cost_up_to(const struct thread_filter *f, uint32_t mark)
{
    const uint32_t recorded = (uint32_t)(f->cost_recorded / (16 * DWELL_PROBE_FRACTION));
    return mark - recorded <= INT32_MAX ? (uint64_t)(mark - recorded) * 16 : 0;
}

/* Whether the function starts the recording. */
static inline bool filter_starts(uint64_t function)
{
    return filter_settings.starts && filter_action(function) & DWELL_FILTER_START;
}

/* Functions with any other action take the slow path. */
enum { FILTER_FAST = DWELL_FILTER_SUPPRESS | DWELL_FILTER_ROOT | FILTER_HIDES_NOTHING };

static inline uint32_t filter_depth(uint32_t action)
{
    return (action & DWELL_FILTER_DEPTH) >> DWELL_FILTER_DEPTH_SHIFT;
}

static inline uint32_t filter_time(const struct call *caller, uint32_t action)
{
    const uint32_t own = (action & DWELL_FILTER_TIME) >> DWELL_FILTER_TIME_SHIFT;
    return own ? own : caller->time;
}

/* Whether no root is open, and the function is none. `open`: the number of shown calls. */
static inline bool filter_is_outside(uint32_t open, uint32_t action)
{
    return UNLIKELY(filter_settings.roots) && open == 0 && !(action & DWELL_FILTER_ROOT);
}

/* The kind of a call that `caller` makes, if `action` is its function's. */
static inline enum call_kind filter_kind(const struct call *caller, uint32_t action)
{
    if (action & DWELL_FILTER_SUPPRESS || caller->shown >= filter_settings.depth ||
        (caller->limit && caller->shown >= caller->limit) || filter_is_outside(caller->shown, action))
        return CALL_HIDDEN;
    if (action & DWELL_FILTER_TARGET)
        return CALL_SHOWN;
    return filter_settings.shortest[filter_time(caller, action)] ? CALL_WAITING : CALL_SHOWN;
}

/* What the filters need to know of a call. `cost`: filter_cost_mark() at its enter. */
static inline uint64_t filter_of_call(const struct call *caller, uint32_t action, enum call_kind kind, uint32_t cost)
{
    const uint32_t more = caller->shown + (kind != CALL_HIDDEN), depth = filter_depth(action);
    const uint32_t shown = more <= MAX_SHOWN ? more : MAX_SHOWN;
    uint32_t limit = caller->limit;
    if (depth && kind != CALL_HIDDEN) {
        const uint32_t below = shown + depth - 1;
        if ((!limit || below < limit) && below <= MAX_SHOWN)
            limit = below;
    }
    return call_filter(kind, shown, limit, filter_time(caller, action) & DWELL_FILTER_TIMES, cost);
}

/* Switches the recording on or off, if the function that is entered does that. */
void filter_trigger(const struct event *event);

/* Pauses the thread until its shadow stack is `depth` bytes deep again. Signals are held back. */
void filter_ignore(struct thread *t, uint32_t depth, uint64_t now);

#pragma GCC visibility pop

#endif
