/*
 * The probes that the compiler calls at every enter and exit of an instrumented function. They handle the usual event
 * of a thread that is recorded as a trace. Events that do not pass the thread's limit go to the probes of its gate, all
 * others to the slow path. bench/ measures what they cost.
 */

#include "probe_steps.h"
#include "probes.h"

/* The stack pointer at the probe's first instruction: the same for all probes of one frame, except for
 * alloca (lower at exit) and probes reached by a jump, when the frame is gone already (higher). */
#define PROBE_STACK_POINTER ((uint64_t)__builtin_dwarf_cfa() - sizeof(void *))
#define PROBE_RETURN ((uint64_t)__builtin_return_address(0))

/* Events that do not pass the limit. Out of line, so that the usual event needs no more registers than it has. */
static __attribute__((noinline)) void probe_enter_by_gate(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                          uint64_t frame_return, uint64_t probe_return)
{
    const uint32_t gate = t->wiped->gate;
    if (LIKELY(gate == GATE_QUIET)) { /* the one that should cost the least */
        quiet_enter(t, function, stack_pointer, frame_return, probe_return);
        return;
    }
    switch (gate) {
#define PROBES_ENTER(GATE, name, steps)                                                                                \
    case GATE_##GATE:                                                                                                  \
        name##_enter(t, function, stack_pointer, frame_return, probe_return);                                          \
        break;
        PROBES(PROBES_ENTER)
#undef PROBES_ENTER
    default:
        slow_enter_from(function, stack_pointer, frame_return, probe_return);
    }
}

static __attribute__((noinline)) void probe_exit_by_gate(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                         bool tail_call)
{
    const uint32_t gate = t->wiped->gate;
    if (LIKELY(gate == GATE_QUIET)) {
        quiet_exit(t, function, stack_pointer, tail_call);
        return;
    }
    switch (gate) {
#define PROBES_EXIT(GATE, name, steps)                                                                                 \
    case GATE_##GATE:                                                                                                  \
        name##_exit(t, function, stack_pointer, tail_call);                                                            \
        break;
        PROBES(PROBES_EXIT)
#undef PROBES_EXIT
    default:
        slow_exit(function, stack_pointer, tail_call);
    }
}

static PROBES_EXIT_FLAGGED_DEFINITION(plain, STEPS_TIMED)

    bool probe_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer, const struct object *object)
{
    switch (t->wiped->gate) {
#define PROBES_EXIT_FLAGGED(GATE, name, steps)                                                                         \
    case GATE_##GATE:                                                                                                  \
        return name##_exit_flagged(t, function, stack_pointer, object);
        PROBES(PROBES_EXIT_FLAGGED)
#undef PROBES_EXIT_FLAGGED
    default:
        return plain_exit_flagged(t, function, stack_pointer, object);
    }
}

DWELL_EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
    const uint64_t address = (uint64_t)function;
    const uint64_t stack_pointer = PROBE_STACK_POINTER;
    struct thread *t = thread_self;
    if (UNLIKELY(!t)) {
        slow_enter_from(address, stack_pointer, (uint64_t)call_site, PROBE_RETURN);
        return;
    }
    const struct steps_start start = steps_start(t);
    if (UNLIKELY(!steps_enter_has_room(STEPS_TIMED, t, start.state))) {
        /* Paused or in another mode; or else not set up, the chunk is full, the thread is stopped or forked. */
        probe_enter_by_gate(t, address, stack_pointer, (uint64_t)call_site, PROBE_RETURN);
        return;
    }
    const uint64_t frame_id = frame_id_of((uint64_t)call_site, PROBE_RETURN);
    if (UNLIKELY(!steps_enter(STEPS_TIMED, t, start, address, stack_pointer, frame_id, (struct origin){ 0, 0 })))
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
    const struct steps_start start = steps_start(t);
    if (UNLIKELY(!steps_exit_has_room(STEPS_TIMED, t, start.state))) {
        probe_exit_by_gate(t, address, stack_pointer, tail_call);
        return;
    }
    if (LIKELY(steps_exit(STEPS_TIMED, t, start, address, stack_pointer, tail_call, NULL)))
        return;
slow:
    slow_exit(address, stack_pointer, tail_call);
}

void probe_enter(void *function, void *call_site) __attribute__((alias("__cyg_profile_func_enter")));
void probe_exit(void *function, void *call_site) __attribute__((alias("__cyg_profile_func_exit")));

void probe_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return, uint64_t probe_return)
{
    struct thread *t = thread_self;
    const uint64_t frame_id = frame_id_of(frame_return, probe_return);
    const struct steps_start start = t ? steps_start(t) : (struct steps_start){ 0, NULL, NULL };
    if (UNLIKELY(!t))
        slow_enter_from(function, stack_pointer, frame_return, probe_return);
    else if (UNLIKELY(!steps_enter_has_room(STEPS_TIMED, t, start.state)))
        probe_enter_by_gate(t, function, stack_pointer, frame_return, probe_return);
    else if (UNLIKELY(!steps_enter(STEPS_TIMED, t, start, function, stack_pointer, frame_id, (struct origin){ 0, 0 })))
        slow_enter(function, stack_pointer, frame_id);
}

void probe_enter_at(uint64_t function, uint64_t stack_pointer, uint64_t frame_return)
{
    struct thread *t = thread_self;
    const uint64_t frame_id = frame_id_of(frame_return, PROBE_RETURN);
    const struct steps_start start = steps_start(t);
    if (UNLIKELY(!steps_enter_has_room(STEPS_TIMED, t, start.state)))
        probe_enter_by_gate(t, function, stack_pointer, frame_return, PROBE_RETURN);
    else if (UNLIKELY(!steps_enter(STEPS_TIMED, t, start, function, stack_pointer, frame_id, (struct origin){ 0, 0 })))
        slow_enter(function, stack_pointer, frame_id);
}

void probe_exit_at(uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    struct thread *t = thread_self;
    const struct steps_start start = t ? steps_start(t) : (struct steps_start){ 0, NULL, NULL };
    if (UNLIKELY(!t))
        slow_exit(function, stack_pointer, tail_call);
    else if (UNLIKELY(!steps_exit_has_room(STEPS_TIMED, t, start.state)))
        probe_exit_by_gate(t, function, stack_pointer, tail_call);
    else if (UNLIKELY(!steps_exit(STEPS_TIMED, t, start, function, stack_pointer, tail_call, NULL)))
        slow_exit(function, stack_pointer, tail_call);
}

/* Marks what this is linked into, so that `dwell record` does not load the runtime a second time. */
__asm__(".pushsection .note.dwell, \"a\", %note\n"
        ".balign 4\n"
        ".long 6, 4, 1\n"
        ".asciz \"dwell\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");
