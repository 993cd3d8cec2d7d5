/* Places the ends of flows within the slices that formats of single calls write. */
#include "export/wait_flows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "causes/wait_arrows.h"
#include "export/slices.h"

/* Within the interval, before its end; an interval without a length has one moment. */
static uint64_t wait_flow_moment(const struct analysis *analysis, uint64_t time, uint64_t begin, uint64_t end)
{
    const uint64_t first = slices_ns(analysis, begin), last = slices_ns(analysis, end);
    return larger(first, smaller(slices_ns(analysis, time), last > first ? last - 1 : last));
}

static struct wait_flow wait_flow_of(const struct analysis *analysis, const struct wait_causes *causes,
                                     const struct wait_arrow *arrow)
{
    const struct caused_wait *w = arrow->wait;
    const bool acted = w->act != PROFILE_NONE;
    const uint64_t to = wait_flow_moment(analysis, arrow->to, w->wait.place.begin, w->wait.place.end),
                   from = wait_flow_moment(analysis, arrow->from, arrow->from_begin, arrow->from_end);
    return (struct wait_flow){
        .from_process = arrow->from_process,
        .from_thread = arrow->from_thread,
        .to_process = arrow->to_process,
        .to_thread = w->wait.place.thread,
        .from = smaller(from, to), /* the end of the wait may have been put before the act */
        .to = to,
        .ended = !acted,
        .in_function = acted && causes->acting->nodes[w->act].parent != PROFILE_NONE,
    };
}

struct wait_flows wait_flows_find(const struct analysis *session)
{
    struct wait_flows f = { NULL, 0 };
    if (!(session->file->header.also & DWELL_ALSO_CAUSES) || session->file->header.mode == DWELL_MODE_PROFILE)
        return f;
    struct wait_causes causes = wait_causes_find(session);
    struct wait_arrow *arrows = wait_arrows_find(session, &causes, &f.count);
    f.list = need_memory(f.count + 1, sizeof *f.list);
    for (size_t i = 0; i < f.count; i++)
        f.list[i] = wait_flow_of(session, &causes, &arrows[i]);
    free(arrows);
    wait_causes_drop(&causes);
    return f;
}

void wait_flows_drop(struct wait_flows *f)
{
    free(f->list);
}
