/*
 * A thread's life in the recording: its block, its chunks one after another, its end.
 *
 * All of it runs with signals held back, so that no probe of a handler sees it half done.
 */
#include <linux/prctl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus_signal.h"
#include "call.h"
#include "chunk.h"
#include "clock.h"
#include "control.h"
#include "guard.h"
#include "helper.h"
#include "interposed.h"
#include "levels/quiet_point.h"
#include "losses.h"
#include "metadata.h"
#include "modules.h"
#include "osevents.h"
#include "probes.h"
#include "process.h"
#include "process_lock.h"
#include "record.h"
#include "recorder.h"
#include "retired.h"
#include "ring.h"
#include "rotation.h"
#include "runtime.h"
#include "session.h"
#include "sites.h"
#include "stacks.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"
#include "trace_events.h"

enum {
    FIRST_CHUNK = 8 << 10, /* doubled for each further one, so that short threads cost little space */
    LARGEST_CHUNK = 256 << 10,
    MIN_ROOM = 4 << 10, /* for events, in the rest of another chunk */
    FIRST_STACK = 256 << 10,
    FREE_CALLS = 512,           /* after the slow path, at least that many entries of the shadow stack are free */
    FIRST_POSITION = 64,        /* a limit of zero lets no position pass */
    LAST_POSITION = 0x30000000, /* a chunk that begins there ends before PAUSE_FIRST_POSITION */
    LAST_PASS = 4,              /* libc runs the destructors of keys that many times (PTHREAD_DESTRUCTOR_ITERATIONS) */
};

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
    while ((t = *place) && !counts_is_gone(t))
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

static void thread_check_name(struct thread *t)
{
    char name[sizeof t->name] = "";
    if (SYS2(prctl, PR_GET_NAME, name) == 0 && strcmp(name, t->name) != 0)
        metadata_thread_name(t, name);
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
    t->ring = (struct ring){ NULL, NULL, 0 };
    t->modules.stale = !forked && &dwell_interposed; /* its first events may be inside a library's constructor */
    t->modules.inside_loader = 0;
    t->modules.loading_slot = NULL;
    t->levels.asked = 0;
    t->levels.seen = forked ? t->levels.seen : 0;
    t->levels.inside = 0;
    t->levels.stack_end = quiet_stack_end((uint64_t)__builtin_frame_address(0));
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
    trace_events_begin_thread(t);
    counts_begin_thread(t, forked);
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
    if (!counts_begin_in_place(t))
        levels_leave_places();
    if (!forked)
        t->last = clock_now(runtime.clock);
    t->stacks.seen_changes = runtime.process->stacks.changes - 1; /* so that stacks_find looks */
    control_begin_thread(t, forked);
    t->levels.inside--;
}

/* This thread could not be set up. It is not tried again, as it would then have exits without an enter. */
static __thread bool thread_refused __attribute__((tls_model("initial-exec")));

void thread_refuse(enum dwell_trouble trouble)
{
    thread_refused = true;
    session_trouble(&runtime.session, trouble);
    __atomic_fetch_add(&runtime.session.header->lost_threads, 1, __ATOMIC_RELAXED);
}

