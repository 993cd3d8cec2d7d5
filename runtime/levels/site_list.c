/* A function is a place in the module, or what one of the module's constant slots holds: that may lie in another
 * module. So the list begins with all slots that functions follow from. They have to hold the same here: zero, the same
 * place in the module, or anything else that is equal for the same slots. Then whoever reads the code here finds the
 * same functions, or knows more: where two different values meet, the function is unknown.
 *
 * The list consists of numbers. A slot has its distance from the one before and what it holds. A site has its distance
 * from the one before, with two flags, and its function. */
#include "levels/site_list.h"

#include "common.h"
#include "sys.h"

enum {
    MOST_BYTES = 10,     /* of a number */
    LEAST_BYTES = 2,     /* of a site */
    MOST_ELSEWHERE = 512 /* values: each is compared with all others */
};

/* What a slot holds: zero, or this plus twice a place in the module or a number of other values. */
enum { HOLDS_ZERO, HOLDS_PLACE, HOLDS_OTHER };

/* What a site's function is: the first two are all, the others are in the lowest bit of what is above them. */
enum { FUNCTION_UNKNOWN, FUNCTION_SAME, FUNCTION_OTHERS };

enum { SITE_FIRST = 1, SITE_PARTIAL = 2, SITE_BITS = 2 };

struct site_numbers {
    uint8_t *at, *end;
    bool good;
};

static void site_put(struct site_numbers *n, uint64_t value)
{
    do {
        if (n->at == n->end) {
            n->good = false;
            return;
        }
        *n->at++ = (uint8_t)(value & 127) | (value > 127 ? 128 : 0);
    } while (value >>= 7);
}

static uint64_t site_take(struct site_numbers *n)
{
    uint64_t value = 0;
    for (int shift = 0; n->at < n->end && shift < 7 * MOST_BYTES; shift += 7) {
        const uint8_t byte = *n->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    n->good = false;
    return 0;
}

/* Distances in both directions as numbers. */
static uint64_t site_fold(int64_t distance)
{
    return distance < 0 ? ~((uint64_t)distance << 1) : (uint64_t)distance << 1;
}

static int64_t site_unfold(uint64_t number)
{
    return (int64_t)(number >> 1 ^ -(number & 1));
}

/* The end of the module's memory, from its bias. */
static uint64_t site_extent(const struct dl_phdr_info *info)
{
    uint64_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > end)
            end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return end;
}

/* Values that lie outside of the module. */
struct site_slots {
    uint32_t count;
    uint64_t values[MOST_ELSEWHERE];
};

/* The number of that value; `count` if there is none. */
static uint32_t site_find_value(const struct site_slots *slots, uint64_t value)
{
    uint32_t i = 0;
    while (i < slots->count && slots->values[i] != value)
        i++;
    return i;
}

static uint64_t site_slot_value(uint64_t slot)
{
    return *(const volatile uint64_t *)slot;
}

static bool site_is_inside(uint64_t value, uint64_t bias, uint64_t extent)
{
    return value - bias < extent;
}

/* ---- writing ---- */

static void site_put_load(struct site_numbers *n, struct site_slots *elsewhere, uint64_t value, uint64_t bias,
                          uint64_t extent)
{
    if (!value || site_is_inside(value, bias, extent)) {
        site_put(n, value ? HOLDS_PLACE + 2 * (value - bias) : HOLDS_ZERO);
        return;
    }
    const uint32_t same = site_find_value(elsewhere, value);
    site_put(n, HOLDS_OTHER + 2 * (uint64_t)same);
    if (same < elsewhere->count)
        return;
    n->good &= elsewhere->count < MOST_ELSEWHERE;
    if (n->good)
        elsewhere->values[elsewhere->count++] = value;
}

static uint32_t site_put_loads(struct site_numbers *n, struct site_slots *elsewhere, const struct call_sites *sites,
                               const struct hook_places *places, const struct dl_phdr_info *info)
{
    const uint64_t bits = (places->constant_end - places->constant_begin) / 8, extent = site_extent(info);
    uint32_t count = 0;
    for (uint64_t i = 0, before = 0; sites->loaded && i < bits; i++) {
        if (!(sites->loaded[i / 64] >> i % 64 & 1))
            continue;
        site_put(n, i - before);
        site_put_load(n, elsewhere, site_slot_value(places->constant_begin + 8 * i), info->dlpi_addr, extent);
        before = i;
        count++;
    }
    return count;
}

static void site_put_function(struct site_numbers *n, const struct site_slots *elsewhere, uint64_t function,
                              uint64_t *last, uint64_t bias, uint64_t extent)
{
    if (!function || function == *last) {
        site_put(n, function ? FUNCTION_SAME : FUNCTION_UNKNOWN);
        return;
    }
    const bool inside = site_is_inside(function, bias, extent);
    const uint32_t slot = inside ? 0 : site_find_value(elsewhere, function);
    const uint64_t what = inside ? site_fold((int64_t)(function - *last)) << 1 : (uint64_t)slot << 1 | 1;
    n->good &= slot < elsewhere->count || inside;
    site_put(n, FUNCTION_OTHERS + what);
    if (inside)
        *last = function;
}

