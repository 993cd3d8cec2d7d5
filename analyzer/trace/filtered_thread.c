/* Leaves calls out of a thread's events: follows its stack, decides which calls are shown, and writes the others'
 * events again. */
#include "trace/filtered_thread.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "trace/chunk_window.h"

enum { USUAL_CHUNK = 256 << 10, FRAME_SHARE = 64 };

/* ---- the stack ---- */

static struct filtered_call *filtered_thread_top(const struct filtered_thread *t)
{
    return t->depth ? &t->stack[t->depth - 1] : NULL;
}

static bool filtered_thread_is_ignoring(const struct filtered_thread *t)
{
    return t->depth && filtered_thread_top(t)->kind == FILTERED_IGNORED;
}

/* The enter time as recorded, which moves by pauses, and as it is written, which also moves by ignored calls. */
static uint64_t filtered_thread_recorded_time(const struct filtered_thread *t, const struct filtered_call *call)
{
    return call->entered + t->paused;
}

static uint64_t filtered_thread_enter_time(const struct filtered_thread *t, const struct filtered_call *call)
{
    return filtered_thread_recorded_time(t, call) + t->ignored - call->ignored_before;
}

static enum call_action filtered_thread_judge(struct filtered_thread *t, uint64_t function, uint64_t time)
{
    while (t->process && t->generation < t->process->change_count && t->process->changes[t->generation] <= time)
        t->generation++;
    struct filtered_answer *answer = &t->answers[(function ^ function >> 12) % FILTERED_CACHE];
    if (answer->function != function || answer->generation != t->generation + 1)
        *answer = (struct filtered_answer){
            .function = function,
            .generation = t->generation + 1,
            .action = t->filter->judge(t->filter->context, t->chunk->process, function, time),
        };
    return answer->action;
}

/* How a call of the function is filtered within the innermost call. */
static enum filtered_kind filtered_thread_kind(struct filtered_thread *t, uint64_t function, uint64_t time)
{
    if (filtered_thread_is_ignoring(t))
        return FILTERED_IGNORED;
    const enum call_action action = filtered_thread_judge(t, function, time);
    if (action == CALL_IGNORED)
        return FILTERED_IGNORED;
    const uint32_t shown = t->depth ? filtered_thread_top(t)->shown : 0;
    if (action == CALL_SUPPRESSED || (t->filter->depth && shown >= t->filter->depth))
        return FILTERED_HIDDEN;
    return t->filter->shortest ? FILTERED_WAITING : FILTERED_SHOWN;
}

static struct filtered_call *filtered_thread_push(struct filtered_thread *t, uint64_t function, uint64_t enter_time,
                                                  uint64_t site, enum filtered_kind kind)
{
    const uint32_t shown = t->depth ? filtered_thread_top(t)->shown : 0;
    GROW(t->stack, t->depth, t->room);
    struct filtered_call *call = &t->stack[t->depth++];
    *call = (struct filtered_call){
        .function = function,
        .site = site,
        .entered = enter_time - t->paused,
        .ignored_before = t->ignored,
        .cost = t->cost,
        .shown = shown + (kind == FILTERED_SHOWN || kind == FILTERED_WAITING),
        .kind = (uint8_t)kind,
    };
    return call;
}

static void filtered_thread_pop(struct filtered_thread *t)
{
    const struct filtered_call *call = filtered_thread_top(t);
    if (call->kind == FILTERED_WAITING)
        t->waiting--;
    t->depth--;
    if (t->depth)
        filtered_thread_top(t)->shows |= call->kind == FILTERED_SHOWN || call->shows;
}

/* ---- output ---- */

/* The calls that the output knows to be open. */
static void filtered_thread_begin_chunk(struct filtered_thread *t, uint32_t sequence, uint64_t start)
{
    struct event_writer *w = &t->out;
    uint64_t *sites = need_memory(t->depth, sizeof *sites);
    size_t count = 0;
    bool any = false;
    event_writer_begin(w, t->chunk->process, t->chunk->thread, sequence, start);
    for (size_t i = 0; i < t->depth; i++) {
        const struct filtered_call *call = &t->stack[i];
        if (call->kind != FILTERED_SHOWN)
            continue;
        event_writer_put_frame(w, call->function, filtered_thread_enter_time(t, call));
        any |= call->site != 0;
        sites[count++] = call->site;
    }
    if (any)
        event_writer_put_open_sites(w, sites, count);
    free(sites);
    t->out_paused = false;
}

