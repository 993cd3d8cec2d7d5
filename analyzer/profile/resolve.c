/* Finds the profile's function for an address. It remembers each result for the generation of the module map. */
#include "profile/resolve.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "profile/generations.h"
#include "profile/identify.h"

struct resolver {
    const struct session_file *file;
    const struct profile *profile;
    struct generations *generations; /* by process; the last one is for processes that the session does not know */
    struct number_index *functions;  /* (address and generation, process) -> function */
    /* Of the last look-up: events of a process follow each other. */
    const struct trace_process *latest;
    size_t latest_number; /* in `generations` */
    uint32_t latest_process;
    bool any;
};

struct resolver *resolver_new(const struct session_file *file, const struct profile *profile)
{
    struct resolver *r = need_memory(1, sizeof *r);
    *r = (struct resolver){ .file = file, .profile = profile };
    r->generations = need_memory(file->process_count + 1, sizeof *r->generations);
    for (size_t i = 0; i <= file->process_count; i++)
        generations_begin(&r->generations[i], i < file->process_count ? &file->processes[i] : NULL);
    r->functions = index_new();
    return r;
}

void resolver_free(struct resolver *r)
{
    free(r->generations);
    index_free(r->functions);
    free(r);
}

static void resolver_change_process(struct resolver *r, uint32_t process)
{
    r->latest = session_file_process(r->file, process);
    r->latest_number = r->latest ? (size_t)(r->latest - r->file->processes) : r->file->process_count;
    r->latest_process = process;
    r->any = true;
}

const struct generations *resolver_generation(struct resolver *r, uint32_t process, uint64_t time)
{
    if (!r->any || r->latest_process != process)
        resolver_change_process(r, process);
    struct generations *g = &r->generations[r->latest_number];
    if (time < g->begin_at || time >= g->next_at)
        generations_find(g, time);
    return g;
}

uint32_t resolver_function(struct resolver *r, uint32_t process, uint64_t address, uint64_t time)
{
    const struct generations *g = resolver_generation(r, process, time);
    const uint64_t key = generations_address(g, address);
    struct index_slot *slot = index_find(r->functions, key, process);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    const uint32_t function = find_function(r->profile, r->latest, address, time);
    if (function != PROFILE_NONE)
        index_set(r->functions, slot, key, process, function);
    return function;
}
