/* Checks that a session has what a command needs. */
#include "commands/session_needs.h"

#include <stddef.h>

#include "analysis/analysis.h"
#include "commands/die.h"

/* What files with sums do not keep. */
static const struct {
    enum session_needs need;
    const char *what;
} of_events[] = {
    { SESSION_SINGLE_CALLS, "single calls" },
    { SESSION_ORDER, "order of events" },
};

void session_needs_check(unsigned needs, const struct session_file *file)
{
    const char *sums = session_file_why_sums(file);
    const bool imported = file->header.origin & DWELL_ORIGIN_IMPORTED;
    for (size_t i = 0; sums && i < sizeof of_events / sizeof *of_events; i++)
        if (needs & of_events[i].need)
            die(STATUS_ERROR, "%s: %s, which keeps no %s%s", file->path, sums, of_events[i].what,
                imported ? "" : "; record in mode trace or ring");
    if (needs & SESSION_PROBES && imported)
        die(STATUS_ERROR, "%s: %s, which keeps no probes", file->path, sums);
}

void session_needs_check_loaded(unsigned needs, const struct analysis *loaded)
{
    session_needs_check(needs, loaded->file);
    if (needs & SESSION_PROBES && !loaded->summary.overhead_known)
        die(STATUS_ERROR, "%s: has no cost of the probes; record again, with at least one call", loaded->file->path);
    if (needs & SESSION_OS_EVENTS && !loaded->summary.application_known)
        die(STATUS_ERROR, "%s: application times are unknown: there was no source of OS events", loaded->file->path);
}