static void filtered_thread_end_chunk(struct filtered_thread *t, uint32_t gap)
{
    const bool written = event_writer_end(&t->out);
    t->out.chunk.sequence += written ? 1 + gap : 0;
}

/* Large chunks are divided, so that several workers can read them. */
static void filtered_thread_divide_chunk(struct filtered_thread *t)
{
    if (t->out.length < USUAL_CHUNK || t->out.length < FRAME_SHARE * t->depth || t->unwound || t->out_paused)
        return;
    const uint64_t last = t->out.last;
    filtered_thread_end_chunk(t, 0);
    filtered_thread_begin_chunk(t, t->out.chunk.sequence, last);
}

/* What is known of the time since the last event. `cost`: the thread's costs until the event. */
static void filtered_thread_put_extras(struct filtered_thread *t, uint64_t time, uint64_t cost)
{
    struct event_writer *w = &t->out;
    const uint64_t ticks = smaller(less(cost, t->cost_noted) / DWELL_PROBE_FRACTION, less(time, w->last));
    kept_extras_put(&t->kept, w, less(time, w->last));
    if (ticks) {
        event_writer_put_head(w, DWELL_EXT_RUNTIME, 3);
        event_writer_put_number(w, ticks, 3);
        t->cost_noted += ticks * DWELL_PROBE_FRACTION;
    }
    if (t->unwound) {
        event_writer_put_head(w, DWELL_EXT_UNWIND, 2);
        event_writer_put_number(w, t->unwound, 2);
    }
    t->unwound = 0;
}

static void filtered_thread_put_enter(struct filtered_thread *t, struct filtered_call *call, uint64_t time,
                                      uint64_t cost)
{
    const bool direct = call > t->stack && call[-1].kind == FILTERED_SHOWN;
    filtered_thread_put_extras(t, time, cost);
    event_writer_put_site(&t->out, call->site, direct ? call[-1].function : 0);
    event_writer_enter(&t->out, time, call->function);
    call->kind = FILTERED_SHOWN;
}

/* Calls that wait are written before anything that must be written after their enters. */
static void filtered_thread_flush(struct filtered_thread *t)
{
    for (size_t i = t->waiting_from; t->waiting && i < t->depth; i++)
        if (t->stack[i].kind == FILTERED_WAITING) {
            filtered_thread_put_enter(t, &t->stack[i], filtered_thread_enter_time(t, &t->stack[i]), t->stack[i].cost);
            t->waiting--;
        }
}

static void filtered_thread_put_control(struct filtered_thread *t, uint64_t time, unsigned type, const void *words,
                                        unsigned count)
{
    filtered_thread_flush(t);
    filtered_thread_put_extras(t, time, t->cost);
    event_writer_control(&t->out, time, type, count);
    event_writer_put_words(&t->out, words, count);
    t->out_paused = type == DWELL_EXT_PAUSE;
}

static void filtered_thread_put_resume(struct filtered_thread *t, uint64_t time, uint32_t ended)
{
    const uint16_t words[] = { (uint16_t)ended, (uint16_t)(ended >> 16) };
    filtered_thread_put_control(t, time, DWELL_EXT_RESUME, words, 2);
}

/* Ends the interval before `time` if it belongs to a shown call. */
static void filtered_thread_end_interval(struct filtered_thread *t, uint64_t time)
{
    const bool any = t->unwound || (t->depth && filtered_thread_top(t)->shown);
    if (any && !t->out_paused && t->out.open && (time > t->out.last || t->kept.any || t->unwound))
        filtered_thread_put_control(t, time, DECODED_EXT_INTERVAL, NULL, 0);
}

static void filtered_thread_put_opened(struct filtered_thread *t, const struct filtered_call *call)
{
    event_writer_put_head(&t->out, DWELL_EXT_OPEN, call->site ? 11 : 7);
    event_writer_put_number(&t->out, call->function, 4);
    event_writer_put_number(&t->out, filtered_thread_enter_time(t, call), 3);
    event_writer_put_number(&t->out, call->site, call->site ? 4 : 0);
}

/* Writes the control event whose calls are known now. In a pause for an ignored call, a RESUME that changes nothing is
 * left out. */
