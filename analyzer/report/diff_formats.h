/* Comparisons in formats for continuous integration: a comment in Markdown, annotations of GitHub's workflows, and
 * JUnit's XML. */
#ifndef DWELL_REPORT_DIFF_FORMATS_H
#define DWELL_REPORT_DIFF_FORMATS_H

#include "comparison/diff.h"
#include "report/diff_sources.h"

/* What is printed, beside the comparison. */
struct diff_output {
    const struct diff *diff;
    const struct diff_options *options;
    const struct gate *gates;
    size_t gate_count;
    const struct diff_sources *sources;
};

typedef void diff_printer(const struct diff_output *o, FILE *out);

diff_printer diff_print_markdown, diff_print_github, diff_print_junit;

/* Whether the row's value has become significantly larger. */
bool diff_has_regressed(const struct diff_row *row, enum diff_value value);

#endif
