/* The features that the tested build has. */
#ifndef DWELL_TESTS_FEATURES_H
#define DWELL_TESTS_FEATURES_H

/* Skips the test unless the build has all of these features, such as "perflog vsperf". */
void need_features(const char *names);

#endif
