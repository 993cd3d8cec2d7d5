/* Follows the open calls of a thread through its events, without their times. */
#include "trace/open_stack.h"

#include <stdlib.h>

#include "base/memory.h"

void open_stack_free(struct open_stack *s)
{
    free(s->frames);
    *s = (struct open_stack){ 0 };
}

static void open_stack_push(struct open_stack *s, struct dwell_frame frame)
{
    size_t count = s->depth;
    GROW(s->frames, count, s->room);
    s->frames[s->depth++] = frame;
}

void open_stack_begin(struct open_stack *s, const struct trace_chunk *chunk, const uint8_t *bytes)
{
    stack_begin(&s->state, chunk);
    s->upper[0] = chunk->upper[0];
    s->upper[1] = chunk->upper[1];
    s->depth = 0;
    for (uint32_t i = 0; i < chunk->depth; i++)
        open_stack_push(s, stack_frame(chunk, bytes, i));
}

/* ---- actions on events ---- */

static size_t open_stack_depth(const void *to)
{
    const struct open_stack *s = to;
    return s->depth;
}

static void open_stack_pass(void *to, const struct decoder *d, uint64_t begin)
{
    (void)to;
    (void)d;
    (void)begin;
}

static void open_stack_delay(void *to, uint64_t ticks)
{
    const struct open_stack *s = to;
    for (uint32_t i = 0; i < s->depth; i++)
        s->frames[i].enter_time += ticks;
}

static void open_stack_enter(void *to, const struct decoder *d)
{
    open_stack_push(to, (struct dwell_frame){ d->function, d->time });
}

static void open_stack_pop(void *to, const struct decoder *d)
{
    struct open_stack *s = to;
    (void)d;
    s->depth--;
}

static void open_stack_set_aside(void *to, const struct decoder *d)
{
    struct open_stack *s = to;
    (void)d;
    s->depth = 0;
}

static void open_stack_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    (void)d;
    (void)site;
    open_stack_push(to, *frame);
}

static void open_stack_ignore(void *to, const struct decoder *d)
{
    (void)to;
    (void)d;
}

bool open_stack_follow(struct open_stack *s, const uint8_t *records, uint32_t size)
{
    static const struct stack_actions actions = {
        .depth = open_stack_depth,
        .interval = open_stack_pass,
        .skip = open_stack_pass,
        .delay = open_stack_delay,
        .enter = open_stack_enter,
        .exit = open_stack_pop,
        .left = open_stack_pop,
        .ended = open_stack_pop,
        .stray_exit = open_stack_ignore,
        .set_aside = open_stack_set_aside,
        .open = open_stack_open,
        .pause = open_stack_ignore,
        .resume = open_stack_ignore,
        .mark = open_stack_ignore,
    };
    struct decoder d = {
        .at = records,
        .end = records + size,
        .limit = records + size,
        .time = s->state.last,
        .upper = { (uint64_t)s->upper[0] << 32, (uint64_t)s->upper[1] << 32 },
    };
    stack_apply_all(&actions, s, &s->state, &d);
    s->upper[0] = (uint32_t)(d.upper[0] >> 32);
    s->upper[1] = (uint32_t)(d.upper[1] >> 32);
    return !d.damaged;
}

void open_stack_copy(struct open_stack *to, const struct open_stack *from)
{
    struct dwell_frame *frames = to->frames;
    size_t room = to->room;
    if (from->depth > room) {
        room = from->room;
        frames = need_more(frames, room, sizeof *frames);
    }
    if (frames && from->depth)
        memcpy(frames, from->frames, from->depth * sizeof *frames);
    *to = *from;
    to->frames = frames;
    to->room = room;
}
