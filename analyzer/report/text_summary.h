/* What a session's tables rest on. It stands below them, as the answer comes first. */
#ifndef DWELL_REPORT_TEXT_SUMMARY_H
#define DWELL_REPORT_TEXT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/summary.h"

/* The session's sums as a part of a line. `brief`: the times alone, without the length of the run, the
 * numbers of events, and what recording added (analysis/budget_reached.h). The caller frees it. */
char *text_summary_facts(const struct summary *summary, bool brief);

/* What the marks of rows mean, as a line of text, if calls were only counted. NULL otherwise. The caller frees it. */
char *text_summary_legend(const struct summary *summary);

/* A line of the path and the facts, the remarks without caveats, and the legend. Where it follows other lines, behind
 * an empty one. */
void text_print_facts(const struct summary *summary, bool follows, FILE *out);

/* The same above a table, with an empty line at the end. */
void text_print_summary(const struct summary *summary, FILE *out);

#endif
