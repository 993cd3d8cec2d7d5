/* Functions whose probes had another level than timed during a part of the recording (docs/levels.md). */
#include "analysis/level_changes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/index.h"
#include "base/memory.h"

enum { NAMED = 5 /* functions of the remark */ };

const char *level_name(uint32_t level)
{
    static const char *const names[] = { "timed", "counted", "out" };
    return level < sizeof names / sizeof *names ? names[level] : "unknown";
}

void level_changes_remark(struct summary *s, const struct session_file *file)
{
    if (!file->level_count)
        return;
    struct number_index *seen = index_new();
    struct namer *namer = namer_new(file);
    char *names = need_copy("", 0);
    size_t count = 0;
    for (size_t i = 0; i < file->level_count; i++) {
        const struct trace_level *level = &file->levels[i];
        struct index_slot *slot = index_find(seen, level->function, level->process);
        if (level->level == DWELL_PROBES_TIMED || slot->value_plus_1)
            continue;
        index_set(seen, slot, level->function, level->process, 0);
        if (count++ >= NAMED)
            continue;
        char *more = need_text("%s%s%s", names, count > 1 ? ", " : "",
                               namer_find(namer, level->process, level->function, level->time));
        free(names);
        names = more;
    }
    if (count)
        summary_remark(s, "%zu function%s not timed for the whole run: %s%s; see dwell info", count,
                       count == 1 ? " was" : "s were", names, count > NAMED ? " and others" : "");
    free(names);
    namer_free(namer);
    index_free(seen);
}
