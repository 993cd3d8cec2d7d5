#include "support/swallow.h"

#include <stdlib.h>

#include "profile/collect.h"
#include "profile/edges.h"
#include "profile/rollup.h"
#include "trace/scan.h"

/* The quick scan follows events by other code than the profile; whatever the input, they have to see the same. */
static void check_scan(const struct session_file *file, const struct profile_counts *counts)
{
    struct scan scan = scan_session(file, 1);
    if (scan.enters != counts->enters || scan.exits != counts->exits + counts->stray_exits)
        abort();
    scan_free(&scan);
}

static void take_by_process(const struct profile *profile, const struct rollup *rollup)
{
    size_t count;
    uint32_t *processes = rollup_process_list(profile, &count);
    for (size_t i = 0; i < count && i < 4; i++) {
        struct edges e = edges_of_process(rollup, processes[i]);
        edges_free(&e);
        profile_free(rollup_join_process(profile, processes[i]));
    }
    free(processes);
}

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
    take_by_process(profile, rollup);
    check_scan(file, &profile->counts);
    rollup_free(rollup);
    profile_free(profile);
    session_file_close(file);
    return true;
}
