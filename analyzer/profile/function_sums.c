/* Follows the stack of each chunk's calls. Each address is looked up once. */
#include "profile/function_sums.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "profile/generations.h"
#include "profile/identify.h"
#include "profile/interval.h"
#include "trace/stack.h"

/* An open call. */
struct summed_call {
    uint32_t sum; /* index in the list */
    uint64_t entered;
};

struct function_scan {
    struct function_sums *sums;
    struct profile *functions;
    struct number_index *known;          /* (address and generation, process) to an index in the list */
    const struct trace_process *process; /* of the chunk; NULL if the session does not know it */
    uint32_t serial;
    struct generations generations;
    struct summed_call *stack;
    size_t depth, room;
    uint64_t off; /* ticks in which the thread was paused, off the CPU, or in the runtime */
};

static uint32_t function_scan_find(struct function_scan *s, uint64_t address, uint64_t time)
{
    if (time < s->generations.begin_at || time >= s->generations.next_at)
        generations_find(&s->generations, time);
    const uint64_t key = generations_address(&s->generations, address);
    struct index_slot *slot = index_find(s->known, key, s->serial);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    struct function_sums *sums = s->sums;
    GROW(sums->list, sums->count, sums->room);
    sums->list[sums->count] =
        (struct function_sum){ .process = s->serial,
                               .function = identify_function(s->functions, s->process, address, time) };
    index_set(s->known, slot, key, s->serial, (uint32_t)sums->count);
    return (uint32_t)sums->count++;
}

/* What is known of the frame's function is that of its enter. Its time counts from `since` on. */
static void function_scan_push(struct function_scan *s, struct dwell_frame frame, uint64_t since)
{
    const uint32_t sum = function_scan_find(s, frame.function, frame.enter_time);
    GROW(s->stack, s->depth, s->room);
    s->stack[s->depth++] = (struct summed_call){ sum, since };
}

static void function_scan_end(struct function_scan *s, uint64_t now)
{
    const struct summed_call *call = &s->stack[--s->depth];
    s->sums->list[call->sum].inclusive += less(now, call->entered);
}

/* ---- actions on events ---- */

STACK_INLINE size_t function_scan_depth(const void *to)
{
    const struct function_scan *s = to;
    return s->depth;
}

STACK_INLINE void function_scan_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct function_scan *s = to;
    if (!d->has_extras)
        return;
    const struct decoded_extras extras = d->extras; /* a copy, so that the decoder has no address */
    const struct interval_parts parts = interval_parts(&extras, d->time - begin);
    s->off += parts.blocked + parts.preempted + parts.runtime;
}

static void function_scan_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct function_scan *s = to;
    s->off += d->time - begin;
}

static void function_scan_delay(void *to, uint64_t ticks)
{
    const struct function_scan *s = to;
    for (size_t i = 0; i < s->depth; i++)
        s->stack[i].entered += ticks;
}

STACK_INLINE void function_scan_enter(void *to, const struct decoder *d)
{
    struct function_scan *s = to;
    function_scan_push(s, (struct dwell_frame){ d->function, d->time }, d->time);
    s->sums->list[s->stack[s->depth - 1].sum].calls++;
}

STACK_INLINE void function_scan_exit(void *to, const struct decoder *d)
{
    function_scan_end(to, d->time);
}

static void function_scan_set_aside(void *to, const struct decoder *d)
{
    struct function_scan *s = to;
    while (s->depth)
        function_scan_end(s, d->time);
}

static void function_scan_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    (void)site;
    function_scan_push(to, *frame, d->time);
}

static void function_scan_ignore(void *to, const struct decoder *d)
{
    (void)to, (void)d;
}

static void function_scan_chunk(struct function_scan *s, const struct trace_chunk *chunk, const uint8_t *bytes)
{
    static const struct stack_actions actions = {
        .depth = function_scan_depth,
        .interval = function_scan_interval,
        .skip = function_scan_skip,
        .delay = function_scan_delay,
        .enter = function_scan_enter,
        .exit = function_scan_exit,
        .left = function_scan_exit,
        .ended = function_scan_exit,
        .stray_exit = function_scan_ignore,
        .set_aside = function_scan_set_aside,
        .open = function_scan_open,
        .pause = function_scan_ignore,
        .resume = function_scan_ignore,
        .mark = function_scan_ignore,
    };
    struct stack_state state;
    struct decoder d;
    stack_begin(&state, chunk);
    for (uint32_t i = 0; i < chunk->depth; i++)
        function_scan_push(s, stack_frame(chunk, bytes, i), chunk->start_time);
    decode_begin(&d, chunk, bytes);
    s->off = 0;
    stack_apply_all(&actions, s, &state, &d);
    while (s->depth)
        function_scan_end(s, state.last);
    s->sums->cpu += less(state.last - chunk->start_time, s->off);
}

struct function_sums function_sums_of(const struct session_file *file, const struct trace_chunk *chunks, size_t count,
                                      struct profile *functions)
{
    struct function_sums sums = { 0 };
    struct function_scan scan = { .sums = &sums, .functions = functions, .known = index_new() };
    struct number_index *threads = index_new();
    struct chunk_buffer buffer = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct trace_chunk *chunk = &chunks[i];
        if (chunk->kind != DWELL_CHUNK_EVENTS || !decode_has_frames(chunk) ||
            !session_file_fill_buffer(file, chunk, &buffer))
            continue;
        struct index_slot *slot = index_find(threads, chunk->thread, chunk->process);
        if (!slot->value_plus_1)
            index_set(threads, slot, chunk->thread, chunk->process, (uint32_t)sums.threads++);
        scan.serial = chunk->process;
        scan.process = session_file_process(file, chunk->process);
        generations_begin(&scan.generations, scan.process);
        function_scan_chunk(&scan, chunk, buffer.bytes);
    }
    free(buffer.bytes);
    free(scan.stack);
    index_free(threads);
    index_free(scan.known);
    return sums;
}

void function_sums_drop(struct function_sums *s)
{
    free(s->list);
    *s = (struct function_sums){ 0 };
}
