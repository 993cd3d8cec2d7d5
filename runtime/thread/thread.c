/*
 * A thread's life in the recording: its block and its end.
 *
 * All of it runs with signals held back, so that no probe of a handler sees it half done.
 */
#include <linux/prctl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activation.h"
#include "call.h"
#include "clock.h"
#include "fault_signals.h"
#include "gate.h"
#include "helper.h"
#include "interposed.h"
#include "metadata_records.h"
#include "modules.h"
#include "osevents.h"
#include "process.h"
#include "process_lock.h"
#include "record.h"
#include "recorder.h"
#include "recording.h"
#include "ring.h"
#include "rotation.h"
#include "runtime.h"
#include "session.h"
#include "sites.h"
#include "stacks.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"
#include "thread_chunks.h"
#include "upward.h"

enum {
    FIRST_STACK = 256 << 10,
    LAST_PASS = 4, /* libc runs the destructors of keys that many times (PTHREAD_DESTRUCTOR_ITERATIONS) */
};

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

static const uint64_t nothing; /* an OS word that never changes */

static struct thread *thread_allocate_block(void)
{
    char *at = sys_memory(2 * PAGE);
    if (!at)
        return NULL;
    struct thread *t = (struct thread *)(at + PAGE);
    t->wiped = (struct thread_wiped *)at;
    /* If the page were not wiped, forked children would write to this process' chunks. */
    t->shadow = SYS3(madvise, at, PAGE, MADV_WIPEONFORK) < 0 ? NULL : sys_memory(FIRST_STACK);
    if (!t->shadow) {
        sys_unmap(at, 2 * PAGE);
        return NULL;
    }
    t->shadow_size = FIRST_STACK;
    return t;
}

static struct thread *thread_take_block(void)
{
    process_lock();
    struct thread **place = &runtime.process->threads.spare, *t;
    while ((t = *place) && !upward.block_is_free(t))
        place = &t->next;
    if (t)
        *place = t->next;
    process_unlock();
    return t ? t : thread_allocate_block();
}

static void thread_reset_block(struct thread *t)
{
    struct call *sentinel = (struct call *)t->shadow;
    *sentinel = (struct call){ .stack_pointer = UINT64_MAX };
    t->state = (uint64_t)sizeof *sentinel << 32 | FIRST_POSITION;
}

static void thread_link(struct thread *t)
{
    process_lock();
    t->previous = NULL;
    t->next = runtime.process->threads.live;
    if (t->next)
        t->next->previous = t;
    runtime.process->threads.live = t;
    runtime.process->threads.by_tid[t->tid % THREADS_BY_TID] = t;
    process_unlock();
}

static void thread_unlink(struct thread *t)
{
    struct thread **by_tid = &runtime.process->threads.by_tid[t->tid % THREADS_BY_TID];
    process_lock();
    if (*by_tid == t)
        *by_tid = NULL;
    if (t->previous)
        t->previous->next = t->next;
    else
        runtime.process->threads.live = t->next;
    if (t->next)
        t->next->previous = t->previous;
    process_unlock();
}

/* The thread whose fork has made the calling one's process. */
static uint32_t thread_maker(bool forked)
{
    return forked && runtime.forked_pid == runtime.process->pid ? runtime.forked_thread : 0;
}

static void thread_announce(struct thread *t, bool forked)
{
    if (SYS2(prctl, PR_GET_NAME, t->name) < 0)
        t->name[0] = '\0';
    struct dwell_rec_thread record = {
        .record.type = DWELL_REC_THREAD,
        .thread = t->serial,
        .tid = t->tid,
        .os_source = t->os_source.kind,
        .maker = thread_maker(forked),
        .start_time = clock_now(runtime.clock),
    };
    metadata_append(&record.record, sizeof record, &(struct text){ t->name, strlen(t->name) }, 1);
}

/* Prepares the block for the calling thread. It is new, or comes from before a fork. */
static void thread_fit_block(struct thread *t, bool forked)
{
    struct dwell_file_header *h = runtime.session.header;
    if (!forked)
        thread_reset_block(t);
    t->serial = __atomic_fetch_add(&h->next_thread, 1, __ATOMIC_RELAXED);
    if (t->serial == 1 && (h->recorder_pid == 0 || h->state == DWELL_COMPLETE)) /* a recorder does it at the end */
        rotation_end(&runtime.session, runtime.path, ROTATION_RECORDED);
    t->tid = (uint32_t)SYS0(gettid);
    t->chunks.begun = 0;
    t->chunks.current = NULL;
    t->chunks.end = 0;
    t->stopped = 0;
    t->upper[0] = t->upper[1] = UINT32_MAX;
    t->next_upper = 0;
    t->key_passes = 0;
    t->os.word = &nothing;
    t->os.seen = 0;
    t->os_source.kind = DWELL_OS_NONE;
    t->os_source.ring = NULL;
    t->tree.head = NULL;
    t->ring = (struct ring){ .first = NULL };
    t->keep = (struct thread_keep){ .since_usual = 0 };
    t->modules.stale = !forked && &dwell_interposed; /* its first events may be inside a library's constructor */
    t->modules.inside_loader = 0;
    t->modules.loading_slot = NULL;
    t->control.attend = 0;
    t->filter.ignored_depth = forked ? t->filter.ignored_depth : 0;
    t->filter.left_unrecorded = 0;
    t->filter.last_seen = 0;
    t->filter.waiting_count = 0;
    t->filter.cost_recorded = t->filter.cost;
    t->filter.kept = (struct kept_events){ .any = false };
    t->named = 0;
    if (forked && runtime.recorder->forked)
        runtime.recorder->forked(t);
    upward.begin_thread(t, forked);
    if (!forked) {
        t->pause.next_position = PAUSE_FIRST_POSITION;
        stacks_begin_thread(t);
    }
    if (forked && runtime.forked_at > t->last) /* else the runtime did not see the fork */
        t->last = runtime.forked_at;
    os_open(t, forked);
    switches_begin_thread(t, forked);
    t->wiped->alive = 1;
    t->levels.inside++;         /* it may wait, while an event is on its way */
    thread_announce(t, forked); /* before the helper makes pages for it */
    thread_link(t);
    upward.thread_is_listed(t);
    if (!forked)
        t->last = clock_now(runtime.clock);
    t->stacks.seen_changes = runtime.process->stacks.changes - 1; /* so that stacks_find looks */
    activation_begin_thread(t, forked);
    t->levels.inside--;
}

