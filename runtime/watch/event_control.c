/*
 * Control callbacks of trace events. Each change of a state adds one to `changes` and wakes the thread. That compares
 * each callback's last state with the present one. It calls the callback without any lock.
 *
 * The list is protected by the lock of the classes, and changes in one step, as another thread may be forking. It
 * outlives a fork; the thread does not.
 */
#include "event_control.h"

#include <errno.h>
#include <linux/prctl.h>
#include <pthread.h>

#include "dwell/event.h"
#include "lock.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"
#include "trace_events.h"

enum { STATE_CALLS_RECORDED = 1 << 16 };

static struct dwell_event_control *controls;
static uint32_t changes, returns; /* futexes: of states; of callbacks that have returned */

/* The thread: the process that it belongs to, its id there, and the control whose callback it runs. */
static struct {
    uint32_t pid, tid;
    struct dwell_event_control *running;
} callbacks;

DWELL_EXPORT int dwell_runtime_event_add_control(struct dwell_event_control *control);
DWELL_EXPORT int dwell_runtime_event_remove_control(struct dwell_event_control *control);

void event_control_notify(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&callbacks.pid, __ATOMIC_ACQUIRE) == runtime.process->pid)
        sys_futex_wake(&changes, 1);
}

/* ---- the thread ---- */

/* Zero if the class is disabled, else 1 + its level, with STATE_CALLS_RECORDED. */
static uint64_t event_control_state(const struct dwell_event_class *c)
{
    const uint32_t enabled = __atomic_load_n(&c->enabled, __ATOMIC_RELAXED);
    if (runtime.closed || !enabled)
        return 0;
    return enabled | (runtime.on ? STATE_CALLS_RECORDED : 0);
}

/* Takes the next control whose state has changed. */
static struct dwell_event_control *event_control_next(void)
{
    const uint64_t mask = sys_block_signals();
    uint32_t *lock = &runtime.process->trace_events.lock;
    lock_take(lock);
    struct dwell_event_control *control = controls;
    while (control && control->state == event_control_state(control->event_class))
        control = control->next;
    if (control)
        control->state = event_control_state(control->event_class);
    __atomic_store_n(&callbacks.running, control, __ATOMIC_RELEASE);
    lock_release(lock);
    sys_restore_signals(mask);
    return control;
}

/* The state cannot change meanwhile: only this thread stores it. */
static void event_control_call(const struct dwell_event_control *control)
{
    const uint64_t state = control->state;
    const uint32_t level = (uint32_t)state % STATE_CALLS_RECORDED;
    if (!state)
        control->callback(control->event_class, WMI_DISABLE_EVENTS, 0, 0, control->context);
    else
        control->callback(control->event_class, WMI_ENABLE_EVENTS, (uint8_t)(level - 1),
                          state & STATE_CALLS_RECORDED ? DWELL_EVENT_CALLS_RECORDED : 0, control->context);
}

/* Whether no callback is left. The thread then counts as ended. */
static bool event_control_is_over(void)
{
    const uint64_t mask = sys_block_signals();
    lock_take(&runtime.process->trace_events.lock);
    const bool over = !controls;
    if (over)
        __atomic_store_n(&callbacks.pid, 0, __ATOMIC_RELEASE);
    lock_release(&runtime.process->trace_events.lock);
    sys_restore_signals(mask);
    return over;
}

static void *event_control_run(void *nothing)
{
    SYS2(prctl, PR_SET_NAME, "dwell-control");
    __atomic_store_n(&callbacks.tid, (uint32_t)SYS0(gettid), __ATOMIC_RELEASE);
    for (;;) {
        const uint32_t seen = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
        const struct dwell_event_control *control;
        while ((control = event_control_next())) {
            event_control_call(control);
            __atomic_store_n(&callbacks.running, NULL, __ATOMIC_RELEASE);
            __atomic_fetch_add(&returns, 1, __ATOMIC_SEQ_CST);
            sys_futex_wake(&returns, INT32_MAX);
        }
        if (event_control_is_over() || !sys_futex_wait(&changes, seen, -1))
            break; /* if waiting is refused, no callbacks are better than a thread that never sleeps */
    }
    return nothing;
}

