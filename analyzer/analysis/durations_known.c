/* Finds out of which calls durations are known, and says so. */
#include "analysis/durations_known.h"

#include <inttypes.h>

#include "analysis/single_calls.h"
#include "base/counted_text.h"
#include "profile/tree_durations.h"

unsigned durations_wanted(const struct analysis *analysis)
{
    const unsigned raw = tree_durations_kind_bit(DWELL_DURATIONS_RAW),
                   net = tree_durations_kind_bit(DWELL_DURATIONS_NET);
    return analysis->raw && single_calls_resolution(analysis->file) ? raw : raw | net;
}

/* How many sessions of a file have which durations. */
struct durations_sessions {
    size_t all, net, chosen;
};

static struct durations_sessions durations_count_sessions(const struct session_file *file)
{
    struct durations_sessions s = { .all = file->sums.summed_count };
    for (size_t i = 0; i < s.all; i++) {
        s.net += file->sums.summed[i].record.durations == DWELL_DURATIONS_NET;
        s.chosen += file->sums.summed[i].record.durations == DWELL_DURATIONS_RAW;
    }
    if (s.all == 0 && tree_durations_kinds(file))
        s = (struct durations_sessions){ 1, 0, 1 };
    return s;
}

static void durations_remark_unknown(struct summary *summary, const struct analysis *analysis,
                                     const struct durations_sessions *sessions)
{
    const char *sums = session_file_why_sums(analysis->file);
    if (analysis->lines)
        summary_remark(summary, "percentiles-need-calls", "percentiles are unknown where call paths have lines");
    else if (sessions->all && !session_file_has_trees(analysis->file))
        summary_remark(summary, "percentiles-need-calls",
                       "percentiles are unknown: an older dwell made the sums, without the durations of calls");
    else if (session_file_has_trees(analysis->file))
        summary_remark(summary, "percentiles-need-calls",
                       "percentiles are unknown in mode profile without record --histogram");
    else if (sums)
        summary_remark(summary, "percentiles-need-calls", "percentiles are unknown: %s, which keeps no single calls",
                       sums);
}

static void durations_remark_chosen(struct summary *summary, const struct analysis *analysis)
{
    const bool estimated = !analysis->raw && single_calls_resolution(analysis->file);
    summary_remark(summary, "percentiles-of-chosen", "only functions of --histogram have percentiles%s",
                   estimated ? " (~: less the probes' average)" : "");
    const size_t functions = analysis->profile->uncounted_functions;
    if (functions)
        summary_remark(summary, "percentiles-had-no-room", "percentiles of %s are unknown: no room to count %s",
                       COUNTED(functions, "function"), COUNTED(analysis->profile->uncounted_calls, "call"));
}

void durations_remark(struct summary *summary, const struct analysis *analysis)
{
    const struct durations_sessions sessions = durations_count_sessions(analysis->file);
    const bool sums = session_file_why_sums(analysis->file),
               needs_net = sessions.net && !(durations_wanted(analysis) & tree_durations_kind_bit(DWELL_DURATIONS_NET));
    const size_t known = sessions.chosen + (needs_net ? 0 : sessions.net);
    summary->durations_known = !analysis->lines && (known ? known == sessions.all : !sums);
    if (analysis->lines || (!known && sums && !needs_net))
        durations_remark_unknown(summary, analysis, &sessions);
    else if (needs_net && !known)
        summary_remark(summary, "percentiles-need-net",
                       "percentiles are unknown: sums have them without the time of the probes (no --raw)");
    else if (known && known < sessions.all)
        summary_remark(summary, "percentiles-of-some",
                       "percentiles are those of %zu of the %zu sessions: the sums of the others lack them", known,
                       sessions.all);
    if (sessions.chosen && !analysis->lines)
        durations_remark_chosen(summary, analysis);
    else if (!sums && !analysis->lines && summary->counted)
        summary_remark(summary, "percentiles-of-timed",
                       "percentiles are those of the timed calls: how long counted ones took is unknown");
}
