/* Replays a session's calls: decides which calls become lines, and holds back lines until they are certain. */
#include "report/replay.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "report/replay_values.h"
#include "symbols/typed_name.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"

enum {
    MAX_HELD = 4096, /* lines held back because an earlier call may still become a whole call */
    FAR = 20,        /* an end that is more lines from its start repeats the function */
};

/* An open call. */
struct replay_call {
    const struct function_name *function; /* NULL if not looked up yet */
    uint64_t begin;
    uint64_t age;  /* when it was found */
    uint64_t line; /* number of its line, or NO_LINE */
    uint64_t address;
    const struct recorded_row *values; /* NULL if it has none */
    unsigned notes;
    size_t depth; /* from the root */
    bool visible;
};

#define NO_LINE UINT64_MAX

struct replay_thread {
    uint32_t process, serial;
    const struct trace_thread *thread;
    struct replay_call *calls;
    size_t depth, room;
    size_t root; /* 1 + index of the outermost open call of the root function; 0 if none is open */
};

struct replay_held_line {
    struct replay_line line;
    bool undecided, dropped;
};

struct replay {
    const struct session_file *file;
    const struct replay_options *options;
    struct namer *namer;
    replay_taker *take;
    void *context;
    struct replay_thread **threads; /* in order of appearance */
    size_t thread_count, thread_room;
    struct number_index *thread_index;
    struct number_index *root_names; /* cache: name -> whether it matches a root */
    struct replay_held_line *lines;  /* a ring, by number */
    size_t line_room;                /* a power of two */
    uint64_t first_line, end_line;
    size_t next_event; /* index of the next trace event */
    bool begun, enough, root_found;
};

/* ---- lines ---- */

static struct replay_held_line *replay_line_at(const struct replay *r, uint64_t number)
{
    return &r->lines[number & (r->line_room - 1)];
}

/* Removes dropped lines from the ring. */
static void replay_compact_lines(struct replay *r)
{
    const uint64_t first = r->first_line, count = r->end_line - first;
    uint64_t *moved = need_memory(count + 1, sizeof *moved), kept = first;
    for (uint64_t i = 0; i < count; i++) {
        moved[i] = kept;
        if (!replay_line_at(r, first + i)->dropped)
            *replay_line_at(r, kept++) = *replay_line_at(r, first + i);
    }
    for (size_t i = 0; i < r->thread_count; i++)
        for (size_t at = 0; at < r->threads[i]->depth; at++) {
            struct replay_call *call = &r->threads[i]->calls[at];
            if (call->line != NO_LINE && call->line >= first)
                call->line = moved[call->line - first];
        }
    r->end_line = kept;
    free(moved);
}

static void replay_make_room(struct replay *r)
{
    if (r->end_line - r->first_line < r->line_room)
        return;
    replay_compact_lines(r);
    if (r->end_line - r->first_line <= r->line_room / 2)
        return;
    struct replay_held_line *more = need_memory(r->line_room * 2, sizeof *more);
    for (uint64_t i = r->first_line; i < r->end_line; i++)
        more[i & (r->line_room * 2 - 1)] = *replay_line_at(r, i);
    free(r->lines);
    r->lines = more;
    r->line_room *= 2;
}

static uint64_t replay_push_line(struct replay *r, const struct replay_thread *thread, struct replay_line line,
                                 bool undecided)
{
    replay_make_room(r);
    line.thread = thread->thread;
    line.process = thread->process;
    *replay_line_at(r, r->end_line) = (struct replay_held_line){ .line = line, .undecided = undecided };
    return r->end_line++;
}

/* Drops the line of a call that was too short. */
static void replay_drop_line(struct replay *r, struct replay_held_line *held)
{
    held->undecided = false;
    held->dropped = true;
    while (r->end_line > r->first_line && replay_line_at(r, r->end_line - 1)->dropped)
        r->end_line--;
}

