/*
 * Threads may run the calls meanwhile, and no call may be left out. So each is changed by one store: that of its
 * distance if it lies within a line of the cache, else of the distance's highest byte. The jump is in the right place
 * for that then. A process with one thread needs no such places.
 */
#include "levels/near_calls.h"

#include <string.h>
#include <sys/mman.h>

#include "common.h"
#include "levels/call_stubs.h"
#include "levels/code_pages.h"
#include "levels/level_read.h"
#include "levels/machine.h"
#include "levels/near_code.h"
#include "levels/near_room.h"
#include "levels/rewrite.h"
#include "sys.h"

enum { TWIN_STEPS = 100, TWIN_BYTES = 2 * PAGE, MOST_TWINS = 4096 };

/* ---- the jumps ---- */

static void direct_write_near(char *near, struct near_ways *ways, const struct direct_calls *calls)
{
    for (uint32_t i = 0; i < calls->target_count; i++) {
        struct direct_target *target = &calls->targets[i];
        char *at = near + (uint64_t)i * NEAR_CODE_BYTES;
        target->jump = target->stub ? (uint64_t)at : 0;
        if (!target->stub)
            continue;
        near_code_write(at, &ways[i], target->target);
        call_stub_set_near(target->stub, &ways[i], near_code_function(at, target->target), near_code_counter(at));
    }
}

/* In memory of its own: the code, and behind it what it reads. */
static bool direct_map_near(struct direct_jumps *jumps, const struct direct_calls *calls)
{
    const uint64_t code_size = page_end(calls->target_count * (uint64_t)NEAR_CODE_BYTES);
    jumps->size = code_size + page_end(calls->target_count * sizeof(struct near_ways));
    jumps->near = rewriter_map_near(calls->places, jumps->size);
    if (!jumps->near)
        return false;
    direct_write_near(jumps->near, (struct near_ways *)(jumps->near + code_size), calls);
    return SYS3(mprotect, jumps->near, code_size, PROT_READ | PROT_EXEC) == 0;
}

/* False without memory for it. */
static bool direct_make_near(struct direct_jumps *jumps, const struct direct_calls *calls)
{
    struct near_ways *ways;
    char *room = near_room_open(calls->places, calls->target_count, &ways);
    if (!room)
        return direct_map_near(jumps, calls);
    jumps->near = room;
    jumps->size = page_end(calls->target_count * (uint64_t)NEAR_CODE_BYTES);
    jumps->ways = ways;
    direct_write_near(room, ways, calls);
    return near_room_close();
}

static struct direct_twin *direct_add_twin(struct direct_jumps *jumps)
{
    if (jumps->twin_count == MOST_TWINS)
        return NULL;
    if (jumps->twin_count == jumps->twin_room) {
        struct direct_twin *list =
            sys_grow(jumps->twins, &jumps->twin_room, sizeof *list, PAGE / (uint32_t)sizeof *list);
        if (!list)
            return NULL;
        jumps->twins = list;
    }
    return &jumps->twins[jumps->twin_count];
}

static bool direct_map_twin(struct direct_twin *twin, const struct direct_target *to, int64_t steps)
{
    const uint64_t jump = twin->target + (uint64_t)(steps * MACHINE_TWIN_STEP);
    char *pages = rewriter_map_at(page_begin(jump), TWIN_BYTES);
    if (!pages)
        return false;
    machine_write_stub((void *)jump, to->jump);
    twin->jump = jump;
    if (SYS3(mprotect, pages, TWIN_BYTES, PROT_READ | PROT_EXEC) == 0)
        return true;
    rewriter_unmap(pages, TWIN_BYTES);
    return false;
}

