/* How long a recorded program ran. */
#ifndef DWELL_ANALYSIS_RUN_LENGTH_H
#define DWELL_ANALYSIS_RUN_LENGTH_H

#include "profile/selection.h"

/* In ticks, from the start of the first process to the end of the last one. Of a selection, the part in its range of
 * time. Zero if it is unknown: of imported reports, of sums of several runs, of ranges that differ from thread to
 * thread, and if no end was recorded, as while the program runs. */
uint64_t run_length(const struct session_file *file, const struct selection *selection);

#endif
