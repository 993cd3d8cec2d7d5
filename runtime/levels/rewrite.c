/* Rewrites the calls of the probes in a module's code. The pages are writable only meanwhile. machine.h has what
 * depends on the machine. */
#include "levels/rewrite.h"

#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "common.h"
#include "sys.h"

enum { STUB_STEP = 1 << 20, STUBS = 1 + HOOKS, TWIN_STEPS = 100 };

bool rewriter_synchronize(void)
{
    return SYS3(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0 &&
           SYS3(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

static void *rewriter_map_at(uint64_t address, uint64_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void *at = (void *)SYS6(mmap, address, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (sys_failed(at))
        return NULL;
    if ((uint64_t)at == address)
        return at;
    sys_unmap(at, size); /* old kernels take the address for a wish */
    return NULL;
}

/* Below the module if possible: above the program, its heap grows. */
void *rewriter_map_near(const struct hook_places *places, uint64_t size)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t i = 0; i < places->code_count; i++) {
        begin = smaller_of(begin, places->code[i].begin);
        end = places->code[i].end > end ? places->code[i].end : end;
    }
    if (begin >= end || end - begin > MACHINE_REACH / 2 || size > MACHINE_REACH / 8)
        return NULL;
    const uint64_t reach = MACHINE_REACH - (end - begin) - size, low = begin & ~(uint64_t)(PAGE - 1);
    const uint64_t high = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    void *at = NULL;
    for (uint64_t distance = 16 * PAGE + size; !at && distance < reach && distance + STUB_STEP < low;
         distance += STUB_STEP)
        at = rewriter_map_at(low - distance, size);
    for (uint64_t distance = reach / 2; !at && distance < reach; distance += STUB_STEP)
        at = rewriter_map_at(high + (distance & ~(uint64_t)(PAGE - 1)), size);
    return at;
}

bool rewriter_begin(struct rewriter *r, const struct hook_places *places, const struct rewriter_checks *checks)
{
    *r = (struct rewriter){ .places = places, .synchronizes = rewriter_synchronize() };
    char *page = rewriter_map_near(places, PAGE);
    if (!page)
        return false;
    r->stub_page = page;
    machine_write_stub(page, 0);
    for (int hook = 0; hook < HOOKS; hook++)
        machine_write_filtering_stub(page + (1 + hook) * MACHINE_STUB_BYTES, checks->of[hook], checks->filter);
    if (SYS3(mprotect, page, PAGE, PROT_READ | PROT_EXEC) == 0)
        return true;
    rewriter_end(r);
    return false;
}

void rewriter_end(struct rewriter *r)
{
    if (r->stub_page)
        sys_unmap(r->stub_page, PAGE);
    r->stub_page = NULL;
    for (int i = 0; i < MAX_TWINS; i++) {
        if (r->twins[i].pages)
            sys_unmap(r->twins[i].pages, 2 * PAGE);
        r->twins[i] = (struct rewriter_twin){ .target = 0 };
    }
}

static struct rewriter_twin *rewriter_find_twin(const struct rewriter *r, uint64_t target)
{
    for (int i = 0; i < MAX_TWINS; i++)
        if (r->twins[i].target == target)
            return (struct rewriter_twin *)&r->twins[i];
    return NULL;
}

static bool rewriter_make_twin(struct rewriter_twin *twin, uint64_t target, uint64_t check, const uint8_t *filter)
{
    for (int64_t step = 1; step <= TWIN_STEPS; step++) {
        for (int64_t distance = step * MACHINE_TWIN_STEP, i = 0; i < 2; i++, distance = -distance) {
            const uint64_t stub = target + (uint64_t)distance, begin = stub & ~(uint64_t)(PAGE - 1);
            char *page = rewriter_map_at(begin, 2 * PAGE);
            if (!page)
                continue;
            machine_write_filtering_stub(page + (stub - begin), check, filter);
            if (SYS3(mprotect, page, 2 * PAGE, PROT_READ | PROT_EXEC) != 0) {
                sys_unmap(page, 2 * PAGE);
                return false;
            }
            *twin = (struct rewriter_twin){ target, stub, page };
            return true;
        }
    }
    return false;
}

void rewriter_make_twins(struct rewriter *r, const struct call_sites *sites, const struct rewriter_checks *checks)
{
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct call_site *site = &sites->list[i];
        const uint64_t target = machine_call_target(site);
        if (!target || rewriter_find_twin(r, target))
            continue;
        struct rewriter_twin *twin = rewriter_find_twin(r, 0);
        if (!twin || !rewriter_make_twin(twin, target, checks->of[site->hook], checks->filter))
            return;
    }
}

static bool rewriter_form(const struct rewriter *r, const struct call_site *site, int form, uint8_t *bytes)
{
    const uint64_t page = (uint64_t)r->stub_page;
    struct machine_stubs stubs = {
        .at = { [CALL_OUT] = page, [CALL_CHECKED] = page + (1u + site->hook) * MACHINE_STUB_BYTES },
    };
    const uint64_t target = form == CALL_CHECKED ? machine_call_target(site) : 0;
    const struct rewriter_twin *twin = target ? rewriter_find_twin(r, target) : NULL;
    if (twin)
        stubs.at[CALL_CHECKED] = twin->stub;
    return machine_form(site, (enum call_form)form, &stubs, r->synchronizes, bytes);
}

bool rewriter_is_as_expected(const struct rewriter *r, const struct call_site *site)
{
    uint8_t bytes[MAX_CALL_BYTES];
    return rewriter_form(r, site, site->form, bytes) && memcmp(bytes, (const void *)site->address, site->length) == 0;
}

bool rewriter_is_in_memory(const struct rewriter *r, const struct call_site *site)
{
    uint8_t bytes[MAX_CALL_BYTES], found[MAX_CALL_BYTES];
    const struct iovec here = { found, site->length }, there = { (void *)site->address, site->length };
    return rewriter_form(r, site, site->form, bytes) &&
           SYS6(process_vm_readv, SYS0(getpid), &here, 1, &there, 1, 0) == site->length &&
           memcmp(bytes, found, site->length) == 0;
}

/* How the site can get its wanted form, of which `bytes` are the bytes. */
static enum machine_change rewriter_change(const struct rewriter *r, struct call_site *site, uint8_t *bytes)
{
    if (site->form == site->wanted || site->strange)
        return MACHINE_SAME;
    if (!rewriter_is_as_expected(r, site)) {
        site->strange = true;
        return MACHINE_SAME;
    }
    if (!rewriter_form(r, site, site->wanted, bytes))
        return MACHINE_NEVER;
    const bool skippable = r->alone || site->form == CALL_OUT || site->wanted == CALL_OUT;
    const enum machine_change change = machine_change_of(site, bytes, skippable);
    if (change == MACHINE_NEVER && r->alone)
        return MACHINE_IN_STEPS;
    return change == MACHINE_IN_STEPS && !r->synchronizes && !r->alone ? MACHINE_NEVER : change;
}

/* The pages with changes, one after another; sites are in the order of their addresses. */
struct rewriter_pages {
    uint64_t begin, end;
    int protection;
};

static bool rewriter_protect(const struct rewriter_pages *pages, int more)
{
    return pages->begin == pages->end ||
           SYS3(mprotect, pages->begin, pages->end - pages->begin, pages->protection | more) == 0;
}

/* Adds PROT_WRITE or takes it back, for the pages of all sites that change, up to the site number `count`. Returns the
 * number of sites whose pages are done. */
static uint32_t rewriter_protect_all(struct rewriter *r, struct call_sites *sites, enum hook hook, uint32_t count,
                                     int more)
{
    struct rewriter_pages pages = { 0, 0, 0 };
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct call_site *site = &sites->list[i];
        if (site->hook != hook || site->change == MACHINE_SAME || site->change == MACHINE_NEVER)
            continue;
        const uint64_t begin = site->address & ~(uint64_t)(PAGE - 1);
        const uint64_t end = (site->address + site->length + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        const struct hook_code *code = hook_places_code(r->places, site->address);
        if (begin >= pages.begin && begin <= pages.end && code && code->protection == pages.protection) {
            pages.end = end > pages.end ? end : pages.end;
            continue;
        }
        if (!rewriter_protect(&pages, more))
            return done;
        done = i;
        pages = (struct rewriter_pages){ begin, end, code ? code->protection : PROT_READ | PROT_EXEC };
    }
    return rewriter_protect(&pages, more) ? count : done;
}

static void rewriter_steps(struct rewriter *r, struct call_sites *sites, enum hook hook, int step)
{
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct call_site *site = &sites->list[i];
        uint8_t bytes[MAX_CALL_BYTES];
        if (site->hook == hook && (site->change == MACHINE_AT_ONCE || site->change == MACHINE_IN_STEPS) &&
            rewriter_form(r, site, site->wanted, bytes))
            machine_step(site, bytes, (enum machine_change)site->change, step);
    }
}

