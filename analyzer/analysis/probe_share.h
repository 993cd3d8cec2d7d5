/* Warns if most of the CPU time that was measured is that of the probes. */
#ifndef DWELL_ANALYSIS_PROBE_SHARE_H
#define DWELL_ANALYSIS_PROBE_SHARE_H

#include "analysis/summary.h"

/* A line for people if the probes took more than half of the time that was measured for some calls: `overhead` ticks
 * were subtracted, and `rest` ticks are left. `where` follows the words "the CPU time measured". Otherwise, if nothing
 * was subtracted, and if a budget had calls counted, NULL. The caller frees it. */
char *probe_share_remark(const struct summary *summary, uint64_t overhead, uint64_t rest, const char *where);

/* The value that holds `rest`: CPU time, or elapsed time if times on the CPU are unknown. */
enum value_id probe_share_rest(const struct summary *s);

#endif