/* Reports all leading lines that are decided. If the first has waited too long, it is decided to be a begin. */
static void replay_flush_lines(struct replay *r, uint64_t now, bool all)
{
    for (; r->first_line < r->end_line; r->first_line++) {
        struct replay_held_line *held = replay_line_at(r, r->first_line);
        const bool long_enough = now >= held->line.time && now - held->line.time >= r->options->shortest;
        if (held->undecided && !all && (r->end_line - r->first_line < MAX_HELD || !long_enough))
            return;
        held->undecided = false;
        if (!held->dropped && !r->enough && !r->take(r->context, &held->line))
            r->enough = true;
        free(held->line.text);
        held->line.text = NULL;
    }
}

/* The line of that number if it is not decided yet, or NULL. */
static struct replay_held_line *replay_undecided_line(const struct replay *r, uint64_t number)
{
    if (number == NO_LINE || number < r->first_line)
        return NULL;
    struct replay_held_line *held = replay_line_at(r, number);
    return held->undecided ? held : NULL;
}

/* Something is shown within the innermost `depth` calls, so their lines are begins. */
static void replay_decide_below(struct replay *r, const struct replay_thread *thread, size_t depth)
{
    while (depth-- > 0) {
        struct replay_held_line *held = replay_undecided_line(r, thread->calls[depth].line);
        if (held)
            held->undecided = false;
        else if (thread->calls[depth].visible)
            return; /* calls around it are decided, too */
    }
}

/* ---- threads ---- */

static struct replay_thread *replay_find_thread(struct replay *r, const struct timeline_thread *thread)
{
    struct index_slot *slot = index_find(r->thread_index, thread->thread, thread->process);
    if (slot->value_plus_1)
        return r->threads[slot->value_plus_1 - 1];
    struct replay_thread *t = need_memory(1, sizeof *t);
    *t = (struct replay_thread){
        .process = thread->process,
        .serial = thread->thread,
        .thread = session_file_thread(r->file, thread->thread),
    };
    GROW(r->threads, r->thread_count, r->thread_room);
    index_set(r->thread_index, slot, thread->thread, thread->process, (uint32_t)r->thread_count);
    r->threads[r->thread_count++] = t;
    return t;
}

/* ---- calls ---- */

static bool replay_matches_root(const struct replay *r, const struct function_name *name)
{
    const struct named_function f = function_named(name, 0);
    for (size_t i = 0; i < r->options->roots->count; i++)
        if (typed_name_matches(&f, short_name_is_glob, r->options->roots->list[i]))
            return true;
    return false;
}

/* Matches each name only once, as the namer keeps them. */
static bool replay_is_root(const struct replay *r, const struct function_name *name)
{
    struct index_slot *slot = index_find(r->root_names, (uintptr_t)name, 0);
    if (!slot->value_plus_1)
        index_set(r->root_names, slot, (uintptr_t)name, 0, replay_matches_root(r, name));
    slot = index_find(r->root_names, (uintptr_t)name, 0);
    return slot->value_plus_1 > 1;
}

static const struct function_name *replay_call_name(const struct replay *r, const struct replay_thread *thread,
                                                    struct replay_call *call, uint64_t time)
{
    if (!call->function)
        call->function = namer_find_function(r->namer, thread->process, call->address, time);
    return call->function;
}

static void replay_show_begin(struct replay *r, struct replay_thread *thread, size_t at, uint64_t now)
{
    struct replay_call *call = &thread->calls[at];
    if (!call->visible)
        return;
    if (!r->options->shortest)
        replay_decide_below(r, thread, at);
    call->line = replay_push_line(r, thread,
                                  (struct replay_line){
                                      .kind = REPLAY_BEGIN,
                                      .notes = call->notes,
                                      .time = call->begin,
                                      .has_time = true,
                                      .depth = call->depth,
                                      .function = replay_call_name(r, thread, call, now)->name,
                                      .values = call->values,
                                  },
                                  true);
}

/* Whether the options select the thread at that time. */
static bool replay_holds(const struct replay *r, const struct replay_thread *thread, uint64_t time)
{
    const struct selection *s = r->options->threads;
    return !s || !s->within || thread_ranges_hold(s->within, thread->serial, time);
}

