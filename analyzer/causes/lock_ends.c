/* Finds the processes that held locks of files until they ended. */
#include "causes/lock_ends.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

static int lock_compare(const void *a, const void *b)
{
    const struct profile_act *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The calls that took locks, and those that released them, by process, lock and time. */
static struct profile_act *lock_list(const struct waits *acts, size_t *count)
{
    struct profile_act *list = need_memory(acts->act_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < acts->act_count; i++)
        if (acts->acts[i].kind == DWELL_OBJECT_FILE_LOCK)
            list[(*count)++] = acts->acts[i];
    if (*count)
        qsort(list, *count, sizeof *list, lock_compare);
    return list;
}

struct lock_ends lock_ends_begin(const struct session_file *file, struct waits *acts)
{
    size_t count, kept = 0;
    struct profile_act *list = lock_list(acts, &count);
    struct lock_ends ends = { .file = file, .taken = list };
    for (size_t i = 0; i < count; i++) {
        const bool is_last = i + 1 == count || list[i + 1].process != list[i].process || list[i + 1].id != list[i].id;
        if (list[i].took && is_last)
            list[ends.count++] = list[i];
    }
    for (size_t i = 0; i < acts->act_count; i++)
        if (!acts->acts[i].took)
            acts->acts[kept++] = acts->acts[i];
    acts->act_count = kept;
    return ends;
}

/* A child may have the lock, too, by flock. */
static bool lock_has_heir(const struct session_file *file, const struct trace_process *holder)
{
    for (size_t i = 0; i < file->process_count; i++) {
        const struct trace_process *p = &file->processes[i];
        if (p->parent_process == holder->serial && (!p->end_time || p->end_time > holder->end_time))
            return true;
    }
    return false;
}

static uint32_t lock_first_thread(const struct session_file *file, const struct trace_process *p)
{
    for (size_t i = 0; i < file->thread_count; i++)
        if (file->threads[i].process == p->serial && file->threads[i].tid == p->pid)
            return file->threads[i].serial;
    return 0;
}

/* The end of a killed process is known only as somebody else has seen it later. As nobody had released the lock, it
 * came before the waiting thread had it. But if the process took it meanwhile, both may share it. */
static struct lock_end lock_end_of(const struct lock_ends *ends, const struct profile_act *taken,
                                   const struct profile_wait *wait, const struct profile_act *last)
{
    const struct trace_process *p = session_file_process(ends->file, taken->process);
    if (!p || !p->end_time || p->end_how == DWELL_END_EXECUTED || p->end_time <= wait->left_last ||
        (p->end_recorded && p->end_time > wait->back))
        return (struct lock_end){ .thread = 0 };
    return (struct lock_end){
        .unsure = lock_has_heir(ends->file, p) || (!p->end_recorded && last && taken->end > wait->place.begin),
        .thread = lock_first_thread(ends->file, p),
        .time = smaller(p->end_time, wait->back),
    };
}

struct lock_end lock_ends_find(const struct lock_ends *ends, const struct profile_wait *wait,
                               const struct profile_act *last)
{
    struct lock_end found = { .thread = 0 };
    for (size_t i = 0; i < ends->count; i++) {
        const struct profile_act *taken = &ends->taken[i];
        if (taken->id != wait->id || taken->process == wait->place.process || taken->begin >= wait->back)
            continue;
        const struct lock_end end = lock_end_of(ends, taken, wait, last);
        if (end.thread && end.time > found.time && (!last || end.time > last->left))
            found = end;
    }
    return found;
}

void lock_ends_drop(struct lock_ends *ends)
{
    free(ends->taken);
}
