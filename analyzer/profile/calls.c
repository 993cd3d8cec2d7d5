/* Follows single calls: adds up the times of each call over the timeline, without its probes, and picks the calls of
 * the selection. */
#include "profile/calls.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/resolve.h"
#include "trace/timeline.h"

/* A call that is open or set aside. timeline_call.note is its place. */
struct followed_call {
    uint32_t path;             /* in the table of path_probes.h */
    uint32_t function;         /* PROFILE_NONE if the profile does not have it */
    bool within;               /* it is a call of the selection's function, or within one */
    struct call_amounts fresh; /* its own since it was last put on a stack: samples and counting took a part of it */
    struct call_amounts own, below;
    struct call_amounts before; /* their sum when it was last put on a stack */
    uint64_t once;
    uint32_t outer_plus_1; /* place of the next outer call of the function on its stack; zero if there is none */
};

struct calls_follower {
    const struct calls_source *source;
    struct path_probes_table probes;
    struct resolver *resolver;
    struct followed_call *calls;
    uint32_t *free_places;
    size_t count, room, free_count, free_room;
    struct number_index *innermost; /* (thread, function) -> place in innermost_places */
    uint32_t *innermost_places;     /* 1 + place of the innermost open call, or zero */
    size_t innermost_count, innermost_room;
    call_taker *take;
    void *context;
};

/* ---- call paths ---- */

static uint32_t calls_unknown_path(const struct calls_follower *f, uint32_t thread)
{
    return (uint32_t)(f->probes.known + session_file_thread_index(f->source->file, thread));
}

static uint32_t calls_find_path(const struct calls_follower *f, const struct timeline_thread *thread,
                                const struct followed_call *caller, uint32_t function)
{
    const struct profile *profile = f->source->profile;
    const uint32_t parent = caller ? caller->path : profile_find_root(profile, thread->process, thread->thread);
    const uint32_t path = function == PROFILE_NONE || parent >= f->probes.known
                              ? PROFILE_NONE
                              : profile_find_child(profile, parent, function);
    return path == PROFILE_NONE ? calls_unknown_path(f, thread->thread) : path;
}

/* ---- calls ---- */

static uint32_t calls_number(const struct calls_follower *f, uint32_t function)
{
    const uint32_t *numbers = f->source->functions;
    return numbers && function != PROFILE_NONE ? numbers[function] : function;
}

static struct followed_call *calls_of_event(const struct calls_follower *f, const struct timeline_event *event)
{
    return &f->calls[event->call->note];
}

static struct followed_call *calls_caller(const struct calls_follower *f, const struct timeline_event *event)
{
    return event->thread->depth > 1 ? &f->calls[event->call[-1].note] : NULL;
}

static struct call_amounts calls_inclusive(const struct followed_call *call)
{
    struct call_amounts sum = call->own;
    call_amounts_add(&sum, &call->below);
    return sum;
}

static uint32_t calls_new_place(struct calls_follower *f)
{
    if (f->free_count)
        return f->free_places[--f->free_count];
    GROW(f->calls, f->count, f->room);
    return (uint32_t)f->count++;
}

/* The place of the innermost open call of a function on a thread. Copies of a function have one number. */
static uint32_t *calls_innermost(struct calls_follower *f, const struct timeline_event *event, uint32_t function)
{
    const uint64_t thread = (uint64_t)event->thread->process << 32 | event->thread->thread;
    struct index_slot *slot = index_find(f->innermost, thread, calls_number(f, function));
    if (slot->value_plus_1)
        return &f->innermost_places[slot->value_plus_1 - 1];
    GROW(f->innermost_places, f->innermost_count, f->innermost_room);
    f->innermost_places[f->innermost_count] = 0;
    index_set(f->innermost, slot, thread, calls_number(f, function), (uint32_t)f->innermost_count);
    return &f->innermost_places[f->innermost_count++];
}

/* The first call of a path gets what the rounding of the path's overhead has left. */
static void calls_add_rest(struct followed_call *call, struct path_probes *probes)
{
    call_amounts_charge(&call->fresh, probes, -(uint64_t)probes->rest);
    probes->rest = 0;
}

/* Puts a call on top of its caller. */
static void calls_place(struct calls_follower *f, const struct timeline_event *event, struct followed_call *call)
{
    const struct followed_call *caller = calls_caller(f, event);
    const struct selection *selection = f->source->selection;
    call->path = calls_find_path(f, event->thread, caller, call->function);
    call->within = selection_is_root(selection, calls_number(f, call->function)) || (caller && caller->within);
    call->before = calls_inclusive(call);
    if (f->source->all) {
        uint32_t *innermost = calls_innermost(f, event, call->function);
        call->outer_plus_1 = *innermost;
        *innermost = event->call->note + 1;
    }
    calls_add_rest(call, &f->probes.paths[call->path]);
}

static void calls_begin(struct calls_follower *f, const struct timeline_event *event)
{
    struct timeline_call *shown = event->call;
    shown->note = calls_new_place(f);
    struct followed_call *call = calls_of_event(f, event), *caller = calls_caller(f, event);
    *call = (struct followed_call){
        .function = resolver_function(f->resolver, event->thread->process, shown->function, event->time),
    };
    calls_place(f, event, call);
    if (event->kind != TIMELINE_ENTER)
        return;
    call_amounts_charge(&call->fresh, &f->probes.paths[call->path], f->probes.paths[call->path].call);
    if (caller)
        call_amounts_charge(&caller->fresh, &f->probes.paths[caller->path], f->probes.paths[caller->path].callee);
}

/* Adds the time on the stack to a call that is removed from it, and subtracts it from the next outer call of its
 * function, to which it will be added. */