static void filtered_thread_put_listing(struct filtered_thread *t)
{
    const struct filtered_control c = t->control;
    bool changed = c.ended || c.type == DWELL_EXT_SWITCH || !t->out_paused || !filtered_thread_is_ignoring(t);
    if (!c.type)
        return;
    t->control.type = 0;
    for (size_t i = c.opened; i < t->depth && !changed; i++)
        changed = t->stack[i].kind == FILTERED_SHOWN;
    if (!changed)
        return;
    filtered_thread_put_extras(t, c.time, t->cost);
    for (size_t i = c.opened; i < t->depth; i++)
        if (t->stack[i].kind == FILTERED_SHOWN)
            filtered_thread_put_opened(t, &t->stack[i]);
    event_writer_control(&t->out, c.time, c.type, 2);
    event_writer_put_number(&t->out, c.type == DWELL_EXT_SWITCH ? c.stack_number : c.ended, 2);
    t->out_paused = false;
    if (filtered_thread_is_ignoring(t))
        filtered_thread_put_control(t, c.time, DWELL_EXT_PAUSE, NULL, 0);
}

/* ---- costs of probes that are not shown ---- */

static void filtered_thread_add_call_cost(struct filtered_thread *t)
{
    if (t->process)
        t->cost += (uint64_t)t->process->probes.in_callee + t->process->probes.in_caller;
}

/* The cost of the first callee is subtracted by readers if a callee is shown. */
static void filtered_thread_add_callee_cost(struct filtered_thread *t, const struct filtered_call *call)
{
    if (t->process && call->calls && !(call->kind == FILTERED_SHOWN && call->shows))
        t->cost += t->process->probes.first_callee;
}

/* ---- actions on events ---- */

static size_t filtered_thread_depth(const void *to)
{
    const struct filtered_thread *t = to;
    return t->depth;
}

static void filtered_thread_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct filtered_thread *t = to;
    const uint64_t length = d->time - begin;
    if (filtered_thread_is_ignoring(t)) {
        t->ignored += length;
        return;
    }
    if (!d->has_extras)
        return;
    if (d->extras.flagged)
        filtered_thread_flush(t);
    kept_extras_add(&t->kept, &d->extras, length);
    t->cost += decode_runtime(&d->extras, length) * DWELL_PROBE_FRACTION;
    if (kept_extras_are_many(&t->kept))
        filtered_thread_put_control(t, d->time, DECODED_EXT_INTERVAL, NULL, 0);
}

static void filtered_thread_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct filtered_thread *t = to;
    (void)d;
    filtered_thread_end_interval(t, begin);
}

static void filtered_thread_delay(void *to, uint64_t ticks)
{
    struct filtered_thread *t = to;
    t->paused += ticks;
}

