/* Calls that return errors, in tests that expect success or a certain error. */
#ifndef TESTS_SUPPORT_SUCCESS_H
#define TESTS_SUPPORT_SUCCESS_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/error.h"

/* Runs the call, which must pass `&error`. The test fails with the error's text if the call returns false or NULL. */
#define EXPECT_SUCCESS(call)                                                                                           \
    do {                                                                                                               \
        struct error error = { NULL };                                                                                 \
        const bool succeeded = (call);                                                                                 \
        cr_assert(succeeded, "%s", error.text);                                                                        \
    } while (0)

/* Runs the call, which must pass `&error`. The test fails unless the call returns false or NULL with that text. */
#define EXPECT_ERROR(call, wanted)                                                                                     \
    do {                                                                                                               \
        struct error error = { NULL };                                                                                 \
        const bool failed = !(call);                                                                                   \
        cr_assert(failed);                                                                                             \
        const bool same = error.text && strcmp(error.text, wanted) == 0;                                               \
        cr_assert(same, "%s", error.text ? error.text : "no error");                                                   \
        error_drop(&error);                                                                                            \
    } while (0)

#endif
