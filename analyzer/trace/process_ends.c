/* Ends of processes that another process saw. Most name only a PID, so they are applied when all processes are known.
 */
#include "trace/process_ends.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

void process_ends_add(struct observed_ends *ends, uint32_t by, const struct dwell_rec_process_end *record)
{
    GROW(ends->list, ends->count, ends->room);
    ends->list[ends->count++] = (struct observed_end){ by, *record };
}

static int process_ends_compare(const void *a, const void *b)
{
    const struct trace_process *x = *(struct trace_process *const *)a, *y = *(struct trace_process *const *)b;
    return ORDER_BY(x, y, pid, start_time, serial);
}

struct trace_process **process_ends_sort(struct session_file *file)
{
    struct trace_process **sorted = need_memory(file->process_count, sizeof(struct trace_process *));
    for (size_t i = 0; i < file->process_count; i++)
        sorted[i] = &file->processes[i];
    if (file->process_count)
        qsort(sorted, file->process_count, sizeof *sorted, process_ends_compare);
    return sorted;
}

/* How many processes have a lower PID, or that PID and began at or before the time. */
static size_t process_ends_count_begun(struct trace_process *const *sorted, size_t count, uint32_t pid, uint64_t time)
{
    return LOWER_BOUND(p, sorted, count, (*p)->pid < pid || ((*p)->pid == pid && (*p)->start_time <= time));
}

enum { MOST_OF_A_PID = 64 };

/* How well a process fits as the one that `by` saw end. An exec has ended the recording of a process before. */
static int process_ends_fitness(const struct trace_process *p, const struct trace_process *by)
{
    if (p->end_how == DWELL_END_EXECUTED)
        return 0;
    if (by && p->parent_process == by->serial)
        return 3;
    return by && p->parent_pid == by->pid ? 2 : 1;
}

/* The process that ended, or NULL. PIDs are reused, and several PID namespaces have the same ones. So a child of the
 * observer precedes a process that another one made. Of several, it is the last that began before. */
struct trace_process *process_ends_find(const struct session_file *file, struct trace_process *const *sorted,
                                        const struct observed_end *end)
{
    if (end->record.process)
        return session_file_process(file, end->record.process);
    const struct trace_process *by = session_file_process(file, end->by);
    struct trace_process *found = NULL;
    int best = 0;
    size_t i = process_ends_count_begun(sorted, file->process_count, end->record.pid, end->record.time);
    for (int tries = 0; i-- > 0 && sorted[i]->pid == end->record.pid && tries < MOST_OF_A_PID; tries++) {
        const int fitness = process_ends_fitness(sorted[i], by);
        if (fitness > best)
            found = sorted[i];
        best = fitness > best ? fitness : best;
    }
    return found;
}

/* The process' own record has the time. Otherwise it ended before the first that saw it. An observer that knows how it
 * ended is right, but a program that was executed in its place is another process. */
void process_ends_apply(struct session_file *file, struct observed_ends *ends)
{
    struct trace_process **sorted = ends->count ? process_ends_sort(file) : NULL;
    for (size_t i = 0; i < ends->count; i++) {
        const struct dwell_rec_process_end *end = &ends->list[i].record;
        struct trace_process *p = process_ends_find(file, sorted, &ends->list[i]);
        if (!p)
            continue;
        if (!p->end_recorded && (!p->end_time || end->time < p->end_time))
            p->end_time = end->time;
        if (p->end_how == DWELL_END_EXECUTED || (p->end_how && end->how == DWELL_END_UNKNOWN))
            continue;
        p->end_how = end->how;
        p->end_value = end->value;
    }
    free(sorted);
    free(ends->list);
}
