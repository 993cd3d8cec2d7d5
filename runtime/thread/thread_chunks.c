/* A thread's room: its chunks one after another, and its shadow stack. With signals held back. */
#include "thread_chunks.h"

#include <linux/prctl.h>
#include <string.h>

#include "call.h"
#include "chunk.h"
#include "gate.h"
#include "guard.h"
#include "holes.h"
#include "interposed.h"
#include "losses.h"
#include "metadata_records.h"
#include "modules.h"
#include "process.h"
#include "record.h"
#include "recorder.h"
#include "retired.h"
#include "ring.h"
#include "runtime.h"
#include "session.h"
#include "sites.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"

enum {
    FIRST_CHUNK = 8 << 10, /* doubled for each further one, so that short threads cost little space */
    LARGEST_CHUNK = 256 << 10,
    MIN_ROOM = 4 << 10,         /* for events, in the rest of another chunk */
    FREE_CALLS = 512,           /* after the slow path, at least that many entries of the shadow stack are free */
    LAST_POSITION = 0x30000000, /* a chunk that begins there ends before PAUSE_FIRST_POSITION */
};

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

void thread_check_name(struct thread *t)
{
    char name[sizeof t->name] = "";
    if (SYS2(prctl, PR_GET_NAME, name) == 0 && strcmp(name, t->name) != 0)
        metadata_thread_name(t, name);
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
    chunk->open.extension_bytes = sites;
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
 * determine the numbers of enters and exits. While the chunk is written to, the slow path keeps in `open` what else
 * takes bytes and ends calls. */
static void thread_count_events(const struct thread *t, struct dwell_chunk_header *chunk, const char *next)
{
    const char *begin = (const char *)(chunk + 1) + (size_t)chunk->depth * sizeof(struct dwell_frame);
    const int64_t bytes = next - begin - chunk->open.extension_bytes;
    const int64_t opened =
        (int64_t)recorder_shown_depth(t) + t->filter.left_unrecorded - chunk->depth + (int32_t)chunk->open.left;
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
    t->ring.ends_early = false;
}

static void thread_retire_chunk(struct thread *t, struct dwell_chunk_header *chunk)
{
    t->chunks.last[t->chunks.begun % CHUNKS_REMEMBERED] = (struct area){ (char *)chunk, guard_size(chunk) };
    if (t->holes.found) { /* an interrupted probe may go on and store its record: the chunk stays mapped permanently */
        ring_give_waiting(&t->ring);
        return;
    }
    if (!ring_keep(&t->ring, chunk))
        retired_add(chunk);
}

/* The shadow stack has moved: a probe that was interrupted must find that the state has changed. */
static void thread_pad_chunk(struct thread *t)
{
    const uint16_t word = DWELL_EXT_PAD << DWELL_EXTENSION_LENGTH_BITS;
    memcpy(t->base + (uint32_t)t->state, &word, sizeof word);
    t->state += sizeof word;
    t->chunks.current->open.extension_bytes += sizeof word;
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
    const bool early = t->ring.ends_early;
    const bool fits = t->chunks.current && !early && (uint32_t)t->state + bytes <= t->chunks.end;
    const char *stack = t->shadow;
    if (!thread_grow_stack(t)) {
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_MEMORY);
        thread_finish_chunk(t);
        thread_stop(t);
    } else if (!fits) {
        if (early)
            holes_fill(t);
        else
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
            upward.update_modules(false, 0);
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
