/*
 * The recorder's plan says which slots of which modules lead to functions that the user wants to see. Each slot gets
 * the address of a stub in place of its function's.
 *
 * A slot that was not used yet leads back into its module: the loader would look its function up at the first call, and
 * overwrite the slot. So the function is looked up here, in the same order and with the same version.
 */
#include "library_calls.h"

#include <dlfcn.h>
#include <string.h>

#include "call_stubs.h"
#include "common.h"
#include "dwell/format.h"
#include "filter.h"
#include "levels/code_lock.h"
#include "levels/hook_places.h"
#include "levels/module_slots.h"
#include "levels/rewrite.h"
#include "metadata_records.h"
#include "module_identity.h"
#include "plan_texts.h"
#include "probes.h"
#include "program_path.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

/* A slot of the plan in a loaded module. */
struct library_slot {
    uint64_t address;
    const char *name, *version;
    uint32_t stack_bytes;
};

enum { LIBRARY_SLOTS = 1 << 14 };

/* While slots are changed: by one thread, when the process begins. */
static struct library_search {
    const struct dwell_calls_plan *plan;
    uint32_t count, left_out;
    char path[4096];
    struct text program; /* its path */
    struct library_slot slots[LIBRARY_SLOTS];
    struct slot_change changes[LIBRARY_SLOTS];
} * library_search;

static const struct dwell_calls_module *library_next_module(const struct dwell_calls_module *m)
{
    return (const struct dwell_calls_module *)((const char *)m + m->size);
}

static size_t library_texts(const struct dwell_calls_module *m)
{
    return plan_texts_size(m->build_id_length, m->path_length);
}

static const struct dwell_calls_slot *library_slots(const struct dwell_calls_module *m)
{
    return (const struct dwell_calls_slot *)((const char *)(m + 1) + library_texts(m));
}

/* Leaves out the modules from the first one on that is not whole. */
static void library_check(struct dwell_calls_plan *plan)
{
    const char *at = (const char *)(plan + 1), *const end = (const char *)plan + plan->chunk.size;
    for (uint32_t i = 0; i < plan->modules; i++) {
        const struct dwell_calls_module *m = (const struct dwell_calls_module *)at;
        const size_t rest = (size_t)(end - at);
        if (rest < sizeof *m || m->size > rest || m->size % 8 || m->size < sizeof *m + library_texts(m) ||
            (m->size - sizeof *m - library_texts(m)) / sizeof(struct dwell_calls_slot) < m->slots) {
            plan->modules = i;
            return;
        }
        at += m->size;
    }
}

static struct dwell_calls_plan *library_read_plan(int fd, uint64_t offset)
{
    struct dwell_calls_plan *plan =
        (struct dwell_calls_plan *)filter_copy_chunk(fd, offset, DWELL_CHUNK_CALLS_PLAN, sizeof *plan);
    if (plan)
        library_check(plan);
    return plan;
}

/* The plan's module that is loaded there; NULL if it has none: the module has no probes. */
static const struct dwell_calls_module *library_module(const struct dl_phdr_info *info, bool program)
{
    const struct plan_module loaded = { module_build_id(info), program ? library_search->program : module_name(info) };
    const struct dwell_calls_module *m = (const struct dwell_calls_module *)(library_search->plan + 1);
    for (uint32_t i = 0; i < library_search->plan->modules; i++, m = library_next_module(m))
        if (plan_texts_are_of((const char *)(m + 1), m->build_id_length, m->path_length, &loaded))
            return m;
    return NULL;
}

/* ---- the slots of a module ---- */

struct library_visit {
    const struct dwell_calls_module *module;
    uint64_t bias;
};