static void replay_open_call(struct replay *r, struct replay_thread *thread, const struct timeline_event *event)
{
    const struct timeline_call *from = event->call;
    GROW(thread->calls, thread->depth, thread->room);
    const size_t at = thread->depth++;
    struct replay_call *call = &thread->calls[at];
    if (event->kind == TIMELINE_FOUND)
        event->call->note = 1; /* so that its age is known when its stack is resumed */
    const bool found = from->note && event->time > from->enter_time;
    const uint64_t age = found ? event->time - from->enter_time : 0;
    *call = (struct replay_call){
        .begin = from->enter_time,
        .age = age > from->elapsed ? age - from->elapsed : 0,
        .line = NO_LINE,
        .address = from->function,
        .notes = event->kind == TIMELINE_FOUND  ? REPLAY_BEGAN_BEFORE
                 : event->kind == TIMELINE_BACK ? REPLAY_BACK
                                                : 0,
    };
    if (r->options->values)
        call->values = replay_values_of(r->options->values, r->file, thread->process, thread->serial, from);
    if (event->kind == TIMELINE_BACK && r->begun)
        call->begin = event->time;
    if (r->options->roots && !thread->root && replay_is_root(r, replay_call_name(r, thread, call, event->time)))
        thread->root = at + 1;
    call->depth = thread->root ? at + 1 - thread->root : at;
    call->visible = replay_holds(r, thread, event->time) && (!r->options->roots || thread->root) &&
                    (!r->options->depth || call->depth < r->options->depth);
    if (r->begun)
        replay_show_begin(r, thread, at, event->time);
}

/* Decides the line of a call that has ended: whole, or too short to be shown. */
static void replay_decide_whole(struct replay *r, const struct replay_thread *thread, size_t at,
                                struct replay_held_line *held)
{
    if (held->line.duration < r->options->shortest) {
        replay_drop_line(r, held);
        return;
    }
    held->undecided = false;
    held->line.kind = REPLAY_CALL;
    replay_decide_below(r, thread, at);
}

static void replay_show_end(struct replay *r, struct replay_thread *thread, size_t at, struct replay_line end)
{
    struct replay_call *call = &thread->calls[at];
    struct replay_held_line *held = replay_undecided_line(r, call->line);
    if (held) {
        held->line.notes |= end.notes;
        held->line.duration = end.duration;
        held->line.has_duration = end.has_duration;
        replay_decide_whole(r, thread, at, held);
        return;
    }
    end.kind = REPLAY_END;
    end.depth = call->depth;
    end.function = call->function ? call->function->name : NULL;
    end.far = r->end_line - call->line > FAR;
    replay_push_line(r, thread, end, false);
}

static void replay_close_call(struct replay *r, struct replay_thread *thread, const struct timeline_event *event)
{
    static const unsigned notes[] = {
        [TIMELINE_LEFT] = REPLAY_LEFT, [TIMELINE_OPEN] = REPLAY_UNENDED, [TIMELINE_SET_ASIDE] = REPLAY_AWAY
    };
    if (!thread->depth)
        return; /* the call was on a stack that was suspended and never resumed */
    const size_t at = thread->depth - 1;
    const struct replay_call *call = &thread->calls[at];
    if (call->visible && call->line != NO_LINE)
        replay_show_end(r, thread, at,
                        (struct replay_line){
                            .notes = event->kind == TIMELINE_EXIT ? 0 : notes[event->kind],
                            .time = event->time,
                            .duration = call->age + event->call->elapsed,
                            .has_time = true,
                            .has_duration = true,
                        });
    thread->depth--;
    if (thread->root > thread->depth)
        thread->root = 0;
}

/* ---- between calls ---- */

/* Finds the depth of a line that is not a call. Returns false if the line is outside the selected calls. */
static bool replay_find_depth(const struct replay *r, const struct replay_thread *thread, size_t *depth)
{
    *depth = 0;
    for (size_t at = thread->depth; at-- > 0;)
        if (thread->calls[at].visible) {
            *depth = thread->calls[at].depth + 1;
            return true;
        }
    return !r->options->roots;
}

static void replay_show_between(struct replay *r, const struct replay_thread *thread, struct replay_line line)
{
    if (!replay_find_depth(r, thread, &line.depth)) {
        free(line.text);
        return;
    }
    if (!r->options->shortest || line.has_duration)
        replay_decide_below(r, thread, thread->depth);
    replay_push_line(r, thread, line, false);
}