bool site_list_write(struct site_list *list, const struct call_sites *sites, const struct hook_places *places,
                     const struct dl_phdr_info *info)
{
    struct site_slots *elsewhere = sys_memory(sizeof *elsewhere);
    struct site_numbers n = { list->bytes, list->bytes + list->size, elsewhere && !sites->lonely && !sites->bare };
    const uint64_t bias = info->dlpi_addr, extent = site_extent(info);
    list->loads = n.good ? site_put_loads(&n, elsewhere, sites, places, info) : 0;
    uint64_t before = bias, function = bias;
    for (uint32_t i = 0; i < sites->count && n.good; i++) {
        const struct call_site *site = &sites->list[i];
        const uint64_t flags = (site->first ? SITE_FIRST : 0) | (site->partial ? SITE_PARTIAL : 0);
        n.good = site->address > before;
        site_put(&n, (site->address - before) << SITE_BITS | flags);
        site_put_function(&n, elsewhere, site->function, &function, bias, extent);
        before = site->address;
    }
    if (elsewhere)
        sys_unmap(elsewhere, sizeof *elsewhere);
    list->sites = sites->count;
    list->more_enters = sites->more_enters;
    list->size = (uint64_t)(n.at - list->bytes);
    return n.good;
}

uint64_t site_list_room(const struct call_sites *sites, const struct hook_places *places)
{
    const uint64_t loads = sites->loaded ? (places->constant_end - places->constant_begin) / 8 : 0;
    return 2 * MOST_BYTES * (loads + sites->count);
}

/* ---- reading ---- */

/* Whether a slot holds the same as there. */
static bool site_take_load(struct site_numbers *n, struct site_slots *elsewhere, uint64_t value, uint64_t bias,
                           uint64_t extent)
{
    const uint64_t holds = site_take(n), what = (holds - HOLDS_PLACE) / 2;
    if (holds == HOLDS_ZERO || !value)
        return holds == HOLDS_ZERO && !value;
    if (holds % 2 == HOLDS_PLACE % 2)
        return site_is_inside(value, bias, extent) && value - bias == what;
    if (what > elsewhere->count || what >= MOST_ELSEWHERE)
        return false;
    if (what < elsewhere->count)
        return elsewhere->values[what] == value;
    elsewhere->values[elsewhere->count++] = value;
    return true;
}

static bool site_take_loads(struct site_numbers *n, struct site_slots *elsewhere, uint32_t count,
                            const struct hook_places *places, const struct dl_phdr_info *info)
{
    const uint64_t most = (places->constant_end - places->constant_begin) / 8, extent = site_extent(info);
    for (uint64_t i = 0, index = 0; i < count; i++) {
        const uint64_t step = site_take(n);
        if (!n->good || index >= most || step >= most - index)
            return false;
        index += step;
        if (!site_take_load(n, elsewhere, site_slot_value(places->constant_begin + 8 * index), info->dlpi_addr, extent))
            return false;
    }
    return n->good;
}

static bool site_take_function(struct site_numbers *n, const struct site_slots *elsewhere, uint64_t *last,
                               uint64_t *function)
{
    const uint64_t what = site_take(n);
    *function = what == FUNCTION_SAME ? *last : 0;
    if (what < FUNCTION_OTHERS)
        return true;
    const uint64_t which = (what - FUNCTION_OTHERS) >> 1;
    if ((what - FUNCTION_OTHERS) & 1) {
        if (which >= elsewhere->count)
            return false;
        *function = elsewhere->values[which];
        return true;
    }
    *function = *last += (uint64_t)site_unfold(which);
    return true;
}

static bool site_take_site(struct site_numbers *n, const struct site_slots *elsewhere, struct call_sites *sites,
                           const struct hook_places *places, uint64_t *address, uint64_t *last)
{
    const uint64_t step = site_take(n);
    uint64_t function;
    *address += step >> SITE_BITS;
    if (!n->good || !(step >> SITE_BITS) || !site_take_function(n, elsewhere, last, &function) ||
        !call_sites_add_at(sites, places, *address))
        return false;
    struct call_site *site = &sites->list[sites->count - 1];
    site->function = function;
    site->first = (step & SITE_FIRST) != 0;
    site->partial = (step & SITE_PARTIAL) != 0;
    return true;
}

bool site_list_read(const struct site_list *list, struct call_sites *sites, const struct hook_places *places,
                    const struct dl_phdr_info *info)
{
    struct site_slots *elsewhere = sys_memory(sizeof *elsewhere);
    struct site_numbers n = { list->bytes, list->bytes + list->size, true };
    bool good = elsewhere && site_take_loads(&n, elsewhere, list->loads, places, info);
    uint64_t address = info->dlpi_addr, function = info->dlpi_addr;
    good = good && list->sites <= list->size / LEAST_BYTES && call_sites_reserve(sites, list->sites);
    for (uint32_t i = 0; i < list->sites && good; i++)
        good = site_take_site(&n, elsewhere, sites, places, &address, &function) && n.good;
    if (elsewhere)
        sys_unmap(elsewhere, sizeof *elsewhere);
    sites->more_enters = list->more_enters;
    return good && n.at == n.end;
}