/* Makes the thread if this process has none. */
static bool event_control_start(void)
{
    uint32_t *starting = &runtime.process->trace_events.starting;
    pthread_t thread;
    const uint64_t mask = sys_block_signals(); /* the thread inherits that */
    if (mask == SYS_NOT_BLOCKED)
        return false;
    lock_take(starting);
    bool done = __atomic_load_n(&callbacks.pid, __ATOMIC_ACQUIRE) == runtime.process->pid;
    if (!done) {
        callbacks.running = NULL;
        callbacks.tid = 0;
        __atomic_store_n(&callbacks.pid, runtime.process->pid, __ATOMIC_RELEASE); /* the thread may set it to zero */
        done = pthread_create(&thread, NULL, event_control_run, NULL) == 0;
        if (done)
            pthread_detach(thread);
        else
            __atomic_store_n(&callbacks.pid, 0, __ATOMIC_RELEASE);
    }
    lock_release(starting);
    sys_restore_signals(mask);
    return done;
}

void event_control_registered(void)
{
    if (__atomic_load_n(&controls, __ATOMIC_ACQUIRE))
        event_control_start();
    event_control_notify();
}

/* Removes the first control that is the given one, or that is of the given class. */
static struct dwell_event_control *event_control_unlink(const struct dwell_event_control *control,
                                                        const struct dwell_event_class *c)
{
    uint32_t *lock = &runtime.process->trace_events.lock;
    lock_take(lock);
    struct dwell_event_control **at = &controls;
    while (*at && *at != control && (*at)->event_class != c)
        at = &(*at)->next;
    struct dwell_event_control *found = *at;
    if (found)
        __atomic_store_n(at, found->next, __ATOMIC_RELEASE);
    lock_release(lock);
    return found;
}

/* Waits until its callback has returned. A callback does not wait for itself. */
static void event_control_wait(const struct dwell_event_control *control)
{
    event_control_notify();
    if (__atomic_load_n(&callbacks.pid, __ATOMIC_ACQUIRE) != runtime.process->pid ||
        callbacks.tid == (uint32_t)SYS0(gettid))
        return;
    for (;;) {
        const uint32_t seen = __atomic_load_n(&returns, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&callbacks.running, __ATOMIC_ACQUIRE) != control || !sys_futex_wait(&returns, seen, -1))
            return;
    }
}

void event_control_remove_class(const struct dwell_event_class *c)
{
    for (;;) {
        const uint64_t mask = sys_block_signals();
        const struct dwell_event_control *control = event_control_unlink(NULL, c);
        sys_restore_signals(mask);
        if (!control)
            return;
        event_control_wait(control);
    }
}

static bool event_control_add(struct dwell_event_control *control)
{
    uint32_t *lock = &runtime.process->trace_events.lock;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return false;
    lock_take(lock);
    const struct dwell_event_control *other = controls;
    while (other && other != control)
        other = other->next;
    if (!other) {
        control->state = 0;
        control->next = controls;
        __atomic_store_n(&controls, control, __ATOMIC_RELEASE);
    }
    lock_release(lock);
    sys_restore_signals(mask);
    return true;
}

DWELL_EXPORT int dwell_runtime_event_add_control(struct dwell_event_control *control)
{
    const int error = errno;
    int status = DWELL_OK;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    if (!trace_events_is_registered(control->event_class))
        status = DWELL_EVENT_NO_CLASS;
    else if (!event_control_add(control))
        status = DWELL_FAILED;
    else if (!event_control_start()) {
        dwell_runtime_event_remove_control(control);
        status = DWELL_FAILED;
    }
    event_control_notify();
    errno = error;
    return status;
}

DWELL_EXPORT int dwell_runtime_event_remove_control(struct dwell_event_control *control)
{
    const int error = errno;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return DWELL_FAILED;
    const bool found = event_control_unlink(control, NULL) != NULL;
    sys_restore_signals(mask);
    if (found)
        event_control_wait(control);
    errno = error;
    return found ? DWELL_OK : DWELL_EVENT_NO_CLASS;
}
