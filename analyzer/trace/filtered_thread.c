/* Leaves calls out of a thread's events: follows its stack, decides which calls are shown, and writes the others'
 * events again. */
#include "trace/filtered_thread.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "trace/chunk_window.h"

enum { USUAL_CHUNK = 256 << 10, FRAME_SHARE = 64 };

/* ---- the stack ---- */

static struct filtered_call *filtered_thread_top(const struct filtered_thread *thread)
{
    return thread->depth ? &thread->stack[thread->depth - 1] : NULL;
}

static bool filtered_thread_is_ignoring(const struct filtered_thread *thread)
{
    return thread->depth && filtered_thread_top(thread)->kind == FILTERED_IGNORED;
}

/* The enter time as recorded, which moves by pauses, and as it is written, which also moves by ignored calls. */
static uint64_t filtered_thread_recorded_time(const struct filtered_thread *thread, const struct filtered_call *call)
{
    return call->entered + thread->paused;
}

static uint64_t filtered_thread_enter_time(const struct filtered_thread *thread, const struct filtered_call *call)
{
    return filtered_thread_recorded_time(thread, call) + thread->ignored - call->ignored_before;
}

static enum call_action filtered_thread_judge(struct filtered_thread *thread, uint64_t function, uint64_t time)
{
    while (thread->process && thread->generation < thread->process->change_count &&
           thread->process->changes[thread->generation] <= time)
        thread->generation++;
    struct filtered_answer *answer = &thread->answers[(function ^ function >> 12) % FILTERED_CACHE];
    if (answer->function != function || answer->generation != thread->generation + 1)
        *answer = (struct filtered_answer){
            .function = function,
            .generation = thread->generation + 1,
            .action = thread->filter->judge(thread->filter->context, thread->chunk->process, function, time),
        };
    return answer->action;
}

/* How a call of the function is filtered within the innermost call. */
static enum filtered_kind filtered_thread_kind(struct filtered_thread *thread, uint64_t function, uint64_t time)
{
    if (filtered_thread_is_ignoring(thread))
        return FILTERED_IGNORED;
    const enum call_action action = filtered_thread_judge(thread, function, time);
    if (action == CALL_IGNORED)
        return FILTERED_IGNORED;
    const uint32_t shown = thread->depth ? filtered_thread_top(thread)->shown : 0;
    if (action == CALL_SUPPRESSED || (thread->filter->depth && shown >= thread->filter->depth))
        return FILTERED_HIDDEN;
    return thread->filter->shortest ? FILTERED_WAITING : FILTERED_SHOWN;
}

static struct filtered_call *filtered_thread_push(struct filtered_thread *thread, uint64_t function,
                                                  uint64_t enter_time, uint64_t site, enum filtered_kind kind)
{
    const uint32_t shown = thread->depth ? filtered_thread_top(thread)->shown : 0;
    GROW(thread->stack, thread->depth, thread->room);
    struct filtered_call *call = &thread->stack[thread->depth++];
    *call = (struct filtered_call){
        .function = function,
        .site = site,
        .entered = enter_time - thread->paused,
        .ignored_before = thread->ignored,
        .cost = thread->cost,
        .shown = shown + (kind == FILTERED_SHOWN || kind == FILTERED_WAITING),
        .kind = (uint8_t)kind,
    };
    return call;
}

static void filtered_thread_pop(struct filtered_thread *thread)
{
    const struct filtered_call *call = filtered_thread_top(thread);
    if (call->kind == FILTERED_WAITING)
        thread->waiting--;
    thread->depth--;
    if (thread->depth)
        filtered_thread_top(thread)->shows |= call->kind == FILTERED_SHOWN || call->shows;
}

/* ---- output ---- */

/* The calls that the output knows to be open. */
static void filtered_thread_begin_chunk(struct filtered_thread *thread, uint32_t sequence, uint64_t start)
{
    struct event_writer *w = &thread->out;
    uint64_t *sites = need_memory(thread->depth, sizeof *sites);
    size_t count = 0;
    bool any = false;
    event_writer_begin(w, thread->chunk->process, thread->chunk->thread, sequence, start);
    for (size_t i = 0; i < thread->depth; i++) {
        const struct filtered_call *call = &thread->stack[i];
        if (call->kind != FILTERED_SHOWN)
            continue;
        event_writer_put_frame(w, call->function, filtered_thread_enter_time(thread, call));
        any |= call->site != 0;
        sites[count++] = call->site;
    }
    if (any)
        event_writer_put_open_sites(w, sites, count);
    free(sites);
    thread->out_paused = false;
}

