/* Finds threads by the system's numbers, and the threads that objects of waits name: holders, joined threads, and
 * children. */
#include "causes/cause_threads.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

/* ---- threads by the system's numbers ---- */

static int tid_list_compare(const void *a, const void *b)
{
    const struct trace_thread *x = *(const struct trace_thread *const *)a, *y = *(const struct trace_thread *const *)b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->start_time != y->start_time)
        return x->start_time < y->start_time ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

struct tid_list tid_list_of(const struct session_file *file)
{
    struct tid_list t = { need_memory(file->thread_count + 1, sizeof *t.list), file->thread_count };
    for (size_t i = 0; i < t.count; i++)
        t.list[i] = &file->threads[i];
    qsort(t.list, t.count, sizeof *t.list, tid_list_compare);
    return t;
}

/* The number of threads that have a smaller tid, or this one and began before the time. */
static size_t tid_list_place(const struct tid_list *t, uint32_t tid, uint64_t time)
{
    return LOWER_BOUND(thread, t->list, t->count,
                       (*thread)->tid < tid || ((*thread)->tid == tid && (*thread)->start_time < time));
}

/* The thread that had this tid last at that time; NULL if none was recorded then. */
static const struct trace_thread *tid_list_find(const struct tid_list *t, uint32_t tid, uint64_t time)
{
    const size_t place = tid_list_place(t, tid, time < UINT64_MAX ? time + 1 : time);
    return place > 0 && t->list[place - 1]->tid == tid ? t->list[place - 1] : NULL;
}

/* The same, unless the thread had ended. */
static const struct trace_thread *tid_list_find_living(const struct tid_list *t, uint32_t tid, uint64_t time)
{
    const struct trace_thread *found = tid_list_find(t, tid, time);
    return found && (!found->end_time || found->end_time >= time) ? found : NULL;
}

void tid_list_drop(struct tid_list *t)
{
    free(t->list);
}

const struct trace_thread *tid_list_find_next(const struct tid_list *t, uint32_t tid, uint64_t time)
{
    const size_t place = tid_list_place(t, tid, time);
    return place < t->count && t->list[place]->tid == tid ? t->list[place] : NULL;
}

/* ---- causes that the object itself names ---- */

void causes_set_waker(struct caused_wait *w, uint32_t thread, uint64_t time)
{
    w->waker = thread;
    w->woken = smaller(time, w->wait.back);
    if (w->woken <= w->wait.left)
        w->waker = 0, w->woken = 0;
}

bool causes_name_thread(struct caused_wait *w, const struct tid_list *tids, uint64_t *time)
{
    const struct wait_place *place = &w->wait.place;
    const struct trace_thread *t = NULL;
    *time = place->begin;
    if (w->wait.gave_up && !w->wait.holder)
        return false;
    const bool ends = w->wait.kind == DWELL_OBJECT_THREAD || w->wait.kind == DWELL_OBJECT_CHILD;
    if (ends &&
        w->wait.id) /* it may have begun to be recorded meanwhile; a process and its first thread have one number */
        t = tid_list_find(tids, (uint32_t)w->wait.id, place->end);
    else if (w->wait.holder)
        t = tid_list_find_living(tids, w->wait.holder, place->begin);
    if (!t || t->serial == place->thread || (t->end_time && t->end_time < place->begin))
        return false;
    w->cause = w->wait.holder ? CAUSE_HOLDER : CAUSE_WAKER;
    w->thread = t->serial;
    if (w->wait.holder)
        return true;
    *time = t->end_time ? smaller(t->end_time, place->end) : place->end;
    if (t->end_time)
        causes_set_waker(w, t->serial, t->end_time);
    return true;
}
