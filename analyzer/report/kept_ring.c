/* The ring that would have held the window of a kept call. */
#include "report/kept_ring.h"

#include "base/numbers.h"

uint64_t kept_ring_needed(const struct session_file *file, const struct dwell_keep *keep, const struct trace_kept *call)
{
    if (!call->missing || !keep)
        return 0;
    /* The ring held the rest of the window up to the call's end. Some more is for the work after it. */
    const double before = (double)(call->exit_time - call->enter_time) + (double)kept_around(call, keep);
    const double held = before - (double)call->missing, more = 1.25;
    if (held <= 0)
        return 0;
    const double mebibytes = (double)file->header.ring_size * (before / held) * more / (1 << 20);
    return mebibytes < 1e6 ? ((uint64_t)mebibytes + 1) << 20 : 0;
}
