/*
 * What the loops over a chunk's events share that find single calls: the open calls, and their paths. There are two
 * loops. call_scan_times.c finds all times of calls. call_scan_elapsed.c finds only elapsed inclusive times, in about
 * half the time.
 */
#ifndef DWELL_PROFILE_CALL_SCANNER_H
#define DWELL_PROFILE_CALL_SCANNER_H

#include <pthread.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/wide.h"
#include "profile/call_parts.h"
#include "profile/call_scan.h"
#include "profile/generations.h"
#include "profile/noted_calls.h"
#include "trace/chunk_window.h"
#include "trace/stack.h"

enum { /* of a path and its calls */
       SCANNED_WANTED = 1,
       SCANNED_HELD = 2,       /* it has no time but that off the CPU */
       SCANNED_UNDER_HELD = 4, /* its caller is held */
       SCANNED_IDLE = 8,       /* it has no application time */
       SCANNED_FOUND = 16,     /* the call was found open: it was not entered in this chunk */
       SCANNED_RARE = 32,      /* the call has an entry in the list `rare` */
       SCANNED_DIVIDED = 64,   /* parts of its time are not its own, see path_probes.h */
};

/* A path of the table of path_probes.h. */
struct scanned_path {
    uint32_t number; /* of its function in calls */
    uint32_t caller; /* number of the caller's function */
    bool within;     /* a function of the selection, or within one */
};

/* What is subtracted from the calls of many paths: as in struct path_probes, or zero if the path is held. */
struct scanned_cost {
    uint64_t call, callee;
};

/* Flags, and above them the number of a path's cost. */
typedef uint32_t scanned_kind;

/* The rest of what the loops need of a path, in few bytes, so that it stays in the cache. */
struct scanned_step {
    uint64_t lost; /* of a call outside of flagged intervals, in 2^64ths of its time; only for elapsed times */
    scanned_kind kind;
};

enum { SCANNED_FLAG_BITS = 8, MAX_SCANNED_COSTS = 1 << (32 - SCANNED_FLAG_BITS) };

/* What the workers share. */
struct call_scan {
    const struct calls_source *source;
    struct path_probes_table probes;
    struct scanned_path *paths;
    struct scanned_step *steps; /* by path */
    struct scanned_cost *costs; /* different ones */
    size_t cost_count;
    struct chunk_parts *parts; /* by chunk */
    uint32_t *order;           /* of reading the chunks: a worker reads those of a thread in the order of time */
    size_t next_chunk;
    bool ranges;                       /* only calls that ended in a range of time are wanted */
    bool seeks_switches, has_switches; /* only changes of the stack are looked for; there is one */
    call_scan_taker *take;
    call_amounts_taker *take_amounts; /* if set, only elapsed inclusive times are wanted */
};

/* An open call. Its elapsed inclusive time is the time that passes on the scanner's clock. */
struct scanned_call {
    uint64_t clock;        /* when its time in this chunk began, on the scanner's clock */
    uint64_t base;         /* the same in ticks; pauses move it */
    uint64_t called;       /* ticks of the calls that it made, if it is held */
    uint64_t called_times; /* their elapsed inclusive times, in 1/256 ticks */
    uint64_t enter_time, begin;
    uint64_t function; /* address */
    uint32_t path;
    scanned_kind kind; /* that of its path, with flags of its own */
};

/* What few calls have, in 1/256 ticks. */
struct scanned_rare {
    uint64_t less, called_less; /* by which application times are less than elapsed times: exclusive, and of callees */
    uint64_t blocked;           /* inclusive */
    uint64_t off_cpu, called_off_cpu; /* exclusive, and of callees */
};

/* What ended calls took of their caller that is open, and how many they are. */
struct noted_sum {
    uint64_t less;         /* what is subtracted from it, in 1/256 ticks */
    uint64_t called_times; /* their elapsed inclusive times, and those of its flagged intervals, in 1/256 ticks */
    uint64_t called;       /* their ticks */
    uint64_t callees;
};

enum { SCANNED_AMOUNTS = 512 };

struct call_scanner {
    struct call_scan *scan;
    void *context;
    struct number_index *children; /* (address and generation, path) -> path */
    size_t most, first_found;      /* children; and those that were found in the first chunk of their path */
    struct chunk_window window;
    struct scanned_call *stack;            /* stack[0] is the thread's root */
    const struct scanned_call *last_place; /* in the stack */
    struct scanned_rare *rare;             /* by depth */
    size_t depth, room;
    uint64_t lost; /* 1/256 ticks by which the scanner's clock is slow: what no call has, and what is subtracted */
    const struct trace_chunk *chunk;
    const struct trace_process *process;
    struct generations generations;
    uint64_t index; /* of the chunk */
    uint64_t delay;
    struct call_part *ended; /* calls that were open at the beginning, innermost first */
    size_t ended_count, ended_room, inherited;
    struct call_amount amounts[SCANNED_AMOUNTS]; /* for take_amounts */
    size_t amount_count;
    struct noted_sum *sums; /* by depth: of notes */
    size_t sum_room;
    pthread_t thread;
};

