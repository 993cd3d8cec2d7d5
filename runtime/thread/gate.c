/* The gate of a thread: which probes handle its next events, and how other threads make it look first. */
#include "gate.h"

#include "probes.h"
#include "process.h"
#include "process_lock.h"
#include "recorder.h"
#include "runtime.h"
#include "session.h"
#include "thread.h"
#include "upward.h"

bool gate_has_to_attend(const struct thread *t)
{
    return __atomic_load_n(&t->control.attend, __ATOMIC_RELAXED) ||
           t->control.seen_changes != __atomic_load_n(&runtime.process->control.changes, __ATOMIC_RELAXED);
}

static uint32_t thread_limit(const struct thread *t)
{
    uint32_t limit = 0;
    if (t->chunks.current && !t->ring.ends_early && !t->pause.active && !t->modules.stale &&
        runtime.clock != DWELL_CLOCK_MONOTONIC) {
        uint32_t depth = (uint32_t)(t->state >> 32);
        uint32_t room = (t->shadow_size - depth) / sizeof(struct call) * ENTER_BYTES;
        limit = t->chunks.end - ENTER_BYTES;
        uint32_t position = (uint32_t)t->state;
        if (position + room - ENTER_BYTES < limit)
            limit = position + room - ENTER_BYTES;
    }
    return limit;
}

static bool thread_has_to_look(const struct thread *t)
{
    const struct process *p = runtime.process;
    return gate_has_to_attend(t) || __atomic_load_n(&t->levels.asked, __ATOMIC_RELAXED) ||
           t->stacks.seen_changes != __atomic_load_n(&p->stacks.changes, __ATOMIC_RELAXED) ||
           (t->tree.head && t->tree.seen_unloads != __atomic_load_n(&p->modules.unloads, __ATOMIC_RELAXED));
}

static enum gate thread_gate(const struct thread *t, uint32_t room)
{
    const struct recorder *r = runtime.recorder;
    if (t->pause.active)
        return t->modules.stale ? GATE_SLOW : r->paused_gates[runtime.call_sites];
    return r->is_ready(t, room) ? r->gates[runtime.call_sites] : GATE_SLOW;
}

/* Another thread that changes something which this one has to look at changes it first, then sets limit and gate to
 * zero. So limit and gate are set before the look. */
void thread_set_limit(struct thread *t)
{
    const uint32_t room = thread_limit(t);
    const enum gate gate = thread_gate(t, room);
    t->chunks.limit = room;
    __atomic_store_n(&t->wiped->limit, gate == GATE_SLOW ? room : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->wiped->gate, gate, __ATOMIC_RELAXED);
    upward.count_calls(t, !t->pause.active);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (thread_has_to_look(t)) {
        upward.divert_calls(t);
        __atomic_store_n(&t->wiped->limit, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->wiped->gate, GATE_SLOW, __ATOMIC_RELAXED);
    }
}

void thread_stop(struct thread *t)
{
    if (!t->stopped && t->chunks.begun == 0 && !t->tree.head)
        __atomic_fetch_add(&runtime.session.header->lost_threads, 1, __ATOMIC_RELAXED);
    t->stopped = 1;
    t->wiped->limit = 0;
    t->wiped->gate = GATE_SLOW;
}

void thread_stop_for(struct thread *t, enum dwell_trouble trouble)
{
    session_trouble(&runtime.session, trouble);
    thread_stop(t);
}

/* ---- changes for all threads ---- */

void gate_call_thread(struct thread *t)
{
    __atomic_store_n(&t->wiped->limit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->wiped->gate, GATE_SLOW, __ATOMIC_RELAXED);
}

void gate_notify(uint32_t *count)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    process_lock();
    for (struct thread *t = runtime.process->threads.live; t; t = t->next)
        gate_call_thread(t);
    process_unlock();
}