static bool rewriter_give_up_steps(struct call_sites *sites, enum hook hook)
{
    for (uint32_t i = 0; i < sites->count; i++)
        if (sites->list[i].hook == hook && sites->list[i].change == MACHINE_IN_STEPS)
            sites->list[i].change = MACHINE_NEVER;
    return false;
}

bool rewriter_apply(struct rewriter *r, struct call_sites *sites, enum hook hook)
{
    bool any = false, in_steps = false;
    for (uint32_t i = 0; i < sites->count; i++) {
        struct call_site *site = &sites->list[i];
        uint8_t bytes[MAX_CALL_BYTES];
        if (site->hook != hook)
            continue;
        site->change = (uint8_t)rewriter_change(r, site, bytes);
        any |= site->change == MACHINE_AT_ONCE || site->change == MACHINE_IN_STEPS;
        in_steps |= site->change == MACHINE_IN_STEPS;
    }
    if (in_steps && !r->alone && !rewriter_synchronize())
        in_steps = rewriter_give_up_steps(sites, hook);
    if (!any)
        return true;
    const uint32_t writable = rewriter_protect_all(r, sites, hook, sites->count, PROT_WRITE);
    if (writable < sites->count) {
        rewriter_protect_all(r, sites, hook, writable, 0);
        return false;
    }
    rewriter_steps(r, sites, hook, 0);
    for (int step = 1; in_steps && step < MACHINE_STEPS; step++) {
        rewriter_synchronize();
        rewriter_steps(r, sites, hook, step);
    }
    rewriter_protect_all(r, sites, hook, sites->count, 0);
    for (uint32_t i = 0; i < sites->count; i++) {
        struct call_site *site = &sites->list[i];
        if (site->hook == hook && (site->change == MACHINE_AT_ONCE || site->change == MACHINE_IN_STEPS)) {
            machine_flush(site->address, site->address + site->length);
            site->form = site->wanted;
        }
    }
    if (r->synchronizes)
        rewriter_synchronize();
    return true;
}

bool rewriter_set_slot(const struct rewriter *r, uint64_t slot, uint64_t target)
{
    const bool constant = slot >= r->places->constant_begin && slot < r->places->constant_end;
    const uint64_t page = slot & ~(uint64_t)(PAGE - 1);
    if (constant && SYS3(mprotect, page, PAGE, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((uint64_t *)slot, target, __ATOMIC_RELEASE);
    if (constant)
        SYS3(mprotect, page, PAGE, PROT_READ);
    return true;
}
