/* Functions whose probes had another level than timed during a part of the recording (docs/levels.md). */
#include "analysis/level_changes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/counted_text.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/short_name.h"

enum { NAMED = 5 /* functions of the remark */ };

const char *level_name(uint32_t level)
{
    static const char *const names[] = {
        [DWELL_PROBES_TIMED] = "timed", [DWELL_PROBES_COUNTED] = "counted", [DWELL_PROBES_OUT] = "out"
    };
    return level < sizeof names / sizeof *names ? names[level] : "unknown";
}

static int level_changes_compare(const void *a, const void *b)
{
    const struct level_change *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return ORDER_BY(x, y, first, process, function);
}

/* Where the rows of functions are. A function is the same in all processes that have its module. */
struct level_places {
    struct number_index *modules; /* numbers by build-id or path */
    struct number_index *rows;    /* by offset and module, or by address and process where the module is unknown */
};

struct level_key {
    uint64_t offset;
    uint32_t module;
};

static struct level_key level_key_of(struct level_places *p, const struct session_file *file, uint32_t process,
                                     uint64_t function, uint64_t time)
{
    const struct trace_process *of = session_file_process(file, process);
    const struct trace_module *m = of ? trace_module_at(of, function, time) : NULL;
    if (!m)
        return (struct level_key){ function, UINT32_MAX - process };
    const uint64_t key = m->build_id_length ? index_bytes_key(m->build_id, m->build_id_length)
                                            : index_bytes_key(m->path, strlen(m->path));
    struct index_slot *slot = index_find(p->modules, key, 0);
    if (!slot->value_plus_1) {
        index_set(p->modules, slot, key, 0, (uint32_t)p->modules->used);
        slot = index_find(p->modules, key, 0);
    }
    return (struct level_key){ function - m->bias, slot->value_plus_1 };
}

static void level_places_drop(struct level_places *p)
{
    index_free(p->modules);
    index_free(p->rows);
}

/* Damaged files may have any order of decisions: the one with most calls is the last. */
static struct level_places level_changes_decided(struct level_changes *changes, const struct session_file *file)
{
    struct level_places places = { index_new(), index_new() };
    for (size_t i = 0; i < file->levels.decision_count; i++) {
        const struct trace_decision *d = &file->levels.decisions[i];
        const struct level_key key = level_key_of(&places, file, d->process, d->function, d->time);
        struct index_slot *slot = index_find(places.rows, key.offset, key.module);
        struct level_change *c = &changes->decided[changes->decided_count];
        if (slot->value_plus_1) {
            c = &changes->decided[slot->value_plus_1 - 1];
        } else {
            *c = (struct level_change){ .process = d->process, .function = d->function };
            index_set(places.rows, slot, key.offset, key.module, (uint32_t)changes->decided_count++);
        }
        if (d->calls < c->calls)
            continue;
        c->calls = d->calls;
        c->mean = d->mean;
    }
    return places;
}

/* A process that begins with a level that the function has already is no change of it. */
static void level_changes_add(struct level_changes *changes, struct level_places *places,
                              const struct session_file *file, const struct trace_level *level)
{
    const struct level_key key = level_key_of(places, file, level->process, level->function, level->time);
    const struct index_slot *slot = index_find(places->rows, key.offset, key.module);
    if (!slot->value_plus_1) {
        changes->others[changes->other_count++] = level;
        return;
    }
    struct level_change *c = &changes->decided[slot->value_plus_1 - 1];
    if (c->changes && c->level == level->level)
        return;
    if (!c->changes++)
        c->first = level->time;
    c->level = level->level;
    c->process = level->process;
    c->function = level->function;
    c->last = level->time;
}

/* Functions that never got the decided level are left out. */
struct level_changes level_changes_of(const struct session_file *file)
{
    struct level_changes changes = {
        .decided = need_memory(file->levels.decision_count, sizeof *changes.decided),
        .others = need_memory(file->levels.change_count, sizeof(const struct trace_level *)),
    };
    struct level_places places = level_changes_decided(&changes, file);
    for (size_t i = 0; i < file->levels.change_count; i++)
        level_changes_add(&changes, &places, file, &file->levels.changes[i]);
    level_places_drop(&places);
    size_t kept = 0;
    for (size_t i = 0; i < changes.decided_count; i++)
        if (changes.decided[i].changes)
            changes.decided[kept++] = changes.decided[i];
    changes.decided_count = kept;
    if (kept)
        qsort(changes.decided, kept, sizeof *changes.decided, level_changes_compare);
    return changes;
}

void level_changes_drop(struct level_changes *changes)
{
    free(changes->decided);
    free(changes->others);
}

bool level_changes_have(const struct session_file *file, const char *name)
{
    struct namer *namer = file->levels.change_count ? namer_new(file) : NULL;
    bool found = false;
    for (size_t i = 0; i < file->levels.change_count && !found; i++) {
        const struct trace_level *level = &file->levels.changes[i];
        found = level->level != DWELL_PROBES_TIMED &&
                short_name_matches(namer_find(namer, level->process, level->function, level->time), short_name_is_text,
                                   name);
    }
    if (namer)
        namer_free(namer);
    return found;
}

void level_changes_remark(struct summary *summary, const struct session_file *file, bool counted)
{
    if (!file->levels.change_count)
        return;
    struct number_index *seen = index_new();
    struct namer *namer = namer_new(file);
    char *names = need_copy("", 0);
    size_t count = 0;
    for (size_t i = 0; i < file->levels.change_count; i++) {
        const struct trace_level *level = &file->levels.changes[i];
        struct index_slot *slot = index_find(seen, level->function, level->process);
        const bool elsewhere = level->level == DWELL_PROBES_TIMED || (counted && level->level == DWELL_PROBES_COUNTED);
        if (elsewhere || slot->value_plus_1)
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
        summary_remark(summary, "not-timed-throughout", "%s not timed for the whole run: %s%s; see dwell info",
                       COUNTED_WAS(count, "function"), names, count > NAMED ? " and others" : "");
    free(names);
    namer_free(namer);
    index_free(seen);
}
