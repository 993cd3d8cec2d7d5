/* Warns if most of the CPU time that was measured is that of the probes. */
#include "analysis/probe_share.h"

#include "base/memory.h"
#include "base/units.h"

static const double max_percent_of_probes = 50;

enum value_id probe_share_rest(const struct summary *summary)
{
    return summary->off_cpu_known ? VALUE_CPU : VALUE_ELAPSED;
}

char *probe_share_remark(const struct summary *summary, uint64_t overhead, uint64_t rest, const char *where)
{
    const double share = percent_of(overhead, overhead + rest);
    const bool is_small = summary->asked_percent > 0 && !summary->budget_acted; /* or the functions cannot be changed */
    if (!summary->overhead_known || (summary->budget && !is_small) || share <= max_percent_of_probes)
        return NULL;
    return need_text("probes took %.0f %% of the %s%s: %s", share, summary->off_cpu_known ? "CPU time" : "time", where,
                     is_small ? "the first 250,000 calls are timed" : "record with --overhead 10%");
}
