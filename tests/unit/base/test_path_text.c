/* File names of paths. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/path_text.h"

Test(unit_path_text, a_file_name_is_what_follows_the_last_slash, .timeout = 300)
{
    cr_assert(eq(str, (char *)path_file_name("/usr/lib/libm.so"), "libm.so"));
    cr_assert(eq(str, (char *)path_file_name("./main.c"), "main.c"));
    cr_assert(eq(str, (char *)path_file_name("main.c"), "main.c"));
    cr_assert(eq(str, (char *)path_file_name("folder/"), ""));
    cr_assert(eq(str, (char *)path_file_name(""), ""));
}
