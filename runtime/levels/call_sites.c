/* The list of the places in a module's code that call a probe. They are looked for in the functions that the module's
 * unwind table lists. */
#include "levels/call_sites.h"

#include <string.h>

#include "sys.h"

enum { AT_ONCE = 1 << 15, RANGE_BYTES = 64 /* as long as that takes to read its range */, FIRST_SCRATCH = 1 << 19 };

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

void call_sites_find(struct call_sites *sites, const struct hook_places *places, const struct dl_phdr_info *info,
                     bool bare, bool (*meanwhile)(const struct hook_places *places))
{
    struct unwind_ranges ranges;
    *sites = (struct call_sites){ .complete = unwind_ranges_begin(&ranges, info), .bare = bare };
    uint64_t end = 0, bytes = AT_ONCE;
    for (uint32_t i = 0; i < ranges.count && sites->complete; i++) {
        struct unwind_range range;
        const struct hook_code *code;
        if (bytes >= AT_ONCE && meanwhile && !meanwhile(places)) {
            sites->complete = false;
            break;
        }
        bytes = (bytes >= AT_ONCE ? 0 : bytes) + RANGE_BYTES;
        if (!unwind_range_at(&ranges, i, &range) || !(code = hook_places_code(places, range.begin)) ||
            range.end > code->end || range.end <= range.begin || range.begin < end)
            continue;
        const uint32_t first = sites->count;
        end = range.end;
        bytes += range.end - range.begin;
        sites->complete = call_sites_in_range(sites, places, &range);
        call_sites_end_range(sites, first, range.begin);
    }
    call_sites_drop_scratch(sites);
}