/* Adds a path to the children, and returns it. If this is the path's first call, it gets the path's rest. */
uint32_t call_scanner_add_path(struct call_scanner *s, uint32_t parent, uint64_t address, uint64_t time);

/* What a path's first call gets, if this is its first chunk and it has not been asked yet. */
uint64_t call_scanner_take_rest(const struct call_scanner *s, uint32_t path);

/* Whether the selection has ranges of time and does not hold the moment. */
static inline bool call_scanner_is_outside(const struct call_scanner *s, uint64_t now)
{
    return __builtin_expect(s->scan->ranges, 0) &&
           !selection_holds_on(s->scan->source->selection, s->chunk->thread, now);
}

/* Keeps the part of a call that ended and was not entered in this chunk. */
void call_scanner_keep_part(struct call_scanner *s, struct call_part part, uint64_t now, bool ended);

void call_scanner_make_room(struct call_scanner *s);

/* Passes on the amounts that have been found. */
void call_scanner_flush(struct call_scanner *s);

/* Passes on a call's elapsed inclusive time, when there are many. */
static inline void call_scanner_take_amount(struct call_scanner *s, uint32_t path, uint64_t time, uint64_t now)
{
    if (call_scanner_is_outside(s, now))
        return;
    if (__builtin_expect(s->amount_count == SCANNED_AMOUNTS, 0))
        call_scanner_flush(s);
    s->amounts[s->amount_count++] = (struct call_amount){ time, now, path, 0 };
}

/* What changes with each event. A loop over events has it in registers, and stores it before it calls a function. */
struct call_scan_loop {
    struct call_scanner *s;
    struct scanned_call *top; /* of the stack; the root if no call is open */
    uint64_t lost;
};

static inline struct call_scan_loop call_scan_loop_of(struct call_scanner *s)
{
    return (struct call_scan_loop){ s, s->stack + s->depth - 1, s->lost };
}

static inline void call_scan_loop_store(const struct call_scan_loop *l)
{
    l->s->depth = (size_t)(l->top - l->s->stack) + 1;
    l->s->lost = l->lost;
}

static inline void call_scan_loop_load(struct call_scan_loop *l)
{
    *l = call_scan_loop_of(l->s);
}

/* The scanner's clock. It shows the time in 1/256 ticks. It stands still while the time is not that of any call. */
static inline uint64_t call_scanner_clock(const struct call_scanner *s, uint64_t now)
{
    return now * DWELL_PROBE_FRACTION - s->lost;
}

STACK_INLINE const struct index_slot *call_scan_loop_find(const struct call_scan_loop *l, uint32_t parent,
                                                          uint64_t address)
{
    return index_find(l->s->children, generations_address(&l->s->generations, address), parent);
}

/* The path of the call on top of the stack, which may be new. */
STACK_INLINE uint32_t call_scan_loop_path(struct call_scan_loop *l, uint32_t parent, uint64_t address, uint64_t time)
{
    const struct index_slot *slot = call_scan_loop_find(l, parent, address);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    call_scan_loop_store(l);
    const uint32_t path = call_scanner_add_path(l->s, parent, address, time);
    call_scan_loop_load(l);
    return path;
}

/* Puts a call on the stack. In an entered call, its probes are subtracted from it and from its caller. */
STACK_INLINE struct scanned_call *call_scan_loop_push(struct call_scan_loop *l, uint64_t address, uint64_t enter_time,
                                                      uint64_t now, bool entered)
{
    const struct call_scan *scan = l->s->scan;
    if (__builtin_expect(l->top == l->s->last_place, 0)) {
        call_scan_loop_store(l);
        call_scanner_make_room(l->s);
        call_scan_loop_load(l);
    }
    const struct scanned_call *caller = l->top;
    struct scanned_call *call = ++l->top;
    if (entered)
        l->lost += scan->costs[caller->kind >> SCANNED_FLAG_BITS].callee;
    call->clock = now * DWELL_PROBE_FRACTION - l->lost;
    call->base = now;
    call->called = 0;
    call->enter_time = call->begin = enter_time;
    call->function = address;
    call->path = call_scan_loop_path(l, caller->path, address, enter_time);
    const scanned_kind kind = scan->steps[call->path].kind;
    call->kind = kind | (entered ? 0 : SCANNED_FOUND) | (caller->kind & SCANNED_HELD ? SCANNED_UNDER_HELD : 0);
    if (entered)
        l->lost += scan->costs[kind >> SCANNED_FLAG_BITS].call;
    return call;
}

