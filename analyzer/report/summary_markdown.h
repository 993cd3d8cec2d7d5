/* The report in short, for comments on changes and for chats: the answer and the rows that matter, in Markdown. */
#ifndef DWELL_REPORT_SUMMARY_MARKDOWN_H
#define DWELL_REPORT_SUMMARY_MARKDOWN_H

#include "tables/views.h"

enum { SUMMARY_ROWS = 10, SUMMARY_WAITS = 3 };

/* At most 40 lines. The tables are sorted and limited: together they have at most SUMMARY_ROWS rows. `key` is that of
 * the column of `work` by which it is sorted. `waits` may be NULL. */
void summary_print_markdown(const struct analysis *analysis, const struct table *work, const char *key,
                            const struct table *waits, FILE *out);

#endif
