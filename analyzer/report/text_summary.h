/* What stands above the tables of a session. */
#ifndef DWELL_REPORT_TEXT_SUMMARY_H
#define DWELL_REPORT_TEXT_SUMMARY_H

#include <stdio.h>

#include "analysis/summary.h"

void text_print_summary(const struct summary *s, FILE *out);

#endif
