/* Loads sessions, and fails the test if one does not load. */
#include "support/load.h"

#include <criterion/criterion.h>

void load_with(struct analysis *l, const char *path, const struct analysis_options *options)
{
    load_several(l, &path, 1, options);
}

void load_several(struct analysis *l, const char *const *paths, size_t count, const struct analysis_options *options)
{
    struct error error = { NULL };
    cr_assert(analysis_load_several(l, paths, count, options, &error), "%s", error.text);
}

void load_whole(struct analysis *l, const char *path, unsigned jobs)
{
    load_with(l, path, &(struct analysis_options){ .jobs = jobs });
}