bool thread_is_silent(void)
{
    return thread_refused;
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
    if (process_begin()) {
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
    sys_restore_signals(t && !forked ? bus_adopt_mask(mask) : mask);
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
        levels_lose_places();
    return t;
}

static uint32_t thread_limit(const struct thread *t)
{
    uint32_t limit = 0;
    if (t->chunks.current && !t->pause.active && !t->modules.stale && runtime.clock != DWELL_CLOCK_MONOTONIC) {
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
    return control_pending(t) || __atomic_load_n(&t->levels.asked, __ATOMIC_RELAXED) ||
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
    counts_select(t, !t->pause.active);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (thread_has_to_look(t)) {
        counts_divert(t);
        __atomic_store_n(&t->wiped->limit, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->wiped->gate, GATE_SLOW, __ATOMIC_RELAXED);
    }
}

/* The old shadow stack stays mapped. A probe that a handler interrupted may still write its scratch entry there,
 * before it finds that the state has changed. All old ones together are smaller than the new one. */
bool thread_grow_stack(struct thread *t)
{
    const uint32_t depth = (uint32_t)(t->state >> 32);
    if (t->shadow_size - depth >= FREE_CALLS * sizeof(struct call))
        return true;
    if (t->shadow_size > UINT32_MAX / 2)
        return false;
    char *stack = sys_memory((size_t)t->shadow_size * 2);
    if (!stack)
        return false;
    memcpy(stack, t->shadow, depth);
    t->shadow = stack;
    t->shadow_size *= 2;
    return true;
}

struct wish {
    uint32_t least, size;
};

/* The size of the next chunk. The open calls that it begins with fill a quarter of it at most. A thread's first chunks
 * may be the rest of others. A size of zero: no chunk is that large. */
static struct wish thread_chunk_wish(const struct thread *t, uint32_t depth, uint32_t bytes)
{
    const uint64_t frames =
        sizeof(struct dwell_chunk_header) + (uint64_t)depth * sizeof(struct dwell_frame) + sites_open_bytes(depth);
    const uint32_t ring_size = ring_chunk_size();
    const uint64_t largest = ring_size ? ring_size : LARGEST_CHUNK;
    uint64_t size = largest < FIRST_CHUNK ? largest : FIRST_CHUNK;
    for (uint32_t i = 0; i < t->chunks.begun && size < largest; i++)
        size *= 2;
    while (size < 4 * frames + bytes)
        size *= 2;
    if (size > DWELL_CHUNK_LARGEST)
        return (struct wish){ 0, 0 };
    uint64_t least = size;
    if (t->chunks.begun < 2 && !runtime.session.header->shared_ring && frames + bytes + MIN_ROOM < size / 4)
        least = size / 4;
    return (struct wish){ (uint32_t)least, (uint32_t)size };
}

static void thread_fill_frames(const struct thread *t, struct dwell_frame *frames)
{
    const struct call *end = thread_call(t, t->state);
    for (const struct call *call = (const struct call *)t->shadow + 1; call < end; call++)
        if (recorder_shows(call))
            *frames++ = (struct dwell_frame){ call->function, call->enter_time };
}

static void thread_begin_chunk(struct thread *t, struct area area, uint32_t depth)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = t->chunks.begun++;
    chunk->depth = depth;
    chunk->start_time = t->last;
    chunk->upper[0] = t->upper[0];
    chunk->upper[1] = t->upper[1];
    thread_fill_frames(t, (struct dwell_frame *)(chunk + 1));
    const uint32_t skip = (uint32_t)(sizeof *chunk + depth * sizeof(struct dwell_frame)),
                   sites = sites_open_bytes(depth);
    if (sites)
        sites_write_open(t, area.at + skip, depth);
    chunk->enters = sites; /* bytes of extensions */
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_EVENTS, __ATOMIC_RELEASE);

    uint32_t position = (uint32_t)t->state + 2; /* not one that was used recently */
    if (position > LAST_POSITION)
        position = FIRST_POSITION;
    t->chunks.current = chunk;
    t->filter.left_unrecorded = 0;
    t->base = area.at + skip - position;
    t->chunks.end = position + area.size - skip;
    t->state = (t->state >> 32) << 32 | (position + sites);
    t->holes.found = false;
    holes_skip(t);
}

/* The probes do not count. But the bytes, and the change in the number of open calls since the chunk's start,
 * determine the numbers of enters and exits. While the chunk is written to, the slow path keeps the bytes of
 * extensions in `enters`, and the number of calls left without an exit in `exits`. */
static void thread_count_events(const struct thread *t, struct dwell_chunk_header *chunk, const char *next)
{
    const char *begin = (const char *)(chunk + 1) + (size_t)chunk->depth * sizeof(struct dwell_frame);
    const int64_t bytes = next - begin - chunk->enters;
    const int64_t opened =
        (int64_t)recorder_shown_depth(t) + t->filter.left_unrecorded - chunk->depth + (int32_t)chunk->exits;
    chunk->enters = (uint32_t)((bytes + EXIT_BYTES * opened) / (ENTER_BYTES + EXIT_BYTES));
    chunk->exits = (uint32_t)(chunk->enters - opened);
}

