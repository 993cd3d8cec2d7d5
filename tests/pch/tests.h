/* What most tests include, and takes most of the time to compile. Files still include what they use. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
