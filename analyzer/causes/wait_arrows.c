/* Finds the two ends of each arrow. An act, or the end of a thread, has to be recorded: that a holder kept a lock until
 * a wait ended is known without its moment. */
#include "causes/wait_arrows.h"

#include <stdlib.h>

#include "base/memory.h"

/* Whether the wait was for the end of a thread or of a child that is known. Its recorded end comes before that in the
 * kernel, and may come before the wait: then the wait has no waker, as `woken` is within it. */
static bool wait_arrow_ended(const struct caused_wait *wait)
{
    return wait->cause == CAUSE_WAKER &&
           (wait->wait.kind == DWELL_OBJECT_THREAD || wait->wait.kind == DWELL_OBJECT_CHILD);
}

bool wait_arrow_of(const struct analysis *analysis, const struct caused_wait *wait, struct wait_arrow *arrow)
{
    const bool acted = wait->act != PROFILE_NONE, ended = wait_arrow_ended(wait);
    const struct trace_thread *from =
        session_file_thread(analysis->file, wait->waker || !ended ? wait->waker : wait->thread);
    const uint64_t woken = from && !wait->waker ? from->end_time : wait->woken;
    if (!from || !woken || (!acted && !ended) ||
        !selection_takes(analysis->selection, analysis->file, from->process, from->serial) ||
        !selection_holds_on(analysis->selection, from->serial, woken) ||
        !selection_holds_on(analysis->selection, wait->wait.place.thread, wait->wait.back - 1))
        return false;
    *arrow = (struct wait_arrow){
        .wait = wait,
        .from_process = from->process,
        .from_thread = from->serial,
        .to_process = wait->wait.place.process,
        .from = woken,
        .to = wait->wait.back,
        .from_begin = acted ? wait->act_begin : woken,
        .from_end = acted ? wait->act_end : woken,
    };
    return true;
}

static int wait_arrow_compare(const void *a, const void *b)
{
    const struct wait_arrow *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    const uint32_t one = x->wait->wait.place.thread, other = y->wait->wait.place.thread;
    if (one != other)
        return one < other ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

struct wait_arrow *wait_arrows_find(const struct analysis *analysis, const struct wait_causes *causes, size_t *count)
{
    struct wait_arrow *list = need_memory(causes->count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < causes->count; i++)
        *count += wait_arrow_of(analysis, &causes->list[i], &list[*count]);
    if (*count)
        qsort(list, *count, sizeof *list, wait_arrow_compare);
    return list;
}
