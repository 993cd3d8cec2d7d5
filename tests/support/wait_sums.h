/* The waits of a session add up to the blocked time of its report. */
#ifndef DWELL_TESTS_WAIT_SUMS_H
#define DWELL_TESTS_WAIT_SUMS_H

/* `name`: of the session in the test's folder. */
void wait_sums_check(const char *name);

/* A pattern of rows to leave out where the wanted row is `row`. On a busy machine, a call may also wait inside the
 * kernel for what no thread of the program ends: such a row has no cause. */
const char *wait_sums_others(const char *row);

#endif
