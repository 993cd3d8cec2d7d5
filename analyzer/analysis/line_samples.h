/* The samples of functions by source line. */
#ifndef DWELL_ANALYSIS_LINE_SAMPLES_H
#define DWELL_ANALYSIS_LINE_SAMPLES_H

#include "analysis/analysis.h"
#include "profile/sample_sums.h"

/* Gets the samples of an instruction of a function of the profile, and its line. The file is NULL and the
 * line zero if they are unknown. */
typedef void line_samples_taker(void *context, uint32_t function, const char *file, uint32_t line,
                                const struct sample_sum *samples);

/* Passes the samples in which functions were at work themselves. Code of an inlined function that was recorded is that
 * function's own. Code of another inlined function belongs to the line that calls it. */
void line_samples_find(const struct analysis *analysis, line_samples_taker *take, void *context);

#endif
