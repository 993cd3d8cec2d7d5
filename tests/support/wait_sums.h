/* The waits of a session add up to the blocked time of its report. */
#ifndef DWELL_TESTS_WAIT_SUMS_H
#define DWELL_TESTS_WAIT_SUMS_H

/* `name`: of the session in the test's folder. */
void wait_sums_check(const char *name);

#endif