static void filtered_thread_end_chunk(struct filtered_thread *thread, uint32_t gap)
{
    const bool written = event_writer_end(&thread->out);
    thread->out.chunk.sequence += written ? 1 + gap : 0;
}

/* Large chunks are divided, so that several workers can read them. */
static void filtered_thread_divide_chunk(struct filtered_thread *thread)
{
    if (thread->out.length < USUAL_CHUNK || thread->out.length < FRAME_SHARE * thread->depth || thread->unwound ||
        thread->out_paused)
        return;
    const uint64_t last = thread->out.last;
    filtered_thread_end_chunk(thread, 0);
    filtered_thread_begin_chunk(thread, thread->out.chunk.sequence, last);
}

/* What is known of the time since the last event. `cost`: the thread's costs until the event. */
static void filtered_thread_put_extras(struct filtered_thread *thread, uint64_t time, uint64_t cost)
{
    struct event_writer *w = &thread->out;
    const uint64_t ticks = smaller(less(cost, thread->cost_noted) / DWELL_PROBE_FRACTION, less(time, w->last));
    kept_extras_put(&thread->kept, w, less(time, w->last));
    if (ticks) {
        event_writer_put_head(w, DWELL_EXT_RUNTIME, 3);
        event_writer_put_number(w, ticks, 3);
        thread->cost_noted += ticks * DWELL_PROBE_FRACTION;
    }
    if (thread->unwound) {
        event_writer_put_head(w, DWELL_EXT_UNWIND, 2);
        event_writer_put_number(w, thread->unwound, 2);
    }
    thread->unwound = 0;
}

static void filtered_thread_put_enter(struct filtered_thread *thread, struct filtered_call *call, uint64_t time,
                                      uint64_t cost)
{
    const bool direct = call > thread->stack && call[-1].kind == FILTERED_SHOWN;
    filtered_thread_put_extras(thread, time, cost);
    event_writer_put_site(&thread->out, call->site, direct ? call[-1].function : 0);
    event_writer_enter(&thread->out, time, call->function);
    call->kind = FILTERED_SHOWN;
}

/* Calls that wait are written before anything that must be written after their enters. */
static void filtered_thread_flush(struct filtered_thread *thread)
{
    for (size_t i = thread->waiting_from; thread->waiting && i < thread->depth; i++)
        if (thread->stack[i].kind == FILTERED_WAITING) {
            filtered_thread_put_enter(thread, &thread->stack[i], filtered_thread_enter_time(thread, &thread->stack[i]),
                                      thread->stack[i].cost);
            thread->waiting--;
        }
}

static void filtered_thread_put_control(struct filtered_thread *thread, uint64_t time, unsigned type, const void *words,
                                        unsigned count)
{
    filtered_thread_flush(thread);
    filtered_thread_put_extras(thread, time, thread->cost);
    event_writer_control(&thread->out, time, type, count);
    event_writer_put_words(&thread->out, words, count);
    thread->out_paused = type == DWELL_EXT_PAUSE;
}

static void filtered_thread_put_resume(struct filtered_thread *thread, uint64_t time, uint32_t ended)
{
    const uint16_t words[] = { (uint16_t)ended, (uint16_t)(ended >> 16) };
    filtered_thread_put_control(thread, time, DWELL_EXT_RESUME, words, 2);
}

/* Ends the interval before `time` if it belongs to a shown call. */
static void filtered_thread_end_interval(struct filtered_thread *thread, uint64_t time)
{
    const bool any = thread->unwound || (thread->depth && filtered_thread_top(thread)->shown);
    if (any && !thread->out_paused && thread->out.open &&
        (time > thread->out.last || thread->kept.any || thread->unwound))
        filtered_thread_put_control(thread, time, DECODED_EXT_INTERVAL, NULL, 0);
}

static void filtered_thread_put_opened(struct filtered_thread *thread, const struct filtered_call *call)
{
    event_writer_put_head(&thread->out, DWELL_EXT_OPEN, call->site ? 11 : 7);
    event_writer_put_number(&thread->out, call->function, 4);
    event_writer_put_number(&thread->out, filtered_thread_enter_time(thread, call), 3);
    event_writer_put_number(&thread->out, call->site, call->site ? 4 : 0);
}

/* Writes the control event whose calls are known now. In a pause for an ignored call, a RESUME that changes nothing is
 * left out. */
