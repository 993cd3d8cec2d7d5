/*
 * How much a test tries that samples a large number of cases.
 */
#ifndef DWELL_TESTS_ROUNDS_H
#define DWELL_TESTS_ROUNDS_H

/* Of `all` cases: all of them with TEST_ROUNDS=all in the environment, else a quarter, at least one. */
int test_rounds(int all);

#endif