static void filtered_thread_enter(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    struct filtered_call *caller = filtered_thread_top(t);
    filtered_thread_put_listing(t);
    if (caller)
        caller->calls = true;
    const bool ignoring = filtered_thread_is_ignoring(t);
    const enum filtered_kind kind = filtered_thread_kind(t, d->function, d->time);
    if (kind == FILTERED_SHOWN)
        filtered_thread_divide_chunk(t);
    struct filtered_call *call =
        filtered_thread_push(t, d->function, d->time, decode_site(&d->site, caller ? caller->function : 0), kind);
    if (kind == FILTERED_SHOWN)
        filtered_thread_put_enter(t, call, d->time, t->cost);
    else if (kind == FILTERED_WAITING && t->waiting++ == 0)
        t->waiting_from = t->depth - 1;
    else if (kind == FILTERED_HIDDEN)
        filtered_thread_add_call_cost(t);
    else if (kind == FILTERED_IGNORED && !ignoring && !t->out_paused)
        filtered_thread_put_control(t, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

/* The innermost call ends, and waits: it is shown if it has lasted. */
static void filtered_thread_decide(struct filtered_thread *t, uint64_t time)
{
    const struct filtered_call *call = filtered_thread_top(t);
    if (call->kind != FILTERED_WAITING)
        return;
    if (less(time, filtered_thread_enter_time(t, call)) >= t->filter->shortest)
        filtered_thread_flush(t);
    else
        filtered_thread_add_call_cost(t);
}

/* An ignored call ends: the pause ends, too, if it was the outermost one. */
static void filtered_thread_end_ignored(struct filtered_thread *t, uint64_t time)
{
    filtered_thread_pop(t);
    if (filtered_thread_is_ignoring(t))
        return;
    if (t->out_paused)
        filtered_thread_put_resume(t, time, 0);
    if (t->process)
        t->cost += t->process->probes.in_caller;
}

/* The innermost call ends, at a known time. Ends it if it is ignored; else decides whether it is shown, and leaves it
 * on the stack. */
static bool filtered_thread_begin_end(struct filtered_thread *t, uint64_t time)
{
    filtered_thread_put_listing(t);
    if (filtered_thread_is_ignoring(t)) {
        filtered_thread_end_ignored(t, time);
        return false;
    }
    filtered_thread_decide(t, time);
    return true;
}

static void filtered_thread_exit(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    if (!filtered_thread_begin_end(t, d->time))
        return;
    filtered_thread_add_callee_cost(t, filtered_thread_top(t));
    if (filtered_thread_top(t)->kind == FILTERED_SHOWN) {
        filtered_thread_divide_chunk(t);
        filtered_thread_put_extras(t, d->time, t->cost);
        event_writer_exit(&t->out, d->time);
    }
    filtered_thread_pop(t);
}

static void filtered_thread_left(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    if (!filtered_thread_begin_end(t, d->time))
        return;
    t->unwound += filtered_thread_top(t)->kind == FILTERED_SHOWN;
    filtered_thread_pop(t);
}

static void filtered_thread_ended(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    (void)d;
    t->control.ended += filtered_thread_top(t)->kind == FILTERED_SHOWN;
    filtered_thread_pop(t);
    t->control.opened = t->depth;
}

static void filtered_thread_stray_exit(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    filtered_thread_put_listing(t);
    filtered_thread_put_extras(t, d->time, t->cost);
    event_writer_exit(&t->out, d->time);
}

static void filtered_thread_set_aside(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    filtered_thread_flush(t);
    t->depth = 0;
    t->control = (struct filtered_control){ .type = DWELL_EXT_SWITCH,
                                            .time = d->time,
                                            .stack_number = decode_number(d->control, 2) };
}

static void filtered_thread_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    struct filtered_thread *t = to;
    const enum filtered_kind kind = filtered_thread_kind(t, frame->function, d->time);
    filtered_thread_push(t, frame->function, frame->enter_time, site, kind == FILTERED_WAITING ? FILTERED_SHOWN : kind);
}

static void filtered_thread_pause(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    if (!t->out_paused)
        filtered_thread_put_control(t, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

static void filtered_thread_resume(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    t->control = (struct filtered_control){ .type = DWELL_EXT_RESUME, .time = d->time, .opened = t->depth };
}

static void filtered_thread_mark(void *to, const struct decoder *d)
{
    struct filtered_thread *t = to;
    filtered_thread_put_listing(t);
    if (t->out_paused)
        filtered_thread_put_resume(t, d->time, 0);
    filtered_thread_put_control(t, d->time, DWELL_EXT_MARK, d->control, d->control_length);
    if (filtered_thread_is_ignoring(t))
        filtered_thread_put_control(t, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

static void filtered_thread_events(struct filtered_thread *t, struct decoder *d)
{
    static const struct stack_actions actions = {
        .depth = filtered_thread_depth,
        .interval = filtered_thread_interval,
        .skip = filtered_thread_skip,
        .delay = filtered_thread_delay,
        .enter = filtered_thread_enter,
        .exit = filtered_thread_exit,
        .left = filtered_thread_left,
        .ended = filtered_thread_ended,
        .stray_exit = filtered_thread_stray_exit,
        .set_aside = filtered_thread_set_aside,
        .open = filtered_thread_open,
        .pause = filtered_thread_pause,
        .resume = filtered_thread_resume,
        .mark = filtered_thread_mark,
    };
    enum decoded event;
    while ((event = decode_next(d)) != DECODED_END) {
        stack_apply(&actions, t, &t->state, event, d);
        filtered_thread_put_listing(t);
        d->site = (struct decoded_site){ 0 };
    }
}

/* ---- chunks ---- */

/* Whether the chunk continues where the one before it has ended. */
static bool filtered_thread_follows(const struct filtered_thread *t, const struct trace_chunk *chunk,
                                    const uint8_t *buffer)
{
    const struct trace_chunk *before = t->chunk;
    if (!before || before->sequence + 1 != chunk->sequence || t->state.paused || chunk->begins_paused ||
        chunk->start_time != t->state.last || chunk->depth != t->depth)
        return false;
    for (uint32_t i = 0; i < chunk->depth; i++)
        if (decode_frame(buffer, i).function != t->stack[i].function)
            return false;
    return true;
}

/* Ends the output before a gap in the thread's events. Calls that wait there are shown. */
static void filtered_thread_end_run(struct filtered_thread *t, uint64_t end)
{
    filtered_thread_flush(t);
    filtered_thread_end_interval(t, end);
}

/* The calls that are open at the beginning of a chunk after a gap. Those of before may be among them. */
static void filtered_thread_find_frames(struct filtered_thread *t, const struct trace_chunk *chunk,
                                        const uint8_t *buffer, const struct decoder *d)
{
    size_t same = 0;
    struct open_sites sites;
    decode_open_sites(&sites, d);
    for (; same < t->depth && same < chunk->depth; same++) {
        const struct dwell_frame frame = stack_frame(chunk, buffer, (uint32_t)same);
        const struct filtered_call *call = &t->stack[same];
        if (frame.function != call->function || frame.enter_time != filtered_thread_recorded_time(t, call))
            break;
        (void)decode_next_open_site(&sites);
    }
    t->depth = same;
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, buffer, i);
        filtered_thread_open(t, d, &frame, decode_next_open_site(&sites));
    }
}

static void filtered_thread_begin_run(struct filtered_thread *t, const struct trace_chunk *chunk, const uint8_t *buffer,
                                      const struct decoder *d)
{
    const struct trace_chunk *before = t->chunk;
    if (before) {
        filtered_thread_end_run(t, t->state.last);
        filtered_thread_end_chunk(t, chunk->sequence != before->sequence + 1);
        if (t->state.paused)
            t->paused += less(chunk->start_time, t->state.last);
    } else {
        t->out.upper[0] = chunk->upper[0];
        t->out.upper[1] = chunk->upper[1];
        t->out.chunk.sequence = chunk->sequence;
    }
    t->chunk = chunk;
    t->process = session_file_process(t->file, chunk->process);
    stack_begin(&t->state, chunk);
    filtered_thread_find_frames(t, chunk, buffer, d);
    filtered_thread_begin_chunk(t, t->out.chunk.sequence, chunk->start_time);
    if (filtered_thread_is_ignoring(t))
        filtered_thread_put_control(t, chunk->start_time, DWELL_EXT_PAUSE, NULL, 0);
}

void filtered_thread_begin(struct filtered_thread *t, const struct session_file *file,
                           const struct stream_filter *filter, chunk_taker *take, void *context)
{
    *t = (struct filtered_thread){ .file = file, .filter = filter };
    t->out.take = take;
    t->out.context = context;
    t->answers = need_memory(FILTERED_CACHE, sizeof *t->answers);
}

bool filtered_thread_add(struct filtered_thread *t, struct chunk_window *window, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (!window_begin(window, t->file, chunk, &d)) {
        t->damaged_chunks++;
        return !t->out.stopped;
    }
    if (filtered_thread_follows(t, chunk, window->buffer))
        t->chunk = chunk;
    else
        filtered_thread_begin_run(t, chunk, window->buffer, &d);
    do
        filtered_thread_events(t, &d);
    while (window_more(window, &d));
    t->damaged_chunks += d.damaged;
    return !t->out.stopped;
}

/* The calls that wait and have not lasted until the thread's end are not shown. They are the innermost ones. */
static void filtered_thread_drop_short(struct filtered_thread *t, uint64_t end)
{
    while (t->waiting && less(end, filtered_thread_enter_time(t, filtered_thread_top(t))) < t->filter->shortest)
        filtered_thread_pop(t);
    filtered_thread_flush(t);
}

void filtered_thread_end(struct filtered_thread *t)
{
    if (!t->chunk)
        return;
    const struct trace_thread *end = stack_thread_end(t->file, t->chunk, &t->state);
    filtered_thread_drop_short(t, end ? end->end_time : t->state.last);
    filtered_thread_end_interval(t, t->state.last);
    filtered_thread_end_chunk(t, 0);
}

void filtered_thread_free(struct filtered_thread *t)
{
    event_writer_free(&t->out);
    kept_extras_free(&t->kept);
    free(t->answers);
    free(t->stack);
}
