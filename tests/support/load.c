/* Loads sessions, and fails the test if one does not load. */
#include "support/load.h"

#include <criterion/criterion.h>

void load_with(struct analysis *analysis, const char *path, const struct analysis_options *options)
{
    load_several(analysis, &path, 1, options);
}

void load_several(struct analysis *analysis, const char *const *paths, size_t count,
                  const struct analysis_options *options)
{
    struct error error = { NULL };
    cr_assert(analysis_load_several(analysis, paths, count, options, &error), "%s", error.text);
}

void load_whole(struct analysis *analysis, const char *path, unsigned jobs)
{
    load_with(analysis, path, &(struct analysis_options){ .jobs = jobs });
}
