/* Follows single calls: takes the finished calls from the timeline and picks those of the selection. */
#include "profile/calls.h"

#include "profile/resolve.h"
#include "trace/timeline.h"

struct follower {
    const struct session_file *file;
    const struct selection *selection;
    struct resolver *resolver;
    call_taker *take;
    void *context;
};

/* A bit of timeline_call.note, which is otherwise the call's function: the call is within a call of one of the
 * selection's functions. */
static const uint32_t BELOW = 1u << 31;

static uint32_t calls_function_of(const struct timeline_call *call)
{
    const uint32_t function = call->note & ~BELOW;
    return function == (PROFILE_NONE & ~BELOW) ? PROFILE_NONE : function;
}

static bool calls_report_finished(const struct follower *f, const struct timeline_event *event)
{
    const struct timeline_call *call = event->call;
    const bool has_caller = event->thread->depth > 1;
    return f->take(f->context, &(struct finished_call){
        .function = calls_function_of(call),
        .caller = has_caller ? calls_function_of(&call[-1]) : PROFILE_NONE,
        .process = event->thread->process,
        .thread = event->thread->thread,
        .begin = call->enter_time - call->delay,
        .times = {
            [CALL_ELAPSED_INCLUSIVE] = call->elapsed,
            [CALL_ELAPSED_EXCLUSIVE] = call->elapsed - call->below,
            [CALL_APPLICATION_INCLUSIVE] = call->elapsed - call->flagged,
            [CALL_APPLICATION_EXCLUSIVE] = call->elapsed - call->below - (call->flagged - call->flagged_below),
        },
        .blocked = call->blocked,
    });
}

static bool calls_event_is_wanted(const struct follower *f, const struct timeline_event *event)
{
    if (!selection_holds(f->selection, event->time))
        return false;
    if (f->selection && f->selection->roots && !(event->call->note & BELOW))
        return false;
    return selection_takes(f->selection, f->file, event->thread->process, event->thread->thread);
}

static bool calls_follow_event(void *context, const struct timeline_event *event)
{
    const struct follower *f = context;
    struct timeline_call *call = event->call;
    if (f->selection && f->selection->cut && event->time >= f->selection->to)
        return false; /* all later events are outside, too */
    switch (event->kind) {
    case TIMELINE_ENTER:
    case TIMELINE_FOUND:
        call->note = resolver_function(f->resolver, event->thread->process, call->function, event->time) & ~BELOW;
        if (f->selection && f->selection->roots &&
            (selection_is_root(f->selection, calls_function_of(call)) ||
             (event->thread->depth > 1 && call[-1].note & BELOW)))
            call->note |= BELOW;
        return true;
    case TIMELINE_EXIT:
    case TIMELINE_LEFT:
        return !call->entered || !call->ended || calls_function_of(call) == PROFILE_NONE ||
               !calls_event_is_wanted(f, event) || calls_report_finished(f, event);
    default:
        return true;
    }
}

void calls_follow(const struct session_file *file, const struct profile *profile, const struct selection *selection,
                  call_taker *take, void *context)
{
    struct follower f = { file, selection, resolver_new(file, profile), take, context };
    timeline_run(file, calls_follow_event, &f);
    resolver_free(f.resolver);
}
