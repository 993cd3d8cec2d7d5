/* The list of the places in a module's code that call a probe. They are looked for in the functions that the module's
 * unwind table lists. */
#include "levels/probe_calls.h"

#include <string.h>

#include "sys.h"

enum { RANGE_BYTES = 64 /* as long as that takes to read its range */, FIRST_SCRATCH = 1 << 19 };

bool call_sites_reserve(struct call_sites *sites, uint32_t count)
{
    sites->list = count ? sys_memory(count * sizeof *sites->list) : NULL;
    sites->room = sites->list ? count : 0;
    return sites->room > 0;
}

bool call_sites_add(struct call_sites *sites, const struct call_site *site)
{
    if (sites->count == sites->room) {
        struct call_site *list = sys_grow(sites->list, &sites->room, sizeof *list, 64);
        if (!list)
            return false;
        sites->list = list;
    }
    sites->list[sites->count++] = *site;
    return true;
}

void call_sites_note_load(struct call_sites *sites, const struct hook_places *places, uint64_t address)
{
    const uint64_t at = (address - places->constant_begin) / 8;
    if (!sites->loaded_size) {
        const size_t size = ((places->constant_end - places->constant_begin) / 512 + 1) * sizeof *sites->loaded;
        sites->loaded = sys_memory(size);
        sites->loaded_size = sites->loaded ? size : 0;
    }
    sites->lonely |= !sites->loaded || (address - places->constant_begin) % 8;
    if (sites->loaded)
        sites->loaded[at / 64] |= 1ull << at % 64;
}

void *call_sites_scratch(struct call_sites *sites, int index, size_t size)
{
    struct call_sites_scratch *scratch = &sites->scratch[index];
    if (scratch->size >= size)
        return scratch->at;
    if (scratch->size)
        sys_unmap(scratch->at, scratch->size);
    const size_t room = size > FIRST_SCRATCH / 2 ? 2 * size : FIRST_SCRATCH;
    scratch->at = sys_memory(room);
    scratch->size = scratch->at ? room : 0;
    return scratch->at;
}

static void call_sites_drop_scratch(struct call_sites *sites)
{
    for (int i = 0; i < CALL_SITES_SCRATCHES; i++)
        if (sites->scratch[i].size)
            sys_unmap(sites->scratch[i].at, sites->scratch[i].size);
    memset(sites->scratch, 0, sizeof sites->scratch);
}

void call_sites_drop(struct call_sites *sites)
{
    call_sites_drop_scratch(sites);
    if (sites->room)
        sys_unmap(sites->list, sites->room * sizeof *sites->list);
    if (sites->loaded_size)
        sys_unmap(sites->loaded, sites->loaded_size);
    *sites = (struct call_sites){ .count = 0 };
}

/* The sites from `first` on are those of the code that begins there. */
static void call_sites_end_range(const struct call_sites *sites, uint32_t first, uint64_t begin)
{
    bool begins = false, unknown = false;
    for (uint32_t i = first; i < sites->count; i++) {
        const struct call_site *site = &sites->list[i];
        begins |= site->hook == HOOK_ENTER && site->function == begin;
        unknown |= site->hook == HOOK_ENTER && !site->function;
    }
    if (first == sites->count)
        return;
    sites->list[first].first = true;
    sites->list[first].partial = !begins || unknown;
}

/* False if it is not to be read: it is none, or a part of it was read. */
static bool call_sites_next_range(struct call_sites *sites, const struct hook_places *places,
                                  const struct unwind_ranges *ranges, struct unwind_range *range)
{
    const struct hook_code *code;
    if (!unwind_range_at(ranges, sites->next++, range) || !(code = hook_places_code(places, range->begin)) ||
        range->end > code->end || range->end <= range->begin || range->begin < sites->end)
        return false;
    sites->end = range->end;
    return true;
}

void call_sites_find_first(struct call_sites *sites, bool bare)
{
    *sites = (struct call_sites){ .complete = true, .bare = bare };
}

bool call_sites_find_more(struct call_sites *sites, const struct hook_places *places, const struct dl_phdr_info *info,
                          uint64_t bytes)
{
    struct unwind_ranges ranges;
    sites->complete = sites->complete && unwind_ranges_begin(&ranges, info);
    for (uint64_t done = 0; sites->complete && sites->next < ranges.count; done += RANGE_BYTES) {
        struct unwind_range range;
        if (done >= bytes)
            return true;
        if (!call_sites_next_range(sites, places, &ranges, &range))
            continue;
        const uint32_t first = sites->count;
        done += range.end - range.begin;
        sites->complete = call_sites_in_range(sites, places, &range);
        call_sites_end_range(sites, first, range.begin);
    }
    call_sites_drop_scratch(sites);
    return false;
}

void call_sites_find(struct call_sites *sites, const struct hook_places *places, const struct dl_phdr_info *info,
                     bool bare)
{
    call_sites_find_first(sites, bare);
    call_sites_find_more(sites, places, info, UINT64_MAX);
}
