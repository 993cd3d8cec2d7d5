/* Finds the names of kept activities by their last events. */
#include "report/kept_activities.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

static int kept_compare_ends(const void *a, const void *b)
{
    const struct trace_event *x = (*(const struct trace_activity *const *)a)->last,
                             *y = (*(const struct trace_activity *const *)b)->last;
    return ORDER_BY(x, y, thread, time);
}

static bool kept_activities_any(const struct session_file *file)
{
    for (size_t i = 0; i < file->kept.count; i++)
        if (!file->kept.calls[i].function)
            return true;
    return false;
}

struct kept_activities kept_activities_read(const struct session_file *file)
{
    struct kept_activities k = { .by_end = NULL };
    if (!kept_activities_any(file))
        return k;
    k.all = activities_read(file);
    k.by_end = need_memory(k.all.count, sizeof *k.by_end);
    for (size_t i = 0; i < k.all.count; i++)
        k.by_end[i] = &k.all.list[i];
    if (k.all.count)
        qsort(k.by_end, k.all.count, sizeof *k.by_end, kept_compare_ends);
    return k;
}

void kept_activities_free(struct kept_activities *k)
{
    if (!k->by_end)
        return;
    free(k->by_end);
    activities_free(&k->all);
}

const char *kept_activities_name(const struct kept_activities *k, const struct dwell_keep *keep,
                                 const struct trace_kept *call)
{
    if (call->function)
        return NULL;
    const size_t i = LOWER_BOUND(a, k->by_end, k->all.count,
                                 (*a)->last->thread < call->thread ||
                                     ((*a)->last->thread == call->thread && (*a)->last->time < call->exit_time));
    if (i < k->all.count && k->by_end[i]->last->thread == call->thread && k->by_end[i]->last->time == call->exit_time)
        return k->by_end[i]->name;
    return keep && call->watch < keep->watches ? keep->watch[call->watch].text : "an activity";
}
