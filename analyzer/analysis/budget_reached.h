/* How much of the program's time recording took, beside the budget that was asked for. */
#ifndef DWELL_ANALYSIS_BUDGET_REACHED_H
#define DWELL_ANALYSIS_BUDGET_REACHED_H

#include "analysis/analysis.h"

/* A text such as "overhead 10 % asked, 6 % reached", or NULL if the session was recorded without a budget, or only a
 * part of it is shown. The caller frees it. */
char *budget_reached_text(const struct summary *summary);

/* How much recording disturbed the run, in one figure: "recording added 17 % to the CPU time (10 % asked)". Of sessions
 * in which no budget has acted, and of parts of others, it is the time of the probes, which is left out of all times.
 * NULL if nothing is known. The caller frees it. */
char *budget_added_text(const struct summary *summary);

/* What that figure consists of, for `dwell info`; NULL as above. The caller frees it. */
char *budget_parts_text(const struct summary *summary);

/* Finds `asked_percent` and `reached_percent` of the summary, whose other members are known. Adds a remark if the
 * budget had calls counted and was not reached all the same. */
void budget_reached_find(struct analysis *analysis);

#endif
