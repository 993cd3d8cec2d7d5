/* Skips tests of features that the build leaves out. */
#include "support/features.h"

#include <criterion/criterion.h>
#include <string.h>

#include "commands/features.h"

static bool features_have(const char *name, size_t length)
{
    for (const struct feature *const *feature = features; *feature; feature++)
        if (strlen((*feature)->name) == length && memcmp((*feature)->name, name, length) == 0)
            return true;
    return false;
}

void need_features(const char *names)
{
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        if (!features_have(names, length))
            cr_skip("this build is without %.*s", (int)length, names);
    }
}