/* Below the target first: above the program, its heap grows. Zero if there is no room. */
static uint64_t direct_twin_jump(struct direct_jumps *jumps, const struct direct_target *to)
{
    for (uint32_t i = 0; i < jumps->twin_count; i++)
        if (jumps->twins[i].target == to->target)
            return jumps->twins[i].jump;
    struct direct_twin *twin = direct_add_twin(jumps);
    if (!twin)
        return 0;
    *twin = (struct direct_twin){ .target = to->target };
    for (int64_t step = 1; step <= 2 * TWIN_STEPS; step++) {
        const int64_t steps = step <= TWIN_STEPS ? -step : step - TWIN_STEPS;
        const bool exists = steps > 0 || to->target / MACHINE_TWIN_STEP >= (uint64_t)-steps;
        if (exists && direct_map_twin(twin, to, steps)) {
            jumps->twin_count++;
            return twin->jump;
        }
    }
    return 0;
}

void direct_jumps_drop(struct direct_jumps *jumps)
{
    for (uint32_t i = 0; i < jumps->twin_count; i++)
        rewriter_unmap((void *)page_begin(jumps->twins[i].jump), TWIN_BYTES);
    if (jumps->twin_room)
        sys_unmap(jumps->twins, jumps->twin_room * sizeof *jumps->twins);
    if (jumps->ways) {
        call_stubs_leave_near((const char *)jumps->ways, jumps->size / NEAR_CODE_BYTES * sizeof *jumps->ways);
        near_room_give_back(jumps->near);
    } else if (jumps->near) {
        call_stubs_leave_near(jumps->near, jumps->size);
        rewriter_unmap(jumps->near, jumps->size);
    }
    *jumps = (struct direct_jumps){ .size = 0 };
}

/* ---- the calls ---- */

/* Its target is set. False if there is no such call, or jump. */
static bool direct_read(struct call_site *site, uint64_t address, const struct hook_places *places, uint64_t *target)
{
    const struct hook_code *code = hook_places_code(places, address);
    *site = (struct call_site){ .address = address, .hook = HOOK_ENTER, .form = CALL_ORIGINAL, .wanted = CALL_COUNTED };
    return code && machine_read_call(site, code->end, target);
}

static bool direct_is_of(const struct direct_jumps *jumps, uint64_t target)
{
    bool is = target - (uint64_t)jumps->near < jumps->size;
    for (uint32_t i = 0; i < jumps->twin_count && !is; i++)
        is = jumps->twins[i].jump == target;
    return is;
}

bool direct_calls_are_changed(const struct direct_jumps *jumps, const struct direct_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        struct call_site site;
        uint64_t target;
        if (direct_read(&site, calls->list[i].address, calls->places, &target) && direct_is_of(jumps, target))
            return true;
    }
    return false;
}

static bool direct_list(struct call_sites *sites, struct direct_jumps *jumps, const struct direct_calls *calls,
                        bool alone)
{
    if (!call_sites_reserve(sites, calls->count) || !direct_make_near(jumps, calls))
        return false;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct direct_target *to = &calls->targets[calls->list[i].target];
        struct call_site site;
        uint64_t target;
        if (!to->stub || !direct_read(&site, calls->list[i].address, calls->places, &target) || target != to->target)
            continue;
        site.stub = !alone && machine_needs_twin(&site) ? direct_twin_jump(jumps, to) : to->jump;
        if (site.stub)
            call_sites_add(sites, &site);
    }
    return true;
}

uint32_t direct_calls_change(struct direct_jumps *jumps, const struct direct_calls *calls)
{
    struct call_sites sites = { .count = 0 };
    struct rewriter rewriter = { .places = calls->places, .alone = level_is_alone() };
    uint32_t changed = 0;
    if (direct_list(&sites, jumps, calls, rewriter.alone) && rewriter_apply(&rewriter, &sites, HOOK_ENTER))
        for (uint32_t i = 0; i < sites.count; i++)
            changed += sites.list[i].form == CALL_COUNTED;
    call_sites_drop(&sites);
    if (!changed)
        direct_jumps_drop(jumps);
    return calls->count - changed;
}
