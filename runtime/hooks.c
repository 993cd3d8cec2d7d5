/*
 * The probes: what the compiler calls at every enter and exit of an instrumented function. They handle
 * the usual event of a thread that is set up, and leave all else to slow.c. docs/runtime.md says why each
 * step is there; bench/ measures what they cost.
 *
 * The order of the steps is what makes a probe safe against signal handlers on its own thread that run
 * probes themselves: nothing but the scratch entry above the shadow stack is written before the claim,
 * which fails if any event was recorded since the state was loaded; and all that is written behind the
 * claim is either private to this event or may be older than what a handler has left.
 */
#include "call.h"
#include "clock.h"
#include "filter.h"
#include "pause.h"
#include "probe.h"
#include "probe_steps.h"
#include "record.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"
#include "tree.h"

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* The stack pointer at the probe's first instruction: the same for all probes of one frame, but for
 * alloca (lower at exit) and probes reached by a jump, when the frame is gone already (higher). */
#define PROBE_STACK_POINTER ((uint64_t)__builtin_dwarf_cfa() - sizeof(void *))
#define PROBE_RETURN ((uint64_t)__builtin_return_address(0))

/* Behind the limit. Out of line, so that the usual event needs no more registers than it has. */
static __attribute__((noinline)) void other_enter(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                  uint64_t frame_return, uint64_t probe_return)
{
    const uint32_t gate = t->wiped->gate;
    const uint64_t frame_id = frame_id_of(frame_return, probe_return);
    if (LIKELY(gate == GATE_QUIET)) { /* the one that should cost the least */
        quiet_enter(t, function, stack_pointer, frame_id);
        return;
    }
    switch (gate) {
    case GATE_TREE:
        tree_enter(t, function, stack_pointer, frame_id);
        break;
    case GATE_FILTER:
        filter_enter(t, function, stack_pointer, frame_return, probe_return);
        break;
    case GATE_SITES:
        sites_enter(t, function, stack_pointer, frame_return, probe_return);
        break;
    case GATE_TREE_SITES:
        tree_enter_from(t, function, stack_pointer, frame_return, probe_return);
        break;
    case GATE_QUIET_SITES:
        quiet_enter_from(t, function, stack_pointer, frame_return, probe_return);
        break;
    default:
        slow_enter_from(function, stack_pointer, frame_return, probe_return);
    }
}

static __attribute__((noinline)) void other_exit(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                 bool tail_call)
{
    const uint32_t gate = t->wiped->gate;
    if (LIKELY(gate == GATE_QUIET)) {
        quiet_exit(t, function, stack_pointer, tail_call);
        return;
    }
    switch (gate) {
    case GATE_TREE:
    case GATE_TREE_SITES:
        tree_exit(t, function, stack_pointer, tail_call);
        break;
    case GATE_FILTER:
        filter_exit(t, function, stack_pointer, tail_call);
        break;
    case GATE_SITES:
        sites_exit(t, function, stack_pointer, tail_call);
        break;
    case GATE_QUIET_SITES:
        quiet_exit(t, function, stack_pointer, tail_call);
        break;
    default:
        slow_exit(function, stack_pointer, tail_call);
    }
}

DWELL_EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
    const uint64_t address = (uint64_t)function;
    const uint64_t stack_pointer = PROBE_STACK_POINTER;
    struct thread *t = thread_self;
    if (UNLIKELY(!t))
        goto first;

    const uint64_t state = thread_state(t);
    char *const base = t->base; /* after the claim it may be another chunk's */
    if (UNLIKELY((uint32_t)state > t->wiped->limit))
        goto other; /* paused, or in another mode; or else: not set up, chunk full, stopped, forked */
    const uint64_t frame_id = frame_id_of((uint64_t)call_site, PROBE_RETURN);
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        goto slow; /* on another stack */
    const uint64_t now = clock_counter();
    if (UNLIKELY(*t->os.word != t->os.seen))
        goto slow; /* the OS worked */
    if (UNLIKELY(now - t->last > DWELL_TIME_MASK))
        goto slow; /* more time has passed than the word can tell */
    const uint32_t upper = (uint32_t)(address >> 32);
    const unsigned half = upper != t->upper[0];
    if (UNLIKELY(upper != t->upper[half]))
        goto slow;
    struct call *call = thread_call(t, state);
    if (UNLIKELY(call_was_left(&call[-1], stack_pointer, frame_id)))
        goto slow;

    call->function = address;
    call->stack_pointer = stack_pointer;
    call->enter_time = now;
    call->frame_id = frame_id;
    if (UNLIKELY(!thread_claim(t, state, state + one_call + ENTER_BYTES)))
        goto slow; /* a signal handler recorded events in between */

    store_enter(base + (uint32_t)state, half, now, address);
    t->last = now;
    return;
first:
    slow_enter_from(address, stack_pointer, (uint64_t)call_site, PROBE_RETURN);
    return;
other:
    other_enter(t, address, stack_pointer, (uint64_t)call_site, PROBE_RETURN);
    return;
slow:
    slow_enter(address, stack_pointer, frame_id);
}

DWELL_EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
    const uint64_t address = (uint64_t)function;
    const uint64_t stack_pointer = PROBE_STACK_POINTER;
    /* A probe reached by a jump at the function's very end returns to the function's caller. */
    const bool tail_call = __builtin_return_address(0) == call_site;
    struct thread *t = thread_self;
    if (UNLIKELY(!t))
        goto slow;

    const uint64_t state = thread_state(t);
    char *const base = t->base; /* after the claim it may be another chunk's */
    if (UNLIKELY((uint32_t)state > t->wiped->limit))
        goto other;
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        goto slow;
    const uint64_t now = clock_counter();
    if (UNLIKELY(*t->os.word != t->os.seen))
        goto slow;
    if (UNLIKELY(now - t->last > DWELL_TIME_MASK))
        goto slow;
    const struct call *call = thread_call(t, state) - 1;
    if (UNLIKELY(!call_exits(call, address, stack_pointer, tail_call)))
        goto slow;
    if (UNLIKELY(!record_exit(t, state, base, now)))
        goto slow;
    return;
other:
    other_exit(t, address, stack_pointer, tail_call);
    return;
slow:
    slow_exit(address, stack_pointer, tail_call);
}

void probe_enter(void *function, void *call_site) __attribute__((alias("__cyg_profile_func_enter")));
void probe_exit(void *function, void *call_site) __attribute__((alias("__cyg_profile_func_exit")));

/* Marks what this is linked into, so that `dwell record` does not load the runtime a second time. */
__asm__(".pushsection .note.dwell, \"a\", %note\n"
        ".balign 4\n"
        ".long 6, 4, 1\n"
        ".asciz \"dwell\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");