static void replay_show_off_cpu(struct replay *r, const struct replay_thread *thread, enum replay_kind kind,
                                uint64_t ticks)
{
    if (ticks && ticks >= r->options->shortest)
        replay_show_between(r, thread, (struct replay_line){ .kind = kind, .duration = ticks, .has_duration = true });
}

/* Reports what the OS did in an interval, unless it was in a call that is not shown. How long page faults took is not
 * known, so none of them is long enough for --min. */
static void replay_show_interval(struct replay *r, const struct replay_thread *thread,
                                 const struct timeline_event *event)
{
    const bool within = r->options->threads && r->options->threads->within;
    if (within ? !replay_holds(r, thread, event->time - 1) : thread->depth && !thread->calls[thread->depth - 1].visible)
        return;
    if (event->extras->page_faults && !r->options->shortest)
        replay_show_between(r, thread,
                            (struct replay_line){ .kind = REPLAY_PAGE_FAULTS, .number = event->extras->page_faults });
    replay_show_off_cpu(r, thread, REPLAY_BLOCKED, event->extras->blocked);
    replay_show_off_cpu(r, thread, REPLAY_PREEMPTED, event->extras->preempted);
}

static void replay_show_mark(struct replay *r, const struct replay_thread *thread, const struct timeline_event *event)
{
    replay_show_between(r, thread,
                        (struct replay_line){
                            .kind = REPLAY_MARK,
                            .time = event->mark_time,
                            .has_time = true,
                            .number = event->mark_number,
                            .text = need_copy(event->mark_text, event->mark_length),
                        });
}

static void replay_show_event(struct replay *r, const struct trace_event *e)
{
    const struct replay_thread *thread =
        replay_find_thread(r, &(struct timeline_thread){ .process = e->process, .thread = e->thread });
    if (!replay_wants(r->file, r->options, e->process, e->thread) || !replay_holds(r, thread, e->time))
        return;
    const struct trace_events *events = r->options->events;
    char *name = event_name(r->file, e, &events->classes[e->class]);
    char *data = event_data_text(r->file, events, e, EVENT_SHORT_DATA);
    replay_show_between(r, thread,
                        (struct replay_line){
                            .kind = REPLAY_EVENT,
                            .time = e->time,
                            .has_time = true,
                            .text = need_text("%s%s%s", name, data[0] ? ": " : "", data),
                        });
    free(name);
    free(data);
}

/* Shows the trace events of the part up to a moment. */
static void replay_show_events(struct replay *r, uint64_t until)
{
    const struct trace_events *events = r->options->events;
    for (; events && r->next_event < events->count && events->list[r->next_event].time < until; r->next_event++)
        if (events->list[r->next_event].time >= r->options->from)
            replay_show_event(r, &events->list[r->next_event]);
}

/* ---- the part ---- */

static int replay_compare_threads(const void *a, const void *b)
{
    const struct replay_thread *x = *(const struct replay_thread *const *)a,
                               *y = *(const struct replay_thread *const *)b;
    return ORDER_BY(x, y, process, serial);
}

static struct replay_thread **replay_sorted_threads(const struct replay *r)
{
    struct replay_thread **sorted = need_memory(r->thread_count + 1, sizeof(struct replay_thread *));
    if (r->thread_count) {
        memcpy(sorted, r->threads, r->thread_count * sizeof(struct replay_thread *));
        qsort(sorted, r->thread_count, sizeof(struct replay_thread *), replay_compare_threads);
    }
    return sorted;
}

/* Reports the calls that are open at the part's begin. */
static void replay_begin_part(struct replay *r)
{
    struct replay_thread **sorted = replay_sorted_threads(r);
    r->begun = true;
    for (size_t i = 0; i < r->thread_count; i++)
        for (size_t at = 0; at < sorted[i]->depth; at++) {
            sorted[i]->calls[at].notes = REPLAY_BEGAN_BEFORE;
            replay_show_begin(r, sorted[i], at, r->options->from);
        }
    free(sorted);
}

