/* Checks the rows of imported reports. */
#include "trace/reported_rows.h"

bool reported_is_plausible(const struct dwell_rec_reported *r)
{
    const uint64_t most = (uint64_t)1 << 60;
    if (r->kind < DWELL_REPORTED_FUNCTION || r->kind > DWELL_REPORTED_MODULE || r->function == 0)
        return false;
    if (r->kind == DWELL_REPORTED_CALLEE && r->other == 0)
        return false;
    return r->elapsed_inclusive <= most && r->elapsed_exclusive <= most && r->calls <= most &&
           r->application_inclusive <= r->elapsed_inclusive && r->application_exclusive <= r->elapsed_exclusive;
}

bool reported_columns_are_plausible(const struct dwell_stated *stated)
{
    const double most = (double)((uint64_t)1 << 60);
    for (unsigned i = 0; i < DWELL_STATED_COLUMNS; i++)
        if (stated->columns >> i & 1 && !(stated->values[i] >= 0 && stated->values[i] <= most))
            return false;
    return true;
}
