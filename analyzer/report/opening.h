/* What stands above and below the tables of a report in text: the answer first, and last what it rests on. */
#ifndef DWELL_REPORT_OPENING_H
#define DWELL_REPORT_OPENING_H

#include "analysis/analysis.h"

/* The sessions and the answer (report/answer.h), or the sums of an imported session: a line that is not made visible
 * yet. The caller frees it. */
char *opening_line(const struct analysis *analysis);

/* The other two consist of whole lines, broken between words where they are wider than `width` cells, or not at all if
 * that is zero. The caller frees them. */

/* The same line. If names would need a third line of a usual terminal, it has fewer functions. */
char *opening_text(const struct analysis *analysis, size_t width);

enum { USUAL_REMARK_LINES = 2 };

/* After an empty line: what recording added and the sums, what marks mean, the first remarks, which are the most
 * harmful to the figures, how many remarks there are, and `hint`, which may be NULL. Remarks have `remark_lines`
 * together. Caveats are no remarks here. Empty if there is nothing to say. */
char *closing_text(const struct summary *summary, const char *hint, size_t width, size_t remark_lines);

size_t text_lines(const char *text);

#endif
