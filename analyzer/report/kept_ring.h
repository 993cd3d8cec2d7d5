/* The ring that would have held the window of a kept call. */
#ifndef DWELL_REPORT_KEPT_RING_H
#define DWELL_REPORT_KEPT_RING_H

#include "trace/session_file.h"

/* Bytes for each thread, a whole number of MiB, if events come as fast in the missing part. Zero if nothing is missing,
 * or it is not known. `keep` are the session's settings, which kept_settings_read reads; NULL if they are unknown. */
uint64_t kept_ring_needed(const struct session_file *file, const struct dwell_keep *keep,
                          const struct trace_kept *call);

#endif
