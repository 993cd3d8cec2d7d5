/* Compares the two ways to find single calls. */
#ifndef TESTS_SUPPORT_SCANNED_H
#define TESTS_SUPPORT_SCANNED_H

#include "analysis/analysis.h"

enum { MAX_SCANNED = 64, MAX_SCAN_JOBS = 4 };

/* The calls that so many workers find are those found in the order of time, to the tick. The session has at most
 * MAX_SCANNED calls. */
void expect_scan(struct analysis *analysis, unsigned jobs);

#endif