static struct thread *thread_set_up(void)
{
    uint64_t mask = sys_block_signals();
    struct thread *t = thread_self;
    const bool forked = t != NULL;
    if (mask == SYS_NOT_BLOCKED) {
        if (runtime.session.header)
            thread_refuse(DWELL_TROUBLE_REFUSED);
        return NULL;
    }
    if (forked && t->wiped->alive) { /* a handler has set it up, before signals were held back */
        sys_restore_signals(mask);
        return t;
    }
    if (upward.begin_process()) {
        if (!t)
            t = thread_take_block();
        if (t) {
            const uint64_t begin = forked ? 0 : process_cpu_set_up_begins(); /* a child's is that of its first probe */
            thread_fit_block(t, forked);
            thread_self = t;
            if (runtime.thread_key_valid)
                pthread_setspecific((pthread_key_t)runtime.thread_key, t);
            process_cpu_set_up_ends(begin);
        } else {
            thread_refuse(DWELL_TROUBLE_NO_MEMORY);
        }
    } else {
        t = NULL;
    }
    sys_restore_signals(t && !forked ? fault_adopt_mask(mask) : mask);
    return t;
}

/* The thread is in a sandbox that forbids all that beginning needs. */
static __thread bool thread_silenced __attribute__((tls_model("initial-exec")));

struct thread *thread_begin(void)
{
    if (thread_silenced)
        return NULL;
    struct thread *t = thread_refused || runtime.off ? NULL : thread_set_up();
    if (!t)
        upward.thread_is_not_recorded();
    return t;
}

struct thread *thread_of_caller(void)
{
    struct thread *t = thread_self;
    if (runtime.off)
        return NULL;
    if (!t || !t->wiped->alive)
        t = thread_begin();
    return t;
}

static void thread_end(struct thread *t)
{
    const uint64_t begin = process_cpu_set_up_begins();
    thread_check_name(t);
    recorder_flush(t);
    thread_note_end(t);
    thread_give_up_chunk(t, !t->pause.active);
    if (runtime.recorder->end_thread)
        runtime.recorder->end_thread(t);
    upward.end_thread(t);
    ring_end(&t->ring, &runtime.process->ended_ring, t->last);
    os_close(t);
    thread_unlink(t);
    upward.thread_has_ended(t);
    stacks_end_thread(t);
    t->wiped->limit = 0;
    t->wiped->alive = 0;
    thread_self = NULL;
    process_lock();
    t->next = runtime.process->threads.spare;
    runtime.process->threads.spare = t;
    process_unlock();
    process_cpu_set_up_ends(begin);
}

/* Destructors of other keys may run instrumented code after this one. So it asks to be called again, until libc calls
 * it the last time. */
void thread_key_ended(void *block)
{
    struct thread *t = block;
    if (t != thread_self || !t->wiped->alive)
        return;
    if (++t->key_passes < LAST_PASS) {
        pthread_setspecific((pthread_key_t)runtime.thread_key, t);
        return;
    }
    uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED)
        thread_end(t);
    sys_restore_signals(mask);
}

void thread_leave(void)
{
    if (!thread_self || !thread_self->wiped->alive)
        return;
    uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED)
        thread_end(thread_self);
    sys_restore_signals(mask);
}

/* A thread or a forked child that has recorded nothing yet is set up first: it could not be later. What it counts in
 * place goes on to its own pages. */
void thread_silence(void)
{
    if (runtime.process && !runtime.off && !(thread_self && thread_self->wiped->alive))
        thread_begin();
    struct thread *t = thread_self;
    const uint64_t mask = sys_block_signals();
    if (t && t->wiped->alive) {
        session_trouble(&runtime.session, DWELL_TROUBLE_REFUSED);
        if (mask != SYS_NOT_BLOCKED)
            thread_end(t);
        else
            thread_stop(t);
        helper_end(); /* in that sandbox, a thread that ends alone ends the process */
    }
    thread_refused = thread_silenced = true;
    sys_restore_signals(mask);
}