/* The elapsed inclusive time of a call that is or was on top of the stack, in 1/256 ticks. A held call has the times of
 * the calls below it, and its OS events. */
static inline uint64_t call_scanner_end(struct call_scanner *s, struct scanned_call *call, uint64_t now)
{
    if (__builtin_expect(call->kind & (SCANNED_HELD | SCANNED_UNDER_HELD), 0)) {
        const uint64_t ticks = now - call->base;
        if (call->kind & SCANNED_UNDER_HELD)
            call[-1].called += ticks;
        if (call->kind & SCANNED_HELD)
            s->lost += (ticks - call->called) * DWELL_PROBE_FRACTION;
    }
    return call_scanner_clock(s, now) - call->clock;
}

/* The amounts of an interval with OS events, of the innermost call. */
static inline struct call_amounts call_scanner_add_os(struct call_scanner *s, const struct interval_parts *parts,
                                                      uint64_t length)
{
    const struct path_probes *probes = &s->scan->probes.paths[s->stack[s->depth - 1].path];
    struct call_amounts own = { .elapsed = 0 };
    call_amounts_add_interval(&own, probes, parts, length);
    s->lost += (probes->held ? 0 : length * DWELL_PROBE_FRACTION) - own.elapsed;
    return own;
}

/* What samples and counting took of a call, of its time outside of flagged intervals. It is rounded as
 * call_amounts_part does it. Calls wait for those before them to know what these lost, and a product of numbers is
 * there sooner than one of doubles. */
static inline uint64_t call_scan_lost(const struct call_scan *scan, uint32_t path, uint64_t time, uint64_t end)
{
    const uint64_t part = scan->steps[path].lost;
    const uint128 lost = (uint128)time * part + call_amounts_spread(end);
    return (uint64_t)(lost >> 64) - (part & -(time >> 63)); /* the time may be below zero */
}

/* A part of a call, without its amounts. */
static inline struct call_part call_scanner_part(const struct scanned_call *call)
{
    return (struct call_part){
        .function = call->function,
        .enter_time = call->kind & SCANNED_FOUND ? call->begin : call->enter_time,
        .begin = call->begin,
        .path = call->path,
        .entered = !(call->kind & SCANNED_FOUND),
    };
}

/* ---- actions on events that both loops have ---- */

static inline size_t call_scanner_depth(const void *to)
{
    const struct call_scan_loop *l = to;
    return (size_t)(l->top - l->s->stack);
}

static inline void call_scanner_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct call_scan_loop *l = to;
    for (struct scanned_call *call = l->s->stack + 1; call <= l->top; call++)
        call->base += d->time - begin;
    l->lost += (d->time - begin) * DWELL_PROBE_FRACTION;
}

static inline void call_scanner_delay(void *to, uint64_t ticks)
{
    const struct call_scan_loop *l = to;
    for (struct scanned_call *call = l->s->stack + 1; call <= l->top; call++)
        call->enter_time += ticks;
    l->s->delay += ticks;
}

static inline void call_scanner_find_generation(const struct call_scan_loop *l, uint64_t time)
{
    struct call_scanner *s = l->s;
    if (__builtin_expect(time >= s->generations.next_at, 0))
        generations_find(&s->generations, time);
}

static inline void call_scanner_ignore(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

/* Sessions with several stacks on a thread are not scanned. */
#define CALL_SCANNER_ACTIONS(prefix)                                                                                   \
    {                                                                                                                  \
        .depth = call_scanner_depth, .interval = prefix##_interval, .skip = call_scanner_skip,                         \
        .delay = call_scanner_delay, .enter = prefix##_enter, .exit = prefix##_exit, .leaf = prefix##_leaf,            \
        .left = prefix##_exit, .ended = prefix##_lose, .stray_exit = call_scanner_ignore,                              \
        .set_aside = call_scanner_ignore, .open = prefix##_open, .pause = call_scanner_ignore,                         \
        .resume = call_scanner_ignore, .mark = call_scanner_ignore,                                                    \
    }

/* ---- the two loops ---- */

/* Apply the events that have been read. */
void call_scan_times_events(struct call_scanner *s, struct decoder *d, struct stack_state *state);
void call_scan_elapsed_events(struct call_scanner *s, struct decoder *d, struct stack_state *state);

/* Finds the elapsed times of a chunk's calls in its notes, whose paths these are. */
void call_scan_notes(struct call_scanner *s, const struct noted_chunk *chunk, const uint32_t *paths,
                     struct chunk_parts *parts);

/* The part of the call on top of the stack until `now`, and adds it to its caller. */
struct call_part call_scan_times_part(struct call_scanner *s, struct scanned_call *call, uint64_t now);
struct call_part call_scan_elapsed_part(struct call_scanner *s, struct scanned_call *call, uint64_t now);

#endif
