/* Finds out of which calls durations are known, and says so. */
#include "analysis/durations_known.h"

#include "analysis/single_calls.h"

bool durations_lack_probes(const struct analysis *analysis)
{
    return analysis->raw && single_calls_resolution(analysis->file);
}

void durations_remark(struct summary *summary, const struct analysis *analysis)
{
    const char *sums = session_file_why_sums(analysis->file);
    const size_t sessions = analysis->file->sums.summed_count, known = session_file_count_durations(analysis->file);
    const bool needs_net = known && durations_lack_probes(analysis);
    summary->durations_known = !analysis->lines && !needs_net && (known ? known == sessions : !sums);
    if (needs_net)
        summary_remark(summary, "percentiles-need-net",
                       "percentiles are unknown: sums have them without the time of the probes (no --raw)");
    else if (known && known < sessions)
        summary_remark(summary, "percentiles-of-some",
                       "percentiles are those of %zu of the %zu sessions: the sums of the others lack them", known,
                       sessions);
    else if (!known && sums && sessions && !session_file_has_trees(analysis->file))
        summary_remark(summary, "percentiles-need-calls",
                       "percentiles are unknown: an older dwell made the sums, without the durations of calls");
    else if (!known && sums)
        summary_remark(summary, "percentiles-need-calls", "percentiles are unknown: %s, which keeps no single calls",
                       sums);
    else if (analysis->lines)
        summary_remark(summary, "percentiles-need-calls", "percentiles are unknown where call paths have lines");
    else if (summary->counted)
        summary_remark(summary, "percentiles-of-timed",
                       "percentiles are those of the timed calls: how long counted ones took is unknown");
}
