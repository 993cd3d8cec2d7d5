#include "support/swallow.h"

#include <stdlib.h>

#include "profile/collect.h"
#include "profile/rollup.h"
#include "trace/scan.h"

bool swallow_session(const char *path, const char **error)
{
    struct session_file *file = session_file_open(path, error);
    if (!file)
        return false;
    struct profile *profile = collect_profile(file, 1);
    struct rollup *rollup = rollup_new(profile);
    for (int by = BY_FUNCTION; by <= BY_PROCESS; by++)
        free(rollup_groups(rollup, (enum rollup_by)by));
    for (uint32_t i = 0; i < profile->function_count && i < 4; i++) {
        struct neighbours n = rollup_neighbours(rollup, i);
        neighbours_free(&n);
    }
    profile_free(rollup_join_threads(profile));
    struct scan scan = scan_session(file, 1);
    scan_free(&scan);
    rollup_free(rollup);
    profile_free(profile);
    session_file_close(file);
    return true;
}
