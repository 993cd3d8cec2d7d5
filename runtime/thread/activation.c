/*
 * Threads follow when the recording is switched on and off. There are three scopes: the session (in the file's header),
 * the process and the thread. The state of the first two is kept with its history, so that a thread which slept through
 * several changes records each of them at its time. A thread follows at its next probe. A change is counted first, then
 * the threads' limits are set to zero. A thread that sets its limit compares the count after that.
 */
#include "activation.h"

#include "clock.h"
#include "gate.h"
#include "pause.h"
#include "process.h"
#include "process_lock.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

bool activation_is_on(const struct activation *s)
{
    return !s->stopped && s->suspended <= 0;
}

static void activation_obey(struct thread *t, bool on, uint64_t time)
{
    on = on && !t->filter.ignored_depth;
    if (!on && !t->pause.active)
        pause_begin(t, time);
    else if (on && t->pause.active)
        pause_end(t, time);
}

static bool activation_next_change(struct thread *t, struct control_change *change)
{
    struct process *p = runtime.process;
    process_lock();
    const bool any = t->control.seen_changes != p->control.changes;
    if (p->control.changes - t->control.seen_changes > CHANGES_KEPT)
        t->control.seen_changes = p->control.changes - CHANGES_KEPT;
    if (any)
        *change = p->control.change[t->control.seen_changes++ % CHANGES_KEPT];
    process_unlock();
    return any;
}

void activation_attend(struct thread *t)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        t->control.seen_changes = runtime.process->control.changes;
        t->control.attend = 0;
        return;
    }
    struct control_change change;
    while (activation_next_change(t, &change))
        activation_obey(t, change.on && activation_is_on(&t->control.activation), change.time);
    __atomic_store_n(&t->control.attend, 0, __ATOMIC_RELAXED);
    activation_obey(t, runtime.on && activation_is_on(&t->control.activation), clock_now(runtime.clock));
    thread_set_limit(t);
    sys_restore_signals(mask);
}

void activation_reconsider(struct thread *t)
{
    t->filter.ignored_depth = 0;
    activation_obey(t, runtime.on && activation_is_on(&t->control.activation), clock_now(runtime.clock));
    thread_set_limit(t);
}

void activation_begin_thread(struct thread *t, bool forked)
{
    t->control.seen_changes = __atomic_load_n(&runtime.process->control.changes, __ATOMIC_ACQUIRE);
    if (!forked) {
        t->control.activation = (struct activation){ 0, 0 };
        t->pause.active = 0;
    }
    activation_obey(t, runtime.on && activation_is_on(&t->control.activation), t->last);
    thread_set_limit(t);
}
