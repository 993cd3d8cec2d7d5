/* Follows each thread's stack over the session's timeline, and passes the start and end of each call to a visitor. It
 * ends open slices when recording is interrupted, and begins them again after it. */
#include "export/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"
#include "base/utf8.h"
#include "profile/interval_limits.h"
#include "profile/resolve.h"

struct slices_reader {
    const struct analysis *session;
    struct slices_visitor *visitor;
    uint64_t from, to;         /* limits of the selected part */
    struct decoded_extras cut; /* the extras of an interval that was cut */
    struct resolver *resolver;
    struct slices_thread **threads; /* by number */
    size_t thread_count, thread_room;
    struct number_index *numbers;
    struct slices_thread *current; /* cache: the thread of the last event */
};

/* ---- threads ---- */

static struct slices_thread *slices_new_thread(const struct slices_reader *s, const struct timeline_thread *of)
{
    const struct session_file *file = s->session->file;
    const struct trace_process *process = session_file_process(file, of->process);
    const struct trace_thread *thread = session_file_thread(file, of->thread);
    struct slices_thread *t = need_memory(1, sizeof *t);
    *t = (struct slices_thread){
        .process = of->process,
        .thread = of->thread,
        .pid = process ? process->pid : 0,
        .tid = thread ? thread->tid : 0,
        .number = (uint32_t)s->thread_count,
        .last = UINT64_MAX,
    };
    return t;
}

static struct slices_thread *slices_find_thread(struct slices_reader *s, const struct timeline_thread *of)
{
    if (s->current && s->current->thread == of->thread && s->current->process == of->process)
        return s->current;
    struct index_slot *slot = index_find(s->numbers, of->thread, of->process);
    if (slot->value_plus_1)
        return s->current = s->threads[slot->value_plus_1 - 1];
    struct slices_thread *t = slices_new_thread(s, of);
    GROW(s->threads, s->thread_count, s->thread_room);
    index_set(s->numbers, slot, of->thread, of->process, t->number);
    s->threads[s->thread_count++] = s->current = t;
    if (s->visitor->thread)
        s->visitor->thread(s->visitor, t);
    return t;
}

/* ---- slices ---- */

static void slices_begin_slice(const struct slices_reader *s, struct slices_thread *t, uint64_t time, bool is_call)
{
    struct call_slice *slice = &t->stack[t->open++];
    slice->begin = time;
    slice->is_call = is_call;
    slice->tag = 0;
    if (s->visitor->begin)
        s->visitor->begin(s->visitor, t, slice);
}

static void slices_end_slice(const struct slices_reader *s, struct slices_thread *t, uint64_t time, enum slice_end how)
{
    if (s->visitor->end)
        s->visitor->end(s->visitor, t, &t->stack[t->open - 1], time, how);
    t->open--;
}

/* Opens a slice for each call that was interrupted. */
static void slices_continue(const struct slices_reader *s, struct slices_thread *t)
{
    while (t->open < t->depth)
        slices_begin_slice(s, t, t->resume, false);
}

/* Ends all open slices: the time from `last` to `resume` is discarded. */
static void slices_interrupt(const struct slices_reader *s, struct slices_thread *t, uint64_t resume)
{
    while (t->open)
        slices_end_slice(s, t, t->last, SLICE_CONTINUES);
    t->resume = resume;
}

static void slices_push_call(const struct slices_reader *s, struct slices_thread *t, const struct timeline_event *event)
{
    if (event->kind != TIMELINE_BACK)
        event->call->note = resolver_function(s->resolver, event->thread->process, event->call->function, event->time);
    const size_t functions = s->session->profile->function_count;
    const bool inside = event->time >= s->from && selection_holds_on(s->session->selection, t->thread, event->time);
    if (inside)
        slices_continue(s, t);
    GROW(t->stack, t->depth, t->room);
    t->stack[t->depth++].function = event->call->note < functions ? event->call->note : (uint32_t)functions;
    if (inside)
        slices_begin_slice(s, t, event->time, event->kind == TIMELINE_ENTER);
}