static void calls_add_once(struct calls_follower *f, const struct timeline_event *event, uint64_t passed)
{
    struct followed_call *call = calls_of_event(f, event);
    call->once += passed;
    if (call->outer_plus_1)
        f->calls[call->outer_plus_1 - 1].once -= passed;
    *calls_innermost(f, event, call->function) = call->outer_plus_1;
}

/* Takes a call from its stack. */
static void calls_remove(struct calls_follower *f, const struct timeline_event *event)
{
    struct followed_call *call = calls_of_event(f, event), *caller = calls_caller(f, event);
    call_amounts_take_part(&call->fresh, &f->probes.paths[call->path].lost, event->time);
    call_amounts_add(&call->own, &call->fresh);
    call->fresh = (struct call_amounts){ .elapsed = 0 };
    const struct call_amounts inclusive = calls_inclusive(call);
    if (f->source->all && event->thread->depth)
        calls_add_once(f, event, inclusive.elapsed - call->before.elapsed);
    if (caller) {
        call_amounts_add(&caller->below, &inclusive);
        call_amounts_subtract(&caller->below, &call->before);
    }
    call->before = inclusive;
}

static bool calls_report(const struct calls_follower *f, const struct timeline_event *event)
{
    const struct timeline_call *shown = event->call;
    const struct followed_call *call = calls_of_event(f, event), *caller = calls_caller(f, event);
    const struct call_amounts inclusive = calls_inclusive(call);
    struct call_amounts exclusive = call->own;
    call_amounts_take_part(&exclusive, &f->probes.paths[call->path].sampled, event->time);
    return f->take(f->context,
                   &(struct finished_call){
                       .function = calls_number(f, call->function),
                       .caller = caller ? calls_number(f, caller->function) : PROFILE_NONE,
                       .path = call->path,
                       .process = event->thread->process,
                       .thread = event->thread->thread,
                       .begin = shown->enter_time - shown->delay,
                       .end = event->time,
                       .times = {
                           [CALL_ELAPSED_INCLUSIVE] = inclusive.elapsed,
                           [CALL_ELAPSED_EXCLUSIVE] = exclusive.elapsed,
                           [CALL_APPLICATION_INCLUSIVE] = inclusive.application,
                           [CALL_APPLICATION_EXCLUSIVE] = exclusive.application,
                       },
                       .blocked = inclusive.blocked,
                       .off_cpu = inclusive.off_cpu,
                       .once = call->once,
                       .preempted = { inclusive.off_cpu - inclusive.blocked, exclusive.off_cpu - exclusive.blocked },
                       .completed = shown->entered && shown->ended,
                   });
}

/* ---- events ---- */

static bool calls_event_is_wanted(const struct calls_follower *f, const struct timeline_event *event)
{
    const struct selection *selection = f->source->selection;
    const struct followed_call *call = calls_of_event(f, event);
    if (calls_number(f, call->function) == PROFILE_NONE ||
        (!f->source->all && !(event->call->entered && event->call->ended)))
        return false;
    if (!selection_holds_on(selection, event->thread->thread, event->time) ||
        (selection && selection->roots && !call->within))
        return false;
    return selection_takes(selection, f->source->file, event->thread->process, event->thread->thread);
}

static bool calls_end(struct calls_follower *f, const struct timeline_event *event)
{
    calls_remove(f, event);
    const bool more = !calls_event_is_wanted(f, event) || calls_report(f, event);
    GROW(f->free_places, f->free_count, f->free_room);
    f->free_places[f->free_count++] = event->call->note;
    return more;
}

/* Adds the interval before the event to the call that was the innermost one. */
static void calls_add_interval(struct calls_follower *f, const struct timeline_event *event)
{
    const bool begins = event->kind == TIMELINE_ENTER || event->kind == TIMELINE_FOUND || event->kind == TIMELINE_BACK;
    struct followed_call *top = begins ? calls_caller(f, event) : event->call ? calls_of_event(f, event) : NULL;
    if (!top || !event->interval)
        return;
    const struct interval_parts parts = interval_parts(event->extras, event->interval);
    call_amounts_add_interval(&top->fresh, &f->probes.paths[top->path], &parts, event->interval);
}

static bool calls_follow_event(void *context, const struct timeline_event *event)
{
    struct calls_follower *f = context;
    const struct selection *selection = f->source->selection;
    if (selection && selection->cut && event->time >= selection->to)
        return false; /* all later events are outside, too */
    calls_add_interval(f, event);
    switch (event->kind) {
    case TIMELINE_ENTER:
    case TIMELINE_FOUND:
        calls_begin(f, event);
        return true;
    case TIMELINE_BACK:
        calls_place(f, event, calls_of_event(f, event));
        return true;
    case TIMELINE_SET_ASIDE:
        calls_remove(f, event);
        return true;
    case TIMELINE_EXIT:
    case TIMELINE_LEFT:
    case TIMELINE_OPEN:
        return calls_end(f, event);
    default:
        return true;
    }
}

struct path_probes_table calls_probes(const struct calls_source *s)
{
    return path_probes_of(s->profile, s->file, s->costs, s->cost_count, s->recorded);
}

void calls_follow(const struct calls_source *source, call_taker *take, void *context)
{
    struct calls_follower f = { .source = source, .take = take, .context = context };
    f.probes = calls_probes(source);
    if (selection_has_ranges(source->selection))
        path_probes_drop_rests(&f.probes);
    f.innermost = index_new();
    f.resolver = resolver_new(source->file, source->profile);
    timeline_run(source->file, calls_follow_event, &f);
    resolver_free(f.resolver);
    free(f.probes.paths);
    index_free(f.innermost);
    free(f.innermost_places);
    free(f.calls);
    free(f.free_places);
}