static const struct dwell_calls_slot *library_planned(const struct library_visit *visit, uint64_t address)
{
    const struct dwell_calls_slot *slots = library_slots(visit->module);
    uint32_t low = 0, high = visit->module->slots;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (slots[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < visit->module->slots && slots[low].address == address ? &slots[low] : NULL;
}

static void library_take_slot(void *to, const struct module_slot *slot)
{
    const struct library_visit *visit = to;
    const struct dwell_calls_slot *planned = library_planned(visit, slot->address - visit->bias);
    if (!planned || library_search->count == LIBRARY_SLOTS)
        return;
    library_search->slots[library_search->count++] = (struct library_slot){
        .address = slot->address,
        .name = slot->name,
        .version = slot->version,
        .stack_bytes = smaller_of(planned->stack_bytes, DWELL_CALLS_STACK_MOST) & ~(uint32_t)15,
    };
}

/* ---- the functions ---- */

/* What a walk of the loader's list finds out about an address. */
struct library_target {
    uint64_t address;
    const char *name;
    bool probes;       /* its module has probes, or is the runtime */
    bool known;        /* a module has it */
    uint64_t indirect; /* the module's function of that name, if that one chose the address */
    bool program;      /* the next module is the program */
};

static int library_visit_target(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library_target *target = data;
    struct hook_places places = { .code_count = 0 };
    const bool program = target->program;
    (void)size;
    target->program = false;
    hook_places_find_code(&places, info);
    if (!hook_places_code(&places, target->address))
        return 0;
    target->known = true;
    target->probes = hook_places_code(&places, (uint64_t)probe_enter) || library_module(info, program);
    target->indirect = module_slots_indirect(info, target->name);
    return 1;
}

static uint64_t library_look_up(const struct library_slot *slot)
{
    const void *found =
        slot->version ? dlvsym(RTLD_DEFAULT, slot->name, slot->version) : dlsym(RTLD_DEFAULT, slot->name);
    return (uint64_t)found;
}

/* The stub for a slot; zero if it stays as it is. */
static uint64_t library_stub(const struct library_slot *slot, const struct hook_places *places)
{
    struct library_target target = { .address = *(const volatile uint64_t *)slot->address,
                                     .name = slot->name,
                                     .program = true };
    if (hook_places_code(places, target.address))
        target.address = library_look_up(slot);
    if (target.address)
        dl_iterate_phdr(library_visit_target, &target);
    if (!target.known || target.probes)
        return 0;
    const uint64_t function = target.indirect ? target.indirect : target.address;
    const uint64_t stub = call_stub_of(target.address, function, slot->stack_bytes);
    library_search->left_out += !stub;
    return stub;
}

static void library_sort(struct slot_change *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct slot_change change = list[i];
        uint32_t at = i;
        for (; at > 0 && list[at - 1].slot > change.slot; at--)
            list[at] = list[at - 1];
        list[at] = change;
    }
}

static void library_change(const struct dl_phdr_info *info)
{
    struct hook_places places = { .code_count = 0 };
    hook_places_find_code(&places, info);
    uint32_t count = 0;
    for (uint32_t i = 0; i < library_search->count; i++) {
        const uint64_t stub = library_stub(&library_search->slots[i], &places);
        if (stub)
            library_search->changes[count++] = (struct slot_change){ library_search->slots[i].address, stub };
    }
    library_sort(library_search->changes, count);
    code_lock_take();
    const bool done = rewriter_set_slots(&(const struct rewriter){ .places = &places }, library_search->changes, count);
    code_lock_release();
    if (!done)
        metadata_note("the system does not let this library change all slots, so some calls into libraries are not "
                      "recorded");
}

/* The loader's list may not be walked while functions are looked up: another thread may hold its other lock. */
struct library_walk {
    uint32_t index, wanted;
    struct dl_phdr_info info;
    bool found;
};

static int library_visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library_walk *walk = data;
    (void)size;
    if (walk->index++ != walk->wanted)
        return 0;
    const struct dwell_calls_module *module = library_module(info, walk->wanted == 0);
    walk->found = true;
    walk->info = *info;
    library_search->count = 0;
    if (module && module->slots)
        module_slots_each(info, library_take_slot, &(struct library_visit){ module, info->dlpi_addr });
    return 1;
}

void library_calls_begin(int fd)
{
    const uint64_t offset = session_more(&runtime.session)->calls;
    if (!offset || !call_stubs_exist())
        return;
    library_search = sys_memory(sizeof *library_search);
    struct dwell_calls_plan *plan = library_search ? library_read_plan(fd, offset) : NULL;
    if (plan) {
        library_search->plan = plan;
        library_search->program =
            (struct text){ library_search->path,
                           (size_t)program_path(library_search->path, sizeof library_search->path) };
        struct library_walk walk = { .found = true };
        for (; walk.found; walk.wanted++) {
            walk.found = false;
            walk.index = 0;
            dl_iterate_phdr(library_visit_module, &walk);
            if (walk.found && library_search->count)
                library_change(&walk.info);
        }
        if (library_search->left_out)
            metadata_note("too many functions of libraries are called: calls of some are not recorded");
        sys_unmap(plan, plan->chunk.size);
    } else {
        metadata_note("out of memory: calls into libraries are not recorded");
    }
    if (library_search)
        sys_unmap(library_search, sizeof *library_search);
    library_search = NULL;
}