static void slices_pop_call(const struct slices_reader *s, struct slices_thread *t, uint64_t time, enum slice_end how)
{
    if (!t->depth)
        return; /* the call was on a stack that was suspended and never resumed */
    if (t->open == t->depth)
        slices_end_slice(s, t, time, how);
    t->depth--;
}

/* ---- events ---- */

static void slices_report_off_cpu(const struct slices_reader *s, struct slices_thread *t,
                                  const struct timeline_event *event, uint64_t begin, uint64_t end)
{
    struct decoded_off_cpu off_cpu;
    if (!s->visitor->off_cpu)
        return;
    const uint8_t *at = event->extras->run;
    for (uint64_t last = 0;
         decode_next_off_cpu(event->extras, event->time - event->interval, event->time, &at, &last, &off_cpu);) {
        const uint64_t from = larger(off_cpu.begin, begin);
        const uint64_t to = smaller(smaller(off_cpu.begin + off_cpu.length, event->time), end);
        if (from < to)
            s->visitor->off_cpu(s->visitor, t, from, to, off_cpu.preempted);
    }
}

/* The extras of the part of the interval that is selected. */
static const struct decoded_extras *slices_extras(struct slices_reader *s, const struct timeline_event *event,
                                                  uint64_t begin, uint64_t from, uint64_t to)
{
    if (begin >= from && event->time < to)
        return event->extras;
    const struct interval interval = { begin, event->time, from, to };
    s->cut = interval_extras_within(event->extras, &interval);
    return &s->cut;
}

/* The part of the interval from `from` to `to`. */
static void slices_report_part(struct slices_reader *s, struct slices_thread *t, const struct timeline_event *event,
                               uint64_t from, uint64_t to)
{
    const uint64_t since = event->interval < event->time ? event->time - event->interval : 0;
    const uint64_t begin = larger(since, from), end = smaller(event->time, to);
    if (event->time < from || begin >= to)
        return;
    if (t->last == UINT64_MAX)
        t->resume = begin;
    else if (begin > t->last)
        slices_interrupt(s, t, begin);
    if (t->last == UINT64_MAX || begin > t->last)
        t->last = begin;
    if (event->interval && begin < end) {
        slices_continue(s, t);
        t->extras = slices_extras(s, event, since, from, to);
        slices_report_off_cpu(s, t, event, begin, to);
        if (s->visitor->interval)
            s->visitor->interval(s->visitor, t, begin, end, t->extras);
    }
    if (end > t->last)
        t->last = end;
}

/* The parts of the interval in the thread's ranges. Open slices end where a range does. */
static void slices_report_interval(struct slices_reader *s, struct slices_thread *t, const struct timeline_event *event)
{
    const struct thread_ranges *within = s->session->selection ? s->session->selection->within : NULL;
    if (!within) {
        slices_report_part(s, t, event, s->from, s->to);
        return;
    }
    size_t count;
    const struct thread_range *ranges = thread_ranges_of(within, t->thread, &count);
    while (t->next_range < count && ranges[t->next_range].end <= less(event->time, event->interval))
        t->next_range++;
    for (size_t i = t->next_range; i < count && ranges[i].begin <= event->time; i++)
        slices_report_part(s, t, event, ranges[i].begin, ranges[i].end);
    if (t->open && !thread_ranges_hold(within, t->thread, event->time))
        slices_interrupt(s, t, t->last);
}

static void slices_report_mark(const struct slices_reader *s, struct slices_thread *t,
                               const struct timeline_event *event)
{
    if (!s->visitor->mark || !selection_holds_on(s->session->selection, t->thread, event->mark_time))
        return;
    char *text = need_copy(event->mark_text, event->mark_length);
    s->visitor->mark(s->visitor, t, event->mark_time, event->mark_number, text);
    free(text);
}

