/*
 * Switching the recording on and off, from the program and from outside.
 *
 * There are three scopes: the session (in the file's header), the process and the thread. activation.c says how threads
 * follow.
 */
#include "dwell/dwell.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "activation.h"
#include "clock.h"
#include "control.h"
#include "environment.h"
#include "event_control.h"
#include "extensions.h"
#include "filter.h"
#include "gate.h"
#include "helper.h"
#include "levels/call_stubs.h"
#include "levels/level_command.h"
#include "levels/level_session.h"
#include "levels/levels.h"
#include "metadata_records.h"
#include "process.h"
#include "process_lock.h"
#include "recorder.h"
#include "runtime.h"
#include "session.h"
#include "snapshot.h"
#include "sys.h"
#include "thread.h"
#include "trace_events.h"

static bool control_wants_on(void)
{
    const struct dwell_file_header *h = runtime.session.header;
    const struct activation global = { __atomic_load_n(&h->global_stopped, __ATOMIC_RELAXED),
                                       __atomic_load_n(&h->global_suspended, __ATOMIC_RELAXED) };
    return !runtime.closed && activation_is_on(&runtime.activation) && activation_is_on(&global);
}

/* Takes the process' lock when the probes are back in the code, if recording is to be on. `outside`: the pause may
 * last, so the probes may go out of the code. Returns whether it is to be on. */
static bool control_lock_to_switch(bool outside)
{
    for (;;) {
        if (control_wants_on())
            levels_resume();
        process_lock();
        const bool on = control_wants_on();
        if (!on && outside)
            levels_may_pause();
        if (!on || levels_are_resumed())
            return on;
        process_unlock();
    }
}