static void filtered_thread_put_listing(struct filtered_thread *thread)
{
    const struct filtered_control c = thread->control;
    bool changed = c.ended || c.type == DWELL_EXT_SWITCH || !thread->out_paused || !filtered_thread_is_ignoring(thread);
    if (!c.type)
        return;
    thread->control.type = 0;
    for (size_t i = c.opened; i < thread->depth && !changed; i++)
        changed = thread->stack[i].kind == FILTERED_SHOWN;
    if (!changed)
        return;
    filtered_thread_put_extras(thread, c.time, thread->cost);
    for (size_t i = c.opened; i < thread->depth; i++)
        if (thread->stack[i].kind == FILTERED_SHOWN)
            filtered_thread_put_opened(thread, &thread->stack[i]);
    event_writer_control(&thread->out, c.time, c.type, 2);
    event_writer_put_number(&thread->out, c.type == DWELL_EXT_SWITCH ? c.stack_number : c.ended, 2);
    thread->out_paused = false;
    if (filtered_thread_is_ignoring(thread))
        filtered_thread_put_control(thread, c.time, DWELL_EXT_PAUSE, NULL, 0);
}

/* ---- costs of probes that are not shown ---- */

static void filtered_thread_add_call_cost(struct filtered_thread *thread)
{
    if (thread->process)
        thread->cost += (uint64_t)thread->process->probes.in_callee + thread->process->probes.in_caller;
}

/* The cost of the first callee is subtracted by readers if a callee is shown. */
static void filtered_thread_add_callee_cost(struct filtered_thread *thread, const struct filtered_call *call)
{
    if (thread->process && call->calls && !(call->kind == FILTERED_SHOWN && call->shows))
        thread->cost += thread->process->probes.first_callee;
}

/* ---- actions on events ---- */

static size_t filtered_thread_depth(const void *to)
{
    const struct filtered_thread *thread = to;
    return thread->depth;
}

static void filtered_thread_interval(void *to, const struct decoder *d, uint64_t begin)
{
    struct filtered_thread *thread = to;
    const uint64_t length = d->time - begin;
    if (filtered_thread_is_ignoring(thread)) {
        thread->ignored += length;
        return;
    }
    if (!d->has_extras)
        return;
    if (d->extras.flagged)
        filtered_thread_flush(thread);
    kept_extras_add(&thread->kept, &d->extras, length);
    thread->cost += decode_runtime(&d->extras, length) * DWELL_PROBE_FRACTION;
    if (kept_extras_are_many(&thread->kept))
        filtered_thread_put_control(thread, d->time, DECODED_EXT_INTERVAL, NULL, 0);
}

static void filtered_thread_skip(void *to, const struct decoder *d, uint64_t begin)
{
    struct filtered_thread *thread = to;
    (void)d;
    filtered_thread_end_interval(thread, begin);
}

static void filtered_thread_delay(void *to, uint64_t ticks)
{
    struct filtered_thread *thread = to;
    thread->paused += ticks;
}

