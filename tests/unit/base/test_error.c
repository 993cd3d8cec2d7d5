/* Errors: the first one stays, and one that was dropped can be set again. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/error.h"

TestSuite(unit_error);

Test(unit_error, the_first_stays)
{
    struct error error = { NULL };
    cr_assert(not(error_set(&error, "%s: %d", "file", 1)));
    cr_assert(not(error_set(&error, "what follows from it")));
    cr_assert(eq(str, error.text, "file: 1"));
    error_drop(&error);
    cr_assert(eq(ptr, error.text, NULL));
    error_set(&error, "another");
    cr_assert(eq(str, error.text, "another"));
    error_drop(&error);
    error_drop(&error);
}