/* Ends the lines of the calls that are open at the part's end. */
static void replay_end_part(struct replay *r)
{
    const uint64_t end = r->options->to;
    struct replay_thread **sorted = replay_sorted_threads(r);
    for (size_t i = 0; i < r->thread_count && r->begun; i++)
        for (size_t at = sorted[i]->depth; at-- > 0;) {
            const struct replay_call *call = &sorted[i]->calls[at];
            struct replay_held_line *held = replay_undecided_line(r, call->line);
            if (held && end - call->begin < r->options->shortest) {
                replay_drop_line(r, held);
            } else if (call->line != NO_LINE) { /* the duration is unknown but long enough */
                replay_show_end(r, sorted[i], at,
                                (struct replay_line){ .notes = REPLAY_GOES_ON, .duration = UINT64_MAX });
            }
        }
    free(sorted);
    replay_flush_lines(r, end, true);
    r->enough = true;
}

static void replay_handle_event(struct replay *r, struct replay_thread *thread, const struct timeline_event *event)
{
    switch (event->kind) {
    case TIMELINE_ENTER:
    case TIMELINE_FOUND:
    case TIMELINE_BACK:
        replay_open_call(r, thread, event);
        break;
    case TIMELINE_EXIT:
    case TIMELINE_LEFT:
    case TIMELINE_OPEN:
    case TIMELINE_SET_ASIDE:
        replay_close_call(r, thread, event);
        break;
    case TIMELINE_PAUSE:
    case TIMELINE_RESUME:
        if (r->begun && replay_holds(r, thread, event->time))
            replay_show_between(
                r, thread,
                (struct replay_line){ .kind = event->kind == TIMELINE_PAUSE ? REPLAY_PAUSED : REPLAY_RESUMED,
                                      .time = event->time,
                                      .has_time = true });
        break;
    case TIMELINE_MARK:
        if (r->begun && replay_holds(r, thread, event->time))
            replay_show_mark(r, thread, event);
        break;
    case TIMELINE_INTERVAL:
        break;
    }
}

static bool replay_add_event(void *context, const struct timeline_event *event)
{
    struct replay *r = context;
    struct replay_thread *thread = replay_find_thread(r, event->thread);
    if (!r->begun && event->time >= r->options->from)
        replay_begin_part(r);
    if (r->begun)
        replay_show_events(r, event->time < r->options->to ? event->time : r->options->to);
    if (event->time >= r->options->to) {
        replay_end_part(r);
        return false;
    }
    if (r->begun)
        replay_show_interval(r, thread, event);
    replay_handle_event(r, thread, event);
    r->root_found |= thread->root && r->begun;
    replay_flush_lines(r, event->time, false);
    return !r->enough;
}

/* ---- start and end ---- */

bool replay_wants(const struct session_file *file, const struct replay_options *options, uint32_t process,
                  uint32_t thread)
{
    return selection_takes(options->threads, file, process, thread);
}

static bool replay_wants_thread(void *context, uint32_t process, uint32_t thread)
{
    const struct replay *r = context;
    return replay_wants(r->file, r->options, process, thread);
}

static void replay_free_lines(struct replay *r)
{
    for (uint64_t i = r->first_line; i < r->end_line; i++)
        free(replay_line_at(r, i)->line.text);
    free(r->lines);
}

struct replay_result replay(const struct session_file *file, const struct replay_options *options, replay_taker *take,
                            void *context)
{
    struct replay r = { .file = file, .options = options, .take = take, .context = context, .line_room = 64 };
    r.namer = namer_new(file);
    r.thread_index = index_new();
    r.root_names = index_new();
    r.lines = need_memory(r.line_room, sizeof *r.lines);
    const struct timeline_part part = { .begin = options->from, .wants = replay_wants_thread };
    struct replay_result result = { .counts = timeline_run_part(file, &part, replay_add_event, &r) };
    if (!r.enough) {
        if (!r.begun)
            replay_begin_part(&r);
        replay_show_events(&r, options->to);
        replay_flush_lines(&r, UINT64_MAX, true);
    }
    result.root_found = r.root_found;
    replay_free_lines(&r);
    for (size_t i = 0; i < r.thread_count; i++) {
        free(r.threads[i]->calls);
        free(r.threads[i]);
    }
    free(r.threads);
    index_free(r.thread_index);
    index_free(r.root_names);
    namer_free(r.namer);
    return result;
}