static void filtered_thread_enter(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    struct filtered_call *caller = filtered_thread_top(thread);
    filtered_thread_put_listing(thread);
    if (caller)
        caller->calls = true;
    const bool ignoring = filtered_thread_is_ignoring(thread);
    const enum filtered_kind kind = filtered_thread_kind(thread, d->function, d->time);
    if (kind == FILTERED_SHOWN)
        filtered_thread_divide_chunk(thread);
    struct filtered_call *call =
        filtered_thread_push(thread, d->function, d->time, decode_site(&d->site, caller ? caller->function : 0), kind);
    if (kind == FILTERED_SHOWN)
        filtered_thread_put_enter(thread, call, d->time, thread->cost);
    else if (kind == FILTERED_WAITING && thread->waiting++ == 0)
        thread->waiting_from = thread->depth - 1;
    else if (kind == FILTERED_HIDDEN)
        filtered_thread_add_call_cost(thread);
    else if (kind == FILTERED_IGNORED && !ignoring && !thread->out_paused)
        filtered_thread_put_control(thread, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

/* The innermost call ends, and waits: it is shown if it has lasted. */
static void filtered_thread_decide(struct filtered_thread *thread, uint64_t time)
{
    const struct filtered_call *call = filtered_thread_top(thread);
    if (call->kind != FILTERED_WAITING)
        return;
    if (less(time, filtered_thread_enter_time(thread, call)) >= thread->filter->shortest)
        filtered_thread_flush(thread);
    else
        filtered_thread_add_call_cost(thread);
}

/* An ignored call ends: the pause ends, too, if it was the outermost one. */
static void filtered_thread_end_ignored(struct filtered_thread *thread, uint64_t time)
{
    filtered_thread_pop(thread);
    if (filtered_thread_is_ignoring(thread))
        return;
    if (thread->out_paused)
        filtered_thread_put_resume(thread, time, 0);
    if (thread->process)
        thread->cost += thread->process->probes.in_caller;
}

/* The innermost call ends, at a known time. Ends it if it is ignored; else decides whether it is shown, and leaves it
 * on the stack. */
static bool filtered_thread_begin_end(struct filtered_thread *thread, uint64_t time)
{
    filtered_thread_put_listing(thread);
    if (filtered_thread_is_ignoring(thread)) {
        filtered_thread_end_ignored(thread, time);
        return false;
    }
    filtered_thread_decide(thread, time);
    return true;
}

static void filtered_thread_exit(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    if (!filtered_thread_begin_end(thread, d->time))
        return;
    filtered_thread_add_callee_cost(thread, filtered_thread_top(thread));
    if (filtered_thread_top(thread)->kind == FILTERED_SHOWN) {
        filtered_thread_divide_chunk(thread);
        filtered_thread_put_extras(thread, d->time, thread->cost);
        event_writer_exit(&thread->out, d->time);
    }
    filtered_thread_pop(thread);
}

static void filtered_thread_left(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    if (!filtered_thread_begin_end(thread, d->time))
        return;
    thread->unwound += filtered_thread_top(thread)->kind == FILTERED_SHOWN;
    filtered_thread_pop(thread);
}

static void filtered_thread_ended(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    (void)d;
    thread->control.ended += filtered_thread_top(thread)->kind == FILTERED_SHOWN;
    filtered_thread_pop(thread);
    thread->control.opened = thread->depth;
}

static void filtered_thread_stray_exit(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    filtered_thread_put_listing(thread);
    filtered_thread_put_extras(thread, d->time, thread->cost);
    event_writer_exit(&thread->out, d->time);
}

static void filtered_thread_set_aside(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    filtered_thread_flush(thread);
    thread->depth = 0;
    thread->control = (struct filtered_control){ .type = DWELL_EXT_SWITCH,
                                                 .time = d->time,
                                                 .stack_number = decode_number(d->control, 2) };
}

static void filtered_thread_open(void *to, const struct decoder *d, const struct dwell_frame *frame, uint64_t site)
{
    struct filtered_thread *thread = to;
    const enum filtered_kind kind = filtered_thread_kind(thread, frame->function, d->time);
    filtered_thread_push(thread, frame->function, frame->enter_time, site,
                         kind == FILTERED_WAITING ? FILTERED_SHOWN : kind);
}

static void filtered_thread_pause(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    if (!thread->out_paused)
        filtered_thread_put_control(thread, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

static void filtered_thread_resume(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    thread->control = (struct filtered_control){ .type = DWELL_EXT_RESUME, .time = d->time, .opened = thread->depth };
}

static void filtered_thread_mark(void *to, const struct decoder *d)
{
    struct filtered_thread *thread = to;
    filtered_thread_put_listing(thread);
    if (thread->out_paused)
        filtered_thread_put_resume(thread, d->time, 0);
    filtered_thread_put_control(thread, d->time, DWELL_EXT_MARK, d->control, d->control_length);
    if (filtered_thread_is_ignoring(thread))
        filtered_thread_put_control(thread, d->time, DWELL_EXT_PAUSE, NULL, 0);
}

static void filtered_thread_events(struct filtered_thread *thread, struct decoder *d)
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
        stack_apply(&actions, thread, &thread->state, event, d);
        filtered_thread_put_listing(thread);
        d->site = (struct decoded_site){ 0 };
    }
}

/* ---- chunks ---- */

/* Whether the chunk continues where the one before it has ended. */
static bool filtered_thread_follows(const struct filtered_thread *thread, const struct trace_chunk *chunk,
                                    const uint8_t *buffer)
{
    const struct trace_chunk *before = thread->chunk;
    if (!before || before->sequence + 1 != chunk->sequence || thread->state.paused || chunk->begins_paused ||
        chunk->start_time != thread->state.last || chunk->depth != thread->depth)
        return false;
    for (uint32_t i = 0; i < chunk->depth; i++)
        if (decode_frame(buffer, i).function != thread->stack[i].function)
            return false;
    return true;
}

/* Ends the output before a gap in the thread's events. Calls that wait there are shown. */
static void filtered_thread_end_run(struct filtered_thread *thread, uint64_t end)
{
    filtered_thread_flush(thread);
    filtered_thread_end_interval(thread, end);
}

/* The calls that are open at the beginning of a chunk after a gap. Those of before may be among them. */
static void filtered_thread_find_frames(struct filtered_thread *thread, const struct trace_chunk *chunk,
                                        const uint8_t *buffer, const struct decoder *d)
{
    size_t same = 0;
    struct open_sites sites;
    decode_open_sites(&sites, d);
    for (; same < thread->depth && same < chunk->depth; same++) {
        const struct dwell_frame frame = stack_frame(chunk, buffer, (uint32_t)same);
        const struct filtered_call *call = &thread->stack[same];
        if (frame.function != call->function || frame.enter_time != filtered_thread_recorded_time(thread, call))
            break;
        (void)decode_next_open_site(&sites);
    }
    thread->depth = same;
    for (uint32_t i = (uint32_t)same; i < chunk->depth; i++) {
        const struct dwell_frame frame = stack_frame(chunk, buffer, i);
        filtered_thread_open(thread, d, &frame, decode_next_open_site(&sites));
    }
}

static void filtered_thread_begin_run(struct filtered_thread *thread, const struct trace_chunk *chunk,
                                      const uint8_t *buffer, const struct decoder *d)
{
    const struct trace_chunk *before = thread->chunk;
    if (before) {
        filtered_thread_end_run(thread, thread->state.last);
        filtered_thread_end_chunk(thread, chunk->sequence != before->sequence + 1);
        if (thread->state.paused)
            thread->paused += less(chunk->start_time, thread->state.last);
    } else {
        thread->out.upper[0] = chunk->upper[0];
        thread->out.upper[1] = chunk->upper[1];
        thread->out.chunk.sequence = chunk->sequence;
    }
    thread->chunk = chunk;
    thread->process = session_file_process(thread->file, chunk->process);
    stack_begin(&thread->state, chunk);
    filtered_thread_find_frames(thread, chunk, buffer, d);
    filtered_thread_begin_chunk(thread, thread->out.chunk.sequence, chunk->start_time);
    if (filtered_thread_is_ignoring(thread))
        filtered_thread_put_control(thread, chunk->start_time, DWELL_EXT_PAUSE, NULL, 0);
}

void filtered_thread_begin(struct filtered_thread *thread, const struct session_file *file,
                           const struct stream_filter *filter, chunk_taker *take, void *context)
{
    *thread = (struct filtered_thread){ .file = file, .filter = filter };
    thread->out.take = take;
    thread->out.context = context;
    thread->answers = need_memory(FILTERED_CACHE, sizeof *thread->answers);
}

bool filtered_thread_add(struct filtered_thread *thread, struct chunk_window *window, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (!window_begin(window, thread->file, chunk, &d)) {
        thread->damaged_chunks++;
        return !thread->out.stopped;
    }
    if (filtered_thread_follows(thread, chunk, window->buffer))
        thread->chunk = chunk;
    else
        filtered_thread_begin_run(thread, chunk, window->buffer, &d);
    do
        filtered_thread_events(thread, &d);
    while (window_more(window, &d));
    thread->damaged_chunks += d.damaged;
    return !thread->out.stopped;
}

/* The calls that wait and have not lasted until the thread's end are not shown. They are the innermost ones. */
static void filtered_thread_drop_short(struct filtered_thread *thread, uint64_t end)
{
    while (thread->waiting &&
           less(end, filtered_thread_enter_time(thread, filtered_thread_top(thread))) < thread->filter->shortest)
        filtered_thread_pop(thread);
    filtered_thread_flush(thread);
}

void filtered_thread_end(struct filtered_thread *thread)
{
    if (!thread->chunk)
        return;
    const struct trace_thread *end = stack_thread_end(thread->file, thread->chunk, &thread->state);
    filtered_thread_drop_short(thread, end ? end->end_time : thread->state.last);
    filtered_thread_end_interval(thread, thread->state.last);
    filtered_thread_end_chunk(thread, 0);
}

void filtered_thread_free(struct filtered_thread *thread)
{
    event_writer_free(&thread->out);
    kept_extras_free(&thread->kept);
    free(thread->answers);
    free(thread->stack);
}
