/* The samples of functions by source line. */
#ifndef DWELL_ANALYSIS_LINE_SAMPLES_H
#define DWELL_ANALYSIS_LINE_SAMPLES_H

#include "analysis/analysis.h"

/* Gets the number of samples of an instruction of a function: by the line in `file`, or of its inlined part. The line
 * is zero if it is unknown or in another file. */
typedef void line_samples_taker(void *context, uint32_t line, uint64_t samples);

/* Passes the samples in which one of these functions (by function of the profile) was at work itself. Code of an
 * inlined function that was recorded is that function's own. Code of another inlined function belongs to the line that
 * calls it. */
void line_samples_find(const struct analysis *l, const bool *functions, const char *file, line_samples_taker *take,
                       void *context);

#endif
