/* An entry of the shadow stack: one open call of the thread, and the values that distinguish it from others. */
#ifndef DWELL_CALL_H
#define DWELL_CALL_H

#include "common.h"
#include "dwell/format.h"

/*
 * `stack_pointer` is that of the enter probe at its first instruction. `frame_id` distinguishes calls that have the
 * same stack pointer: its upper half holds the low bits of the address that the frame returns to, the same for a
 * function and all functions that are inlined in it. Its lower half holds the low bits of the address that the probe
 * returns to.
 */
struct call {
    uint64_t function;
    uint64_t stack_pointer;
    uint64_t enter_time; /* ticks; not set while the thread is paused */
    uint64_t frame_id;   /* frame_id_of() */
    uint64_t call_site;  /* call_site_of() of sites.h, or zero if call sites are not recorded */
    union {
        struct dwell_tree_node *node; /* mode profile: a hidden call has its caller's. Not set while paused. */
        struct {                      /* other modes; zeros, so CALL_SHOWN, where there are no filters */
            uint32_t kind : 2;        /* enum call_kind */
            uint32_t shown : 13;      /* number of calls up to this one that are not hidden, at most MAX_SHOWN */
            uint32_t limit : 13;      /* below it, calls with so many are hidden; zero: no limit */
            uint32_t time : 3;        /* below it, filter_settings.shortest[time] counts */
            uint32_t cost;            /* a call that waits: filter_cost_mark() at its enter */
        };
        uint64_t filter; /* the same, to be stored at once: call_filter() */
    };
};

enum { MAX_SHOWN = (1 << 13) - 1 };

enum call_kind {
    CALL_SHOWN,   /* the file has its enter */
    CALL_HIDDEN,  /* a filter hides it */
    CALL_WAITING, /* its enter is written when the call has lasted long enough */
    /* The same in a forked child, for a call of the parent, which writes the enter. Here the call is found open. */
    CALL_INHERITED,
};

static ALWAYS_INLINE uint64_t call_filter(enum call_kind kind, uint32_t shown, uint32_t limit, uint32_t time,
                                          uint32_t cost)
{
    return kind | shown << 2 | limit << 15 | time << 28 | (uint64_t)cost << 32;
}

static inline bool call_waits(const struct call *call)
{
    return call->kind == CALL_WAITING || call->kind == CALL_INHERITED;
}

/* In a thread's state: one entry of the shadow stack. */
static const uint64_t one_call = (uint64_t)sizeof(struct call) << 32;

/* From where a call is made: the return addresses of the function's frame and of its enter probe. */
struct origin {
    uint64_t frame_return, probe_return;
};

static inline uint64_t frame_id_of(uint64_t frame_return, uint64_t probe_return)
{
    return frame_return << 32 | (uint32_t)probe_return;
}

/*
 * Whether the innermost open call was left without its exit, as an enter shows: the machine's stack has been cut back
 * above its frame, another frame stands at its stack pointer, or its own probe comes once more in the same frame.
 */
static inline bool call_was_left(const struct call *call, uint64_t stack_pointer, uint64_t frame_id)
{
    if (__builtin_expect(stack_pointer != call->stack_pointer, 1))
        return stack_pointer > call->stack_pointer;
    const uint64_t difference = call->frame_id ^ frame_id;
    return difference >> 32 || !difference;
}

/* Whether an exit is that of `top`, the innermost open call. If not, `top` is an entry of a frame that was left. */
static ALWAYS_INLINE bool call_exits(const struct call *top, uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    if (UNLIKELY(top->function != function))
        return false;
    if (stack_pointer > top->stack_pointer && UNLIKELY(!tail_call || stack_pointer > top[-1].stack_pointer))
        return false;
    return true;
}

#endif
