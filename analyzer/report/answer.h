/* The answer that a report opens with: one sentence about what a run was and where its time went. */
#ifndef DWELL_REPORT_ANSWER_H
#define DWELL_REPORT_ANSWER_H

#include "analysis/analysis.h"

/* "ran 0.790 s in 5 threads: 58 % of the main thread's time blocked in pthread_join, CPU 0.220 s: Index::add 25 %,
 * tokenize 19 %". Times of functions are exclusive, and shares are of the CPU time of all threads, or of their elapsed
 * time if CPU times are unknown. NULL for imported sessions, which have no threads. The names are as in the session:
 * make the text visible. The caller frees it. */
char *answer_sentence(const struct analysis *analysis);

/* The same with at most so many functions, three at most. */
char *answer_sentence_with(const struct analysis *analysis, size_t functions);

#endif
