/*
 * What tests of the profile share: a temporary folder, a session read and profiled, its times by address, and the
 * identities of the time model.
 */
#ifndef DWELL_TESTS_SCENARIO_H
#define DWELL_TESTS_SCENARIO_H

#include "profile/collect.h"
#include "profile/rollup.h"
#include "support/session_writer.h"

/* A new folder for the test, and a path in it. Both are static strings. The folder is removed at exit. */
const char *test_folder(void);
const char *test_path(const char *name);

struct outcome {
    struct session_file *file;
    struct profile *profile;
    struct rollup *rollup;
};

/* Saves the session, frees the writer, reads and profiles. The test fails if the session cannot be opened. */
struct outcome outcome_of(struct writer *w, unsigned jobs);
void outcome_drop(struct outcome *o);

/* The times of a function by its address, which is in no module. */
struct times function_times(const struct outcome *o, uint64_t address);
struct times thread_times(const struct outcome *o, uint32_t thread);
struct times process_times(const struct outcome *o, uint32_t serial);
/* The times of that thread's call path. A zero ends the addresses. */
struct times path_times(const struct outcome *o, uint32_t thread, const uint64_t *path);

/* Fails the test unless the identities of the time model hold. */
void check_identities(const struct outcome *o);

#define ASSERT_TIMES(t, ei, ee, ai, ae, n)                                                                             \
    do {                                                                                                               \
        struct times times_ = (t);                                                                                     \
        cr_assert(eq(u64, times_.elapsed_inclusive, (ei)));                                                            \
        cr_assert(eq(u64, times_.elapsed_exclusive, (ee)));                                                            \
        cr_assert(eq(u64, times_.application_inclusive, (ai)));                                                        \
        cr_assert(eq(u64, times_.application_exclusive, (ae)));                                                        \
        cr_assert(eq(u64, times_.calls, (n)));                                                                         \
    } while (0)

#endif