static bool slices_add_event(void *context, const struct timeline_event *event)
{
    struct slices_reader *s = context;
    struct slices_thread *t = slices_find_thread(s, event->thread);
    slices_report_interval(s, t, event);
    if (event->time >= s->to)
        return true; /* other threads' intervals can still begin within the part */
    switch (event->kind) {
    case TIMELINE_ENTER:
    case TIMELINE_FOUND:
    case TIMELINE_BACK:
        slices_push_call(s, t, event);
        break;
    case TIMELINE_EXIT:
        slices_pop_call(s, t, event->time, SLICE_RETURNED);
        break;
    case TIMELINE_LEFT:
        slices_pop_call(s, t, event->time, SLICE_LEFT);
        break;
    case TIMELINE_OPEN:
        slices_pop_call(s, t, event->time, SLICE_UNENDED);
        break;
    case TIMELINE_SET_ASIDE:
        slices_pop_call(s, t, event->time, SLICE_CONTINUES);
        break;
    case TIMELINE_MARK:
        slices_report_mark(s, t, event);
        break;
    case TIMELINE_PAUSE:
    case TIMELINE_RESUME: /* the time between them is in no interval */
    case TIMELINE_INTERVAL:
        break;
    }
    return true;
}

static bool slices_wants_thread(void *context, uint32_t process, uint32_t thread)
{
    const struct slices_reader *s = context;
    const bool one = s->visitor->only_process || s->visitor->only_thread;
    return (!one || (process == s->visitor->only_process && thread == s->visitor->only_thread)) &&
           selection_takes(s->session->selection, s->session->file, process, thread);
}

/* Ends the slices of calls that end after the selected part. */
static void slices_end_thread(const struct slices_reader *s, struct slices_thread *t)
{
    while (t->open)
        slices_end_slice(s, t, t->last, SLICE_UNENDED);
}

void slices_run(const struct analysis *session, struct slices_visitor *visitor)
{
    const struct selection *selection = session->selection;
    struct slices_reader s = { .session = session, .visitor = visitor, .to = UINT64_MAX };
    if (selection && selection->cut) {
        s.from = selection->from;
        s.to = selection->to;
    }
    s.resolver = resolver_new(session->file, session->profile);
    s.numbers = index_new();
    timeline_run_part(session->file, &(struct timeline_part){ .begin = s.from, .wants = slices_wants_thread },
                      slices_add_event, &s);
    for (size_t i = 0; i < s.thread_count; i++) {
        slices_end_thread(&s, s.threads[i]);
        free(s.threads[i]->stack);
        free(s.threads[i]);
    }
    free(s.threads);
    index_free(s.numbers);
    resolver_free(s.resolver);
}

/* ---- other moments ---- */

bool slices_hold(const struct analysis *session, uint32_t process, uint64_t time)
{
    return selection_holds(session->selection, time) &&
           selection_takes_process(session->selection, session->file, process);
}

struct slices_events {
    const struct analysis *session;
    trace_event_taker *take;
    void *context;
};

static bool slices_take_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    const struct slices_events *s = context;
    const struct selection *selection = s->session->selection;
    if (!selection_holds(selection, event->time) || !selection_holds_event(selection, event->thread, event->time) ||
        !selection_takes(selection, s->session->file, event->process, event->thread))
        return true;
    return s->take(s->context, event, class);
}

void slices_follow_events(const struct analysis *session, uint32_t thread, trace_event_taker *take, void *context)
{
    struct slices_events s = { session, take, context };
    trace_events_follow(session->file, thread, slices_take_event, &s);
}

/* ---- times and names ---- */

uint64_t slices_ns(const struct analysis *session, uint64_t time)
{
    const struct dwell_file_header *h = &session->file->header;
    return time > h->start_ticks ? ticks_to_ns(time - h->start_ticks, h->ticks_per_second) : 0;
}

char *slices_process_name(const struct analysis *session, uint32_t process)
{
    const struct trace_process *p = session_file_process(session->file, process);
    char *name = p && p->name[0] ? need_copy(p->name, strlen(p->name)) : names_module(p ? p->path : "");
    char *valid = utf8_repair(name);
    free(name);
    return valid;
}

char *slices_thread_name(const struct analysis *session, uint32_t thread)
{
    return utf8_repair(analysis_thread_name(session, thread));
}
