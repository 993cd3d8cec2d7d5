/* Finds the makers of threads: from recorded creations, or by following how many threads lived in each process. */
#include "causes/thread_origins.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

/* A thread begins or ends. */
struct origin_change {
    uint64_t time;
    bool ends;
    size_t thread; /* index */
};

/* The threads of a process that live at a time. */
struct origin_living {
    size_t count;
    uint64_t sum; /* of their serial numbers: if there is one, its own */
};

/* A thread that ends at the time at which another one begins may have made it. */
static int origin_compare_changes(const void *a, const void *b)
{
    const struct origin_change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->ends != y->ends)
        return x->ends - y->ends;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static struct origin_change *origin_list_changes(const struct session_file *file, size_t *count)
{
    struct origin_change *list = need_memory(2 * file->thread_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        list[(*count)++] = (struct origin_change){ t->start_time, false, i };
        if (t->end_time)
            list[(*count)++] = (struct origin_change){ t->end_time, true, i };
    }
    if (*count)
        qsort(list, *count, sizeof *list, origin_compare_changes);
    return list;
}

static struct origin_living *origin_living_in(const struct session_file *file, struct origin_living *living,
                                              uint32_t serial)
{
    return &living[session_file_process_index(file, serial)];
}

static uint32_t origin_maker(const struct session_file *file, struct origin_living *living,
                             const struct trace_thread *made)
{
    const struct trace_process *process = session_file_process(file, made->process);
    const struct origin_living *own = origin_living_in(file, living, made->process);
    if (!process)
        return 0;
    if (!own->count && process->parent_process)
        own = origin_living_in(file, living, process->parent_process);
    return own->count == 1 ? (uint32_t)own->sum : 0;
}

static void origin_follow(const struct session_file *file, struct thread_origin *origins)
{
    struct origin_living *living = need_memory(file->process_count + 1, sizeof *living);
    size_t count;
    struct origin_change *changes = origin_list_changes(file, &count);
    for (size_t i = 0; i < count; i++) {
        const struct trace_thread *t = &file->threads[changes[i].thread];
        struct origin_living *own = origin_living_in(file, living, t->process);
        if (!changes[i].ends)
            origins[changes[i].thread] =
                (struct thread_origin){ t->serial, origin_maker(file, living, t), t->start_time };
        own->count += changes[i].ends ? -(size_t)1 : 1;
        own->sum += changes[i].ends ? -(uint64_t)t->serial : t->serial;
    }
    free(changes);
    free(living);
}

/* A thread by fork begins with its process. Makers begin earlier than what they made, even in a damaged file. */
static void origin_take_fork(const struct session_file *file, const struct trace_thread *t,
                             struct thread_origin *origin)
{
    const struct trace_thread *maker = t->maker ? session_file_thread(file, t->maker) : NULL;
    const struct trace_process *process = session_file_process(file, t->process);
    if (maker && process && maker->start_time < t->start_time)
        *origin = (struct thread_origin){ t->serial, maker->serial, smaller(process->start_time, t->start_time) };
}

struct thread_origin *thread_origins_find(const struct session_file *file, const struct wait_causes *causes)
{
    struct thread_origin *origins = need_memory(file->thread_count + 1, sizeof *origins);
    origin_follow(file, origins);
    for (size_t i = 0; i < file->thread_count; i++)
        origin_take_fork(file, &file->threads[i], &origins[i]);
    for (size_t i = 0; i < causes->origin_count; i++) {
        const struct trace_thread *t = session_file_thread(file, causes->origins[i].thread);
        if (t)
            origins[t - file->threads] = causes->origins[i];
    }
    return origins;
}
