/* Rewrites the calls of the probes in a module's code. The pages are writable only meanwhile. machine.h has what
 * depends on the machine. */
#include "levels/rewrite.h"

#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "common.h"
#include "levels/code_pages.h"
#include "levels/level_records.h"
#include "levels/near_frames.h"
#include "sys.h"

enum { STUB_STEP = 1 << 20, STUB_VALUES = 1 + HOOKS, TWIN_STEPS = 100, TWIN_BYTES = 2 * PAGE };

/* A bit of site->protected: its pages become writable with those of the site before, and what lies between. A call of
 * the system costs as much as a walk over many pages that stay as they are. */
enum { PROTECTED_JOINS = 0x80, MOST_BETWEEN = 64 * PAGE };

bool rewriter_prepare(void)
{
    return SYS3(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

static bool rewriter_wait_for_processors(void)
{
    return SYS3(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

/* Linux refuses to wait if the process is not prepared. */
bool rewriter_synchronize(void)
{
    return rewriter_wait_for_processors() || (rewriter_prepare() && rewriter_wait_for_processors());
}

void *rewriter_map_at(uint64_t address, uint64_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void *at = (void *)SYS6(mmap, address, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (sys_failed(at))
        return NULL;
    sys_unlock(at, size);
    if ((uint64_t)at == address) {
        level_records_add_stubs(address, address + size);
        near_frames_add(address, size);
        return at;
    }
    sys_unmap(at, size); /* old kernels take the address for a wish */
    return NULL;
}

void rewriter_unmap(void *at, uint64_t size)
{
    near_frames_remove((uint64_t)at);
    sys_unmap(at, size);
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
    const uint64_t reach = MACHINE_REACH - (end - begin) - size, low = page_begin(begin);
    const uint64_t high = page_end(end);
    void *at = NULL;
    for (uint64_t distance = 16 * PAGE + size; !at && distance < reach && distance + STUB_STEP < low;
         distance += STUB_STEP)
        at = rewriter_map_at(low - distance, size);
    for (uint64_t distance = reach / 2; !at && distance < reach; distance += STUB_STEP)
        at = rewriter_map_at(high + page_begin(distance), size);
    return at;
}

/* The check of an exit needs no filter, as its first look at the shadow stack is as fast. */
static void rewriter_write_check(void *at, const struct rewriter_checks *checks, enum hook hook)
{
    machine_write_filtering_stub(at, checks->of[hook], hook == HOOK_ENTER ? checks->filter : NULL);
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
        rewriter_write_check(page + (1 + hook) * MACHINE_STUB_BYTES, checks, (enum hook)hook);
    for (int hook = 0; hook < HOOKS; hook++)
        machine_write_stub(page + (STUB_VALUES + hook) * MACHINE_STUB_BYTES, checks->values[hook]);
    if (SYS3(mprotect, page, PAGE, PROT_READ | PROT_EXEC) == 0)
        return true;
    rewriter_end(r);
    return false;
}

static void rewriter_drop_twin(struct rewriter_twin *twin)
{
    if (twin->pages)
        rewriter_unmap(twin->pages, TWIN_BYTES);
    *twin = (struct rewriter_twin){ .target = 0 };
}

void rewriter_end(struct rewriter *r)
{
    if (r->stub_page)
        rewriter_unmap(r->stub_page, PAGE);
    r->stub_page = NULL;
    for (int i = 0; i < MAX_TWINS; i++)
        rewriter_drop_twin(&r->twins[i]);
    for (uint32_t i = 0; i < r->counting_count; i++)
        rewriter_drop_twin(&r->counting[i]);
    r->counting_count = 0;
    r->counting_step = 0;
}

static struct rewriter_twin *rewriter_find_twin(const struct rewriter *r, uint64_t target)
{
    for (int i = 0; i < MAX_TWINS; i++)
        if (r->twins[i].target == target)
            return (struct rewriter_twin *)&r->twins[i];
    return NULL;
}

/* Writable memory for a twin at that number of steps from the target; NULL if it is in use. */
static void *rewriter_map_twin(struct rewriter_twin *twin, uint64_t target, int64_t steps)
{
    const uint64_t stub = target + (uint64_t)(steps * MACHINE_TWIN_STEP);
    char *pages = rewriter_map_at(page_begin(stub), TWIN_BYTES);
    *twin = (struct rewriter_twin){ .target = target, .stub = stub, .pages = pages };
    return pages;
}

/* False without memory for code; then there is no twin. */
static bool rewriter_finish_twin(struct rewriter_twin *twin)
{
    if (SYS3(mprotect, twin->pages, TWIN_BYTES, PROT_READ | PROT_EXEC) == 0)
        return true;
    rewriter_drop_twin(twin);
    return false;
}

static bool rewriter_make_twin(struct rewriter_twin *twin, uint64_t target, const struct rewriter_checks *checks,
                               enum hook hook)
{
    int64_t steps = 1; /* 1, -1, 2, -2 and so on */
    while (!rewriter_map_twin(twin, target, steps)) {
        steps = steps > 0 ? -steps : 1 - steps;
        if (steps > TWIN_STEPS) {
            *twin = (struct rewriter_twin){ .target = 0 };
            return false;
        }
    }
    rewriter_write_check((void *)twin->stub, checks, hook);
    return rewriter_finish_twin(twin);
}

void rewriter_make_twins(struct rewriter *r, const struct call_sites *sites, const struct rewriter_checks *checks)
{
    for (uint32_t i = 0; i < sites->count; i++) {
        const struct call_site *site = &sites->list[i];
        const uint64_t target = machine_call_target(site);
        if (!target || rewriter_find_twin(r, target))
            continue;
        struct rewriter_twin *twin = rewriter_find_twin(r, 0);
        if (!twin || !rewriter_make_twin(twin, target, checks, (enum hook)site->hook))
            return;
    }
}

/* Below the target first: above the program, its heap grows. Each place is tried once. */
static bool rewriter_map_counting_twin(struct rewriter *r, struct rewriter_twin *twin, uint64_t target)
{
    while (r->counting_step < 2 * TWIN_STEPS) {
        const int32_t step = ++r->counting_step;
        const int64_t steps = step <= TWIN_STEPS ? -step : step - TWIN_STEPS;
        const bool exists = steps > 0 || target / MACHINE_TWIN_STEP >= (uint64_t)-steps;
        if (exists && rewriter_map_twin(twin, target, steps))
            return true;
    }
    return false;
}

uint64_t rewriter_counting_stub(struct rewriter *r, const struct call_site *site, uint32_t number,
                                void (*write)(void *at, uint32_t number))
{
    const uint64_t target = machine_call_target(site);
    if (!target)
        return 0;
    for (uint32_t i = 0; i < r->counting_count; i++)
        if (r->counting[i].target == target && r->counting[i].number == number)
            return r->counting[i].stub;
    struct rewriter_twin *twin = &r->counting[r->counting_count];
    if (r->counting_count == MAX_COUNTING_TWINS || !rewriter_map_counting_twin(r, twin, target))
        return 0;
    write((void *)twin->stub, number);
    twin->number = number;
    if (!rewriter_finish_twin(twin))
        return 0;
    r->counting_count++;
    return twin->stub;
}

static bool rewriter_form(const struct rewriter *r, const struct call_site *site, int form, uint8_t *bytes)
{
    const uint64_t page = (uint64_t)r->stub_page;
    struct machine_stubs stubs = {
        .at = { [CALL_OUT] = page,
                [CALL_CHECKED] = page + (1u + site->hook) * MACHINE_STUB_BYTES,
                [CALL_VALUES] = page + (STUB_VALUES + site->hook) * MACHINE_STUB_BYTES },
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

/* ---- the sites that change, in the order of their addresses ---- */

static struct call_site *rewriter_first(const struct rewriter *r, const struct call_sites *sites)
{
    return r->first ? &sites->list[r->first - 1] : NULL;
}

static struct call_site *rewriter_next(const struct call_sites *sites, const struct call_site *site)
{
    return site->next ? &sites->list[site->next - 1] : NULL;
}

/* ---- protection ---- */

/* Without the list of mappings, it is that of the program's file, or unknown. */
static struct code_range rewriter_range(const struct rewriter *r, struct code_pages *now, uint64_t address)
{
    const struct hook_code *code = hook_places_code(r->places, address);
    if (now->fd >= 0)
        return code_pages_at(now, address);
    const bool changed = __atomic_load_n(&code_pages_changed, __ATOMIC_ACQUIRE);
    return (struct code_range){ address, UINT64_MAX, code && !changed ? code->protection : 0 };
}

/* False if the site cannot be read, or lies in pages of two protections. */
static bool rewriter_find_protection(const struct rewriter *r, struct code_pages *now, struct call_site *site)
{
    const struct code_range range = rewriter_range(r, now, site->address);
    const uint64_t last = site->address + site->length - 1;
    site->protected = (uint8_t)range.protection;
    return range.protection & PROT_READ &&
           (last < range.end || rewriter_range(r, now, last).protection == range.protection);
}

/* Whether all between the sites has one protection and lies in one mapping, which was looked up last. */
static bool rewriter_joins(const struct code_pages *now, const struct call_site *before, const struct call_site *site)
{
    return now->fd >= 0 && before && before->address >= now->last.begin &&
           site->address + site->length <= now->last.end && site->address - before->address <= MOST_BETWEEN;
}

/* The pages with changes, one after another; sites are in the order of their addresses. */
struct rewriter_pages {
    uint64_t begin, end;
    int protection;
};

static bool rewriter_set_protection(const struct rewriter *r, uint64_t begin, uint64_t end, int protection)
{
    const int guard = protection & PROT_EXEC ? r->places->guard : 0;
    return SYS3(mprotect, begin, end - begin, protection | guard) == 0;
}

/* A program may have made a bare system call meanwhile: then its protection stays. */
static bool rewriter_restore(const struct rewriter *r, struct code_pages *now, const struct rewriter_pages *pages)
{
    bool done = true;
    now->last = (struct code_range){ 0, 0, 0 };
    for (uint64_t at = pages->begin; at < pages->end;) {
        struct code_range range = rewriter_range(r, now, at);
        range.end = range.end < pages->end ? range.end : pages->end;
        if (now->fd < 0 || range.protection == (pages->protection | PROT_WRITE))
            done &= rewriter_set_protection(r, at, range.end, pages->protection);
        at = range.end;
    }
    return done;
}

/* Pages that the program has made writable itself stay as they are. */
static bool rewriter_protect(const struct rewriter *r, struct code_pages *now, const struct rewriter_pages *pages,
                             bool writable)
{
    if (pages->begin == pages->end || pages->protection & PROT_WRITE)
        return true;
    if (!writable)
        return rewriter_restore(r, now, pages);
    return rewriter_set_protection(r, pages->begin, pages->end, pages->protection | PROT_WRITE);
}

/* Adds PROT_WRITE or takes it back, for the pages of all sites that change, up to the site `end`; NULL means all.
 * Returns NULL if that is done, or the first site whose pages are not. */
static const struct call_site *rewriter_protect_all(const struct rewriter *r, struct code_pages *now,
                                                    const struct call_sites *sites, const struct call_site *end,
                                                    bool writable)
{
    struct rewriter_pages pages = { 0, 0, 0 };
    const struct call_site *first = NULL; /* of these pages */
    for (const struct call_site *site = rewriter_first(r, sites); site != end; site = rewriter_next(sites, site)) {
        const uint64_t begin = page_begin(site->address), last = page_end(site->address + site->length);
        const int protection = site->protected & ~PROTECTED_JOINS;
        const bool joins = begin <= pages.end || site->protected & PROTECTED_JOINS;
        if (begin >= pages.begin && joins && protection == pages.protection) {
            pages.end = last > pages.end ? last : pages.end;
            continue;
        }
        if (!rewriter_protect(r, now, &pages, writable))
            return first;
        first = site;
        pages = (struct rewriter_pages){ begin, last, protection };
    }
    return rewriter_protect(r, now, &pages, writable) ? NULL : first;
}

/* ---- sites ---- */

static bool rewriter_has_steps(const struct rewriter *r, const struct call_sites *sites)
{
    for (const struct call_site *site = rewriter_first(r, sites); site; site = rewriter_next(sites, site))
        if (site->change == MACHINE_IN_STEPS)
            return true;
    return false;
}

static void rewriter_steps(const struct rewriter *r, const struct call_sites *sites, int step)
{
    for (const struct call_site *site = rewriter_first(r, sites); site; site = rewriter_next(sites, site)) {
        uint8_t bytes[MAX_CALL_BYTES];
        if (rewriter_form(r, site, site->wanted, bytes))
            machine_step(site, bytes, (enum machine_change)site->change, step);
    }
}

static void rewriter_give_up_steps(struct rewriter *r, struct call_sites *sites)
{
    uint32_t *end = &r->first;
    for (struct call_site *site = rewriter_first(r, sites), *next; site; site = next) {
        next = rewriter_next(sites, site);
        site->protected &= (uint8_t)~PROTECTED_JOINS; /* the site before may not change */
        if (site->change == MACHINE_IN_STEPS) {
            site->change = MACHINE_NEVER;
            continue;
        }
        *end = (uint32_t)(site - sites->list) + 1;
        end = &site->next;
    }
    *end = 0;
}

/* Whether the site is to get another form. */
static bool rewriter_is_wanted(const struct call_site *site, enum hook hook)
{
    return site->hook == hook && site->form != site->wanted && !site->strange;
}

/* Chains the sites that change, of those from number `begin`. */
static void rewriter_choose_changes(struct rewriter *r, struct code_pages *now, struct call_sites *sites,
                                    enum hook hook, uint32_t begin)
{
    bool in_steps = false;
    const struct call_site *before = NULL; /* the last one that changes */
    uint32_t *end = &r->first;
    for (uint32_t i = begin; i < sites->count; i++) {
        struct call_site *site = &sites->list[i];
        uint8_t bytes[MAX_CALL_BYTES];
        if (!rewriter_is_wanted(site, hook))
            continue;
        site->change = MACHINE_NEVER;
        if (rewriter_find_protection(r, now, site))
            site->change = (uint8_t)rewriter_change(r, site, bytes);
        if (site->change != MACHINE_AT_ONCE && site->change != MACHINE_IN_STEPS)
            continue;
        in_steps |= site->change == MACHINE_IN_STEPS;
        site->protected |= rewriter_joins(now, before, site) ? PROTECTED_JOINS : 0;
        before = site;
        *end = i + 1;
        end = &site->next;
    }
    *end = 0;
    if (in_steps && !r->alone && !rewriter_synchronize())
        rewriter_give_up_steps(r, sites);
}

static bool rewriter_change_all(struct rewriter *r, struct code_pages *now, struct call_sites *sites)
{
    const struct call_site *failed = rewriter_protect_all(r, now, sites, NULL, true);
    if (failed) {
        rewriter_protect_all(r, now, sites, failed, false);
        return false;
    }
    rewriter_steps(r, sites, 0);
    for (int step = 1; rewriter_has_steps(r, sites) && step < MACHINE_STEPS; step++) {
        rewriter_synchronize();
        rewriter_steps(r, sites, step);
    }
    rewriter_protect_all(r, now, sites, NULL, false);
    for (struct call_site *site = rewriter_first(r, sites); site; site = rewriter_next(sites, site)) {
        machine_flush(site->address, site->address + site->length);
        site->form = site->wanted;
    }
    if (r->synchronizes)
        rewriter_synchronize();
    return true;
}

bool rewriter_apply(struct rewriter *r, struct call_sites *sites, enum hook hook)
{
    struct code_pages now;
    uint32_t begin = 0;
    while (begin < sites->count && !rewriter_is_wanted(&sites->list[begin], hook))
        begin++;
    if (begin == sites->count)
        return true;
    code_pages_begin(&now);
    rewriter_choose_changes(r, &now, sites, hook, begin);
    const bool done = !r->first || rewriter_change_all(r, &now, sites);
    code_pages_end(&now);
    return done;
}

/* The loader makes some slots constant. */
static bool rewriter_set_page(const struct rewriter *r, struct code_pages *now, const struct slot_change *list,
                              uint32_t count)
{
    const uint64_t slot = list->slot, begin = page_begin(slot);
    const bool constant = slot >= r->places->constant_begin && slot < r->places->constant_end;
    struct rewriter_pages page = { begin, begin + PAGE, PROT_READ | (constant ? 0 : PROT_WRITE) };
    if (now->fd >= 0)
        page.protection = code_pages_at(now, slot).protection;
    if (!rewriter_protect(r, now, &page, true))
        return false;
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n((uint64_t *)list[i].slot, list[i].target, __ATOMIC_RELEASE);
    rewriter_protect(r, now, &page, false);
    return true;
}

bool rewriter_set_slots(const struct rewriter *r, const struct slot_change *list, uint32_t count)
{
    struct code_pages now;
    bool done = true;
    code_pages_begin(&now);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && list[next].slot / PAGE == list[i].slot / PAGE;)
            next++;
        done &= rewriter_set_page(r, &now, list + i, next - i);
    }
    code_pages_end(&now);
    return done;
}
