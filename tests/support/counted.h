/* Programs that print their own counts of calls, of which some are only counted. */
#ifndef DWELL_TESTS_SUPPORT_COUNTED_H
#define DWELL_TESTS_SUPPORT_COUNTED_H

extern const char *const counted_modes[3];

/* The report has all calls that the program has printed. Those of functions that begin with "hot_" have no time. */
void counted_check(const char *out, const char *what);

/* Records the program `levels/counted` in that mode, with its hot functions counted, and checks it. */
void counted_run(const char *mode, const char *arguments);

#endif
