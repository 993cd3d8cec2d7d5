/* Checks that a session has what a command or an export needs. */
#include "analysis/session_needs.h"

#include <stddef.h>

#include "analysis/analysis.h"

/* What files with sums do not keep. */
static const struct {
    enum session_needs need;
    const char *what;
} of_events[] = {
    { SESSION_SINGLE_CALLS, "single calls" },
    { SESSION_ORDER, "order of events" },
};

bool session_needs_check(unsigned needs, const struct session_file *file, const char *instead, struct error *error)
{
    const char *sums = session_file_why_sums(file);
    if (needs & SESSION_VALUED_CALLS && !session_file_can_have_valued_sums(file))
        needs |= SESSION_SINGLE_CALLS;
    const bool imported = file->header.origin & DWELL_ORIGIN_IMPORTED, summed = file->header.origin & DWELL_ORIGIN_SUMS;
    const char *before = imported ? "; " : ", or ", *record = imported ? ""
                                                              : summed ? "; read the recorded session"
                                                                       : "; record in mode trace or ring";
    for (size_t i = 0; sums && i < sizeof of_events / sizeof *of_events; i++)
        if (needs & of_events[i].need)
            return error_set(error, "%s: %s, which %s no %s%s%s%s", file->path, summed ? "holds sums" : sums,
                             summed ? "keep" : "keeps", of_events[i].what, record, instead ? before : "",
                             instead ? instead : "");
    if (needs & SESSION_PROBES && imported)
        return error_set(error, "%s: %s, which keeps no probes", file->path, sums);
    return true;
}

bool session_needs_check_loaded(unsigned needs, const struct analysis *loaded, const char *instead, struct error *error)
{
    const char *path = loaded->file->path;
    if (!session_needs_check(needs, loaded->file, instead, error))
        return false;
    if (needs & SESSION_PROBES && !loaded->summary.overhead_known)
        return error_set(error, "%s: has no cost of the probes; record again, with at least one call", path);
    if (needs & SESSION_OS_EVENTS && !loaded->summary.application_known)
        return error_set(error, "%s: application times are unknown: there was no source of OS events", path);
    return true;
}