/* Signals are held back. */
static void control_look(struct process *p, bool outside)
{
    const bool on = control_lock_to_switch(outside);
    if (on != runtime.on) {
        runtime.on = on;
        p->control.change[p->control.changes % CHANGES_KEPT] = (struct control_change){ clock_now(runtime.clock), on };
        __atomic_store_n(&p->control.changes, p->control.changes + 1, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        for (struct thread *t = p->threads.live; t; t = t->next) {
            gate_call_thread(t);
            counts_divert(t);
        }
        event_control_notify();
    }
    process_unlock();
}

enum action { START, STOP, PAUSE, RESUME };

static void control_act(struct activation *s, enum action action)
{
    switch (action) {
    case START:
        s->stopped = 0;
        break;
    case STOP:
        s->stopped = 1;
        break;
    case PAUSE:
        s->suspended++;
        break;
    case RESUME:
        s->suspended--;
        break;
    }
}

void control_trigger(bool on)
{
    if (runtime.closed || on == !runtime.activation.stopped)
        return;
    uint64_t mask = sys_block_signals();
    runtime.activation.stopped = !on;
    control_look(runtime.process, false);
    sys_restore_signals(mask);
}

/* ---- from outside ---- */

/* Makes the process' control chunk, and puts it at the head of the session's list. */
void control_begin_process(int fd)
{
    struct process *p = runtime.process;
    struct dwell_file_header *h = runtime.session.header;
    runtime.on = !runtime.closed && activation_is_on(&runtime.activation) &&
                 activation_is_on(&(struct activation){ h->global_stopped, h->global_suspended });
    p->helper.work = &p->helper.own_work;
    const uint64_t offset = session_claim(&runtime.session, fd, DWELL_UNIT);
    struct dwell_control *control = offset ? session_map(&runtime.session, fd, offset, DWELL_UNIT) : NULL;
    if (!control)
        return;
    control->pid = p->pid;
    control->chunk.size = DWELL_UNIT;
    control->chunk.process = p->serial;
    control->chunk.magic = DWELL_CHUNK_MAGIC;
    __atomic_store_n(&control->chunk.kind, DWELL_CHUNK_CONTROL, __ATOMIC_RELEASE);
    control->next = __atomic_load_n(&h->first_control, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&h->first_control, &control->next, offset, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    p->control.chunk = control;
    level_command_begin_process();
    level_session_begin_process();
    p->helper.work = &control->work;
    sys_futex_wake_shared((uint32_t *)&h->first_control); /* the recorder watches the process from now on */
}

static int control_command(struct process *p, uint32_t what, int fd)
{
    switch (what) {
    case DWELL_COMMAND_PAUSE:
        runtime.activation.stopped = 1;
        return 0;
    case DWELL_COMMAND_RESUME:
        runtime.activation = (struct activation){ 0, 0 };
        return runtime.closed ? -EPERM : 0;
    case DWELL_COMMAND_STOP:
        runtime.closed = true;
        return 0;
    case DWELL_COMMAND_LOOK:
        return 0;
    case DWELL_COMMAND_DUMP:
        p->control.chunk->text[sizeof p->control.chunk->text - 1] = '\0';
        return snapshot_write(fd, p->control.chunk->text);
    case DWELL_COMMAND_EVENT:
        p->control.chunk->text[sizeof p->control.chunk->text - 1] = '\0';
        return trace_events_enable(p->control.chunk->text);
    case DWELL_COMMAND_LEVEL:
        p->control.chunk->text[sizeof p->control.chunk->text - 1] = '\0';
        return runtime.closed ? -EPERM : level_command(p->control.chunk->text, fd, &p->control.chunk->stay_timed);
    case DWELL_COMMAND_KEEP:
        p->control.chunk->text[sizeof p->control.chunk->text - 1] = '\0';
        return runtime.closed ? -EPERM : level_command_watch(p->control.chunk->text, fd);
    case DWELL_COMMAND_VALUES:
        p->control.chunk->text[sizeof p->control.chunk->text - 1] = '\0';
        return runtime.closed ? -EPERM : level_command_values(p->control.chunk->text, fd);
    default:
        return -ENOSYS;
    }
}

/* Copies the session to PATH.dump, where PATH is the session. */
static void control_dump(int fd)
{
    char path[sizeof runtime.path + sizeof ".dump"];
    memcpy(path, runtime.path, strlen(runtime.path));
    strcpy(path + strlen(runtime.path), ".dump");
    snapshot_write(fd, path);
}

static void control_on_signal(int number)
{
    (void)number;
    if (!runtime.process)
        return;
    __atomic_store_n(&runtime.process->control.dump_wanted, 1, __ATOMIC_RELEASE);
    if (runtime.process->helper.tid)
        helper_wake();
}

/* DWELL_DUMP_ON is the number of a signal that the program does not use. If the program sets a handler of its own,
 * that holds. */
void control_dump_on_signal(void)
{
    const char *wanted = environment_get("DWELL_DUMP_ON");
    const int number = wanted ? atoi(wanted) : 0;
    struct sigaction before, action = { .sa_handler = control_on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
    if (number > 0 && sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

/* Whether a command from outside may have begun a pause. One by the program itself keeps the stacks up to date. A
 * function that starts the recording needs its probe. */
static bool control_pauses_for_long(uint32_t command)
{
    return (command == DWELL_COMMAND_PAUSE || command == DWELL_COMMAND_LOOK) && !filter_settings.starts;
}

void control_take_commands(struct process *p, int fd)
{
    if (__atomic_exchange_n(&p->control.dump_wanted, 0, __ATOMIC_ACQUIRE))
        control_dump(fd);
    struct dwell_control *control = p->control.chunk;
    const uint32_t what = control ? __atomic_load_n(&control->command, __ATOMIC_ACQUIRE) : DWELL_COMMAND_NONE;
    if (what)
        control->result = control_command(p, what, fd);
    control_look(p, control_pauses_for_long(what));
    if (what == DWELL_COMMAND_STOP) {
        event_control_notify(); /* also if recording was off before */
        levels_stop();
        call_stubs_end();
    }
    if (what) {
        __atomic_store_n(&control->command, DWELL_COMMAND_NONE, __ATOMIC_RELEASE);
        sys_futex_wake_shared(&control->command);
    }
}

/* Other processes read the header when their helper is woken. */
static void control_wake_all(void)
{
    const struct dwell_file_header *h = runtime.session.header;
    int fd = session_reopen(&runtime.session, runtime.path);
    uint64_t offset = fd < 0 ? 0 : __atomic_load_n(&h->first_control, __ATOMIC_ACQUIRE);
    while (offset && offset % DWELL_UNIT == 0 && offset < h->cursor) {
        struct dwell_control *control = session_map(&runtime.session, fd, offset, DWELL_UNIT);
        if (!control)
            break;
        __atomic_fetch_add(&control->work, 1, __ATOMIC_SEQ_CST);
        sys_futex_wake_shared(&control->work);
        const uint64_t next = control->next;
        session_unmap(control, DWELL_UNIT);
        offset = next < offset ? next : 0;
    }
    if (fd >= 0)
        sys_close(fd);
}

/* ---- from the program: see dwell.h ---- */

DWELL_EXPORT int dwell_runtime_start(enum dwell_level scope, uint32_t id);
DWELL_EXPORT int dwell_runtime_stop(enum dwell_level scope, uint32_t id);
DWELL_EXPORT int dwell_runtime_pause(enum dwell_level scope, uint32_t id);
DWELL_EXPORT int dwell_runtime_resume(enum dwell_level scope, uint32_t id);
DWELL_EXPORT uint64_t dwell_runtime_time(void);
DWELL_EXPORT int dwell_runtime_mark(uint64_t time, int32_t number, const char *text);
DWELL_EXPORT int dwell_runtime_name(enum dwell_level scope, uint32_t id, const char *name);
DWELL_EXPORT int dwell_runtime_dump(const char *path);

static void control_act_globally(enum action action)
{
    struct dwell_file_header *h = runtime.session.header;
    if (action == START || action == STOP)
        __atomic_store_n(&h->global_stopped, action == STOP, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&h->global_suspended, action == PAUSE ? 1 : -1, __ATOMIC_RELAXED);
    control_look(runtime.process, false);
    control_wake_all();
}

static int control_act_on_process(enum action action, uint32_t pid)
{
    if (pid != DWELL_CURRENT && pid != runtime.process->pid)
        return DWELL_NO_ID;
    process_lock();
    control_act(&runtime.activation, action);
    process_unlock();
    control_look(runtime.process, false);
    return DWELL_OK;
}

static int control_act_on_thread(struct thread *self, enum action action, uint32_t tid)
{
    int status = DWELL_NO_ID;
    process_lock();
    for (struct thread *t = runtime.process->threads.live; t && status != DWELL_OK; t = t->next) {
        if (tid == DWELL_CURRENT ? t != self : t->tid != tid)
            continue;
        control_act(&t->control.activation, action);
        __atomic_store_n(&t->control.attend, 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        gate_call_thread(t);
        status = DWELL_OK;
    }
    process_unlock();
    return status;
}

static int control_act_on(enum action action, enum dwell_level scope, uint32_t id)
{
    struct thread *t = thread_of_caller();
    if (!t || runtime.closed)
        return DWELL_NOT_RECORDED;
    int status = DWELL_OK;
    uint64_t mask = sys_block_signals();
    switch (scope) {
    case DWELL_GLOBAL:
        control_act_globally(action);
        break;
    case DWELL_PROCESS:
        status = control_act_on_process(action, id);
        break;
    case DWELL_THREAD:
        status = control_act_on_thread(t, action, id);
        break;
    default:
        status = DWELL_NO_LEVEL;
    }
    if (gate_has_to_attend(t))
        activation_attend(t);
    sys_restore_signals(mask);
    return status;
}

DWELL_EXPORT int dwell_runtime_start(enum dwell_level scope, uint32_t id)
{
    int error = errno, status = control_act_on(START, scope, id);
    errno = error;
    return status;
}

DWELL_EXPORT int dwell_runtime_stop(enum dwell_level scope, uint32_t id)
{
    int error = errno, status = control_act_on(STOP, scope, id);
    errno = error;
    return status;
}

DWELL_EXPORT int dwell_runtime_pause(enum dwell_level scope, uint32_t id)
{
    int error = errno, status = control_act_on(PAUSE, scope, id);
    errno = error;
    return status;
}

DWELL_EXPORT int dwell_runtime_resume(enum dwell_level scope, uint32_t id)
{
    int error = errno, status = control_act_on(RESUME, scope, id);
    errno = error;
    return status;
}

DWELL_EXPORT uint64_t dwell_runtime_time(void)
{
    return runtime.off || !runtime.process ? 0 : clock_now(runtime.clock);
}

/* ---- marks and names ---- */

/* The length of a text that is cut at the beginning of a character. */
static size_t control_cut_text(const char *text, size_t most)
{
    size_t length = text ? strnlen(text, most + 1) : 0;
    if (length <= most)
        return length;
    length = most;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

enum { MARK_WORDS = 3 + 2 + 1 + (DWELL_LONGEST_TEXT + 1) / 2 };

static int control_mark(struct thread *t, uint64_t time, int32_t number, const char *text)
{
    const size_t length = control_cut_text(text, DWELL_LONGEST_TEXT);
    uint16_t words[MARK_WORDS] = { 0 };
    if (!time)
        time = clock_now(runtime.clock);
    for (int i = 0; i < 3; i++)
        words[i] = (uint16_t)(time >> 16 * i);
    words[3] = (uint16_t)number;
    words[4] = (uint16_t)((uint32_t)number >> 16);
    words[5] = (uint16_t)length;
    memcpy(words + 6, text, length);
    runtime.recorder->control(t, &(struct control_event){
                                     .type = DWELL_EXT_MARK,
                                     .words = words,
                                     .count = 6 + (int)(length + 1) / 2,
                                 });
    thread_set_limit(t);
    if (t->stopped)
        return DWELL_FAILED;
    return text && text[length] ? DWELL_TRUNCATED : DWELL_OK;
}

DWELL_EXPORT int dwell_runtime_mark(uint64_t time, int32_t number, const char *text)
{
    const int error = errno;
    struct thread *t = thread_of_caller();
    if (!t || runtime.closed)
        return DWELL_NOT_RECORDED;
    if (number < 1)
        return DWELL_RESERVED;
    if (!runtime.recorder->control)
        return DWELL_NO_SUPPORT; /* this mode keeps nothing that has a time */
    uint64_t mask = sys_block_signals();
    if (gate_has_to_attend(t))
        activation_attend(t);
    int status = t->pause.active ? DWELL_IS_OFF : control_mark(t, time, number, text ? text : "");
    sys_restore_signals(mask);
    errno = error;
    return status;
}

static bool control_is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static int control_name_thread(struct thread *self, uint32_t tid, const char *name)
{
    struct thread *found = NULL;
    process_lock();
    for (struct thread *t = runtime.process->threads.live; t && !found; t = t->next)
        if (tid == DWELL_CURRENT ? t == self : t->tid == tid)
            found = t;
    const bool named = found && __atomic_exchange_n(&found->named, 1, __ATOMIC_RELAXED);
    process_unlock();
    if (!found)
        return DWELL_NO_ID;
    if (named)
        return DWELL_NAMED;
    metadata_name_thread(found, name, control_cut_text(name, DWELL_LONGEST_NAME));
    return DWELL_OK;
}

static int control_name_process(uint32_t pid, const char *name)
{
    if (pid != DWELL_CURRENT && pid != runtime.process->pid)
        return DWELL_NO_ID;
    if (__atomic_exchange_n(&runtime.process->named, 1, __ATOMIC_RELAXED))
        return DWELL_NAMED;
    struct dwell_rec_process_name record = { .record.type = DWELL_REC_PROCESS_NAME };
    metadata_append(&record.record, sizeof record, &(struct text){ name, control_cut_text(name, DWELL_LONGEST_NAME) },
                    1);
    return DWELL_OK;
}

DWELL_EXPORT int dwell_runtime_name(enum dwell_level scope, uint32_t id, const char *name)
{
    const int error = errno;
    struct thread *t = thread_of_caller();
    if (!t || runtime.closed)
        return DWELL_NOT_RECORDED;
    if (scope != DWELL_PROCESS && scope != DWELL_THREAD)
        return DWELL_NO_LEVEL;
    if (!control_is_letter((unsigned char)name[0]) && name[0] != '_')
        return DWELL_BAD_NAME;
    uint64_t mask = sys_block_signals();
    int status = scope == DWELL_THREAD ? control_name_thread(t, id, name) : control_name_process(id, name);
    sys_restore_signals(mask);
    errno = error;
    return status == DWELL_OK && name[control_cut_text(name, DWELL_LONGEST_NAME)] ? DWELL_TRUNCATED : status;
}

DWELL_EXPORT int dwell_runtime_dump(const char *path)
{
    const int error = errno;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    uint64_t mask = sys_block_signals();
    int fd = session_reopen(&runtime.session, runtime.path);
    int status = fd < 0 || snapshot_write(fd, path) < 0 ? DWELL_FAILED : DWELL_OK;
    if (fd >= 0)
        sys_close(fd);
    sys_restore_signals(mask);
    errno = error;
    return status;
}