static void thread_finish_chunk(struct thread *t)
{
    struct dwell_chunk_header *chunk = t->chunks.current;
    if (!chunk)
        return;
    const char *next = t->base + thread_position(t);
    if (!t->holes.found)
        thread_count_events(t, chunk, next);
    else
        chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
    __atomic_store_n(&chunk->used, (uint32_t)(next - (char *)chunk), __ATOMIC_RELEASE);
    if (UNLIKELY(guard_trouble()))
        losses_of_events(chunk, (uint32_t)(next - (char *)chunk));
    t->chunks.current = NULL;
    t->chunks.end = 0; /* no event finds room */
}

void thread_stop(struct thread *t)
{
    if (!t->stopped && t->chunks.begun == 0 && !t->tree.head)
        __atomic_fetch_add(&runtime.session.header->lost_threads, 1, __ATOMIC_RELAXED);
    t->stopped = 1;
    t->wiped->limit = 0;
    t->wiped->gate = GATE_SLOW;
}

static void thread_retire_chunk(struct thread *t, struct dwell_chunk_header *chunk)
{
    t->chunks.last[t->chunks.begun % CHUNKS_REMEMBERED] = (struct area){ (char *)chunk, guard_size(chunk) };
    if (t->holes.found)
        return; /* an interrupted probe may go on and store its record: the chunk stays mapped for good */
    if (!ring_keep(&t->ring, chunk))
        retired_add(chunk);
}

void thread_stop_for(struct thread *t, enum dwell_trouble trouble)
{
    session_trouble(&runtime.session, trouble);
    thread_stop(t);
}

/* The shadow stack has moved: a probe that was interrupted must find that the state has changed. */
static void thread_pad_chunk(struct thread *t)
{
    const uint16_t word = DWELL_EXT_PAD << DWELL_EXTENSION_LENGTH_BITS;
    memcpy(t->base + (uint32_t)t->state, &word, sizeof word);
    t->state += sizeof word;
    t->chunks.current->enters += sizeof word;
}

void thread_next_chunk(struct thread *t, uint32_t bytes)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        return;
    }
    /* A handler has forked, and this is the child, which begins a recording of its own. Or it has begun a pause: the
     * state is not a position then. */
    if (!t->wiped->alive || t->pause.active) {
        sys_restore_signals(mask);
        return;
    }
    const bool fits = t->chunks.current && (uint32_t)t->state + bytes <= t->chunks.end;
    const char *stack = t->shadow;
    if (!thread_grow_stack(t)) {
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_MEMORY);
        thread_finish_chunk(t);
        thread_stop(t);
    } else if (!fits) {
        holes_fill_last(t);
        struct dwell_chunk_header *old = t->chunks.current;
        thread_finish_chunk(t);
        if (old) {
            chunk_ask_for_look(old, t->last);
            thread_retire_chunk(t, old);
        }
        if (t->chunks.begun > 0)
            thread_check_name(t);
        if (!&dwell_interposed && !runtime.process->modules.inherited)
            modules_update(false, 0);
        const uint32_t depth = recorder_shown_depth(t);
        struct wish wish = thread_chunk_wish(t, depth, bytes);
        struct area area = { NULL, 0 };
        if (wish.size && !runtime.process->stopped)
            area = ring_take_chunk(&t->ring, wish.least, wish.size);
        if (area.at)
            thread_begin_chunk(t, area, depth);
        else
            thread_stop(t);
    } else if (t->shadow != stack) {
        thread_pad_chunk(t);
    }
    thread_set_limit(t);
    sys_restore_signals(mask);
}

void thread_give_up_chunk(struct thread *t, bool count)
{
    struct dwell_chunk_header *chunk = t->chunks.current;
    if (!chunk)
        return;
    const uint32_t used = (uint32_t)(t->base + thread_position(t) - (char *)chunk);
    thread_finish_chunk(t);
    if (!count)
        chunk->enters = chunk->exits = DWELL_NOT_COUNTED;
    struct area area = { (char *)chunk, guard_size(chunk) };
    if (!runtime.session.header->shared_ring) /* it is used again as it is */
        chunk_cut(&area, (used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT);
    thread_retire_chunk(t, chunk);
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
    ring_end(&t->ring, &runtime.process->ended_ring);
    trace_events_end_thread(t);
    os_close(t);
    thread_unlink(t);
    counts_end_thread(t);
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
