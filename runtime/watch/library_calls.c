/*
 * The recorder's plan says which slots of which modules lead to functions that the user wants to see. Each slot gets
 * the address of a stub in place of its function's.
 *
 * A slot that was not used yet leads back into its module: the loader would look its function up at the first call, and
 * overwrite the slot. So the function is looked up here, in the same order and with the same version.
 *
 * Modules that are loaded later are looked at each time that the loader's list has changed. A slot that has its stub
 * keeps it: the function's library stays as long as the module that calls it. A module that is loaded again has slots
 * as new ones.
 */
#include "library_calls.h"

#include <dlfcn.h>
#include <string.h>

#include "common.h"
#include "dwell/format.h"
#include "levels/call_stubs.h"
#include "levels/code_lock.h"
#include "levels/hook_places.h"
#include "levels/level_library.h"
#include "levels/module_slots.h"
#include "levels/rewrite.h"
#include "library_plans.h"
#include "library_scope.h"
#include "library_sites.h"
#include "metadata_records.h"
#include "module_identity.h"
#include "modules.h"
#include "probes.h"
#include "program_path.h"
#include "runtime.h"
#include "sys.h"

/* A slot of the plan in a loaded module. */
struct library_slot {
    uint64_t address;
    const char *name, *version;
    struct call_stack stack;
    bool own; /* its function can be one of the module itself */
};

enum { LIBRARY_SLOTS = 1 << 14 };

/* While slots are changed: by one thread. */
static struct library_search {
    bool later;    /* not as the process begins: the scope is valid */
    bool left_out; /* there was no stub for some functions */
    uint32_t count;
    char path[4096];
    struct text program; /* its path */
    struct library_slot slots[LIBRARY_SLOTS];
    struct slot_change changes[LIBRARY_SLOTS];
    struct library_scope scope;
} * library_search;

/* The number of modules as the process began, and of unloads at the last look. */
static uint32_t library_begun;
static uint64_t library_unloads;

static struct plan_module library_loaded(const struct dl_phdr_info *info, bool program)
{
    return (struct plan_module){ module_build_id(info), program ? library_search->program : module_name(info) };
}

/* The plan's entry of a module; NULL if it has none: the module has no probes. */
static const struct dwell_calls_module *library_module(const struct dl_phdr_info *info, bool program)
{
    const struct plan_module loaded = library_loaded(info, program);
    return library_plans_module(&loaded);
}

/* ---- the slots of a module ---- */

struct library_visit {
    const struct dwell_calls_module *module;
    uint64_t bias;
};

static const struct dwell_calls_slot *library_planned(const struct library_visit *visit, uint64_t address)
{
    const struct dwell_calls_slot *slots = library_plans_slots(visit->module);
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
        .stack = library_plans_stack(&planned->stack),
        .own = planned->stack.own,
    };
}

/* ---- the functions ---- */

static void library_note_hook(void *to, int hook, uint64_t slot, bool defined)
{
    bool *any = to;
    (void)slot;
    *any |= hook == HOOK_ENTER && !defined;
}

static bool library_has_probes(const struct dl_phdr_info *info)
{
    bool any = false;
    hook_places_each_slot(info, library_note_hook, &any);
    return any;
}

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
    target->probes = hook_places_code(&places, (uint64_t)probe_enter) || library_module(info, program) ||
                     (library_search->later && library_has_probes(info));
    target->indirect = module_slots_indirect(info, target->name);
    return 1;
}

/* A library chooses such a function by code of its own, which the loader would call as well. */
static uint64_t library_choose(const struct module_function *function, const struct dl_phdr_info *in)
{
    if (!function->indirect)
        return function->address;
    return library_has_probes(in) ? 0 : ((uint64_t(*)(void))function->address)();
}

static uint64_t library_look_up(const struct library_slot *slot)
{
    if (library_search->later) {
        const struct dl_phdr_info *in = NULL;
        const struct module_function found = library_scope_find(&library_search->scope, slot->name, slot->version, &in);
        return found.address ? library_choose(&found, in) : 0;
    }
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
    if (call_stubs_have(target.address))
        return 0;
    const bool own = slot->own && hook_places_code(places, target.address);
    if (!own && hook_places_code(places, target.address))
        target.address = library_look_up(slot);
    if (target.address)
        dl_iterate_phdr(library_visit_target, &target);
    if (!target.known || (target.probes && !own))
        return 0;
    const uint64_t function = target.indirect ? target.indirect : target.address;
    const uint64_t stub = call_stub_of(target.address, function, &slot->stack, false);
    library_search->left_out |= !stub;
    level_library_begin(function, modules_identity_of(function));
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
    if (!MACHINE_ORDERS_LOADS)
        rewriter_synchronize(); /* who finds a stub in a slot finds where it leads */
    code_lock_take();
    const bool done = rewriter_set_slots(&(const struct rewriter){ .places = &places }, library_search->changes, count);
    code_lock_release();
    if (!done)
        metadata_note("the system does not let this library change all slots, so some calls into libraries are not "
                      "recorded");
}

static void library_change_module(const struct dl_phdr_info *info, bool program)
{
    const struct dwell_calls_module *module = library_module(info, program);
    library_search->count = 0;
    if (module && module->slots)
        module_slots_each(info, library_take_slot, &(struct library_visit){ module, info->dlpi_addr });
    if (module)
        library_sites_change(info, module);
}

/* ---- looks ---- */

static bool library_search_begin(bool later)
{
    library_search = sys_memory(sizeof *library_search);
    if (!library_search)
        return false;
    library_search->later = later;
    library_search->program =
        (struct text){ library_search->path, (size_t)program_path(library_search->path, sizeof library_search->path) };
    return true;
}

static void library_search_end(void)
{
    static bool noted;
    if (library_search->left_out && !noted)
        metadata_note("too many functions of libraries are called: calls of some are not recorded");
    noted |= library_search->left_out;
    sys_unmap(library_search, sizeof *library_search);
    library_search = NULL;
}

/* The recorder is asked about modules with probes that it has not seen. */
static void library_ask(const struct dl_phdr_info *info, bool program)
{
    struct plan_module loaded = library_loaded(info, program);
    if (library_plans_module(&loaded) || !library_has_probes(info))
        return;
    if (!program)
        loaded.path = modules_path_of(info->dlpi_addr, loaded.path);
    if (loaded.path.length)
        library_plans_ask(&loaded);
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
    walk->found = true;
    walk->info = *info;
    library_change_module(info, walk->wanted == 0);
    return 1;
}

static int library_visit_first(struct dl_phdr_info *info, size_t size, void *data)
{
    bool *program = data;
    (void)size;
    library_begun++;
    library_unloads = info->dlpi_subs;
    library_ask(info, *program);
    *program = false;
    return 0;
}

void library_calls_begin(int fd)
{
    if (!library_plans_begin(fd) || !library_search_begin(false))
        return;
    bool program = true;
    dl_iterate_phdr(library_visit_first, &program);
    struct library_walk walk = { .found = true };
    for (; walk.found; walk.wanted++) {
        walk.found = false;
        walk.index = 0;
        dl_iterate_phdr(library_visit_module, &walk);
        if (walk.found && library_search->count)
            library_change(&walk.info);
    }
    library_search_end();
}

static bool library_is_unloaded(uint64_t target)
{
    const struct library_scope *scope = &library_search->scope;
    for (uint32_t i = 0; i < scope->count; i++) {
        struct hook_places places = { .code_count = 0 };
        hook_places_find_code(&places, &scope->modules[i]);
        if (hook_places_code(&places, target))
            return false;
    }
    return !scope->more;
}

static void library_look_at(uint32_t index)
{
    struct library_scope *scope = &library_search->scope;
    library_change_module(&scope->modules[index], false);
    if (!library_search->count)
        return;
    library_scope_use(scope, index);
    library_change(&scope->modules[index]);
}

/* In the first visit of a walk: no module can be unmapped meanwhile. */
static int library_visit_later(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    struct library_scope *scope = &library_search->scope;
    library_scope_take(scope, library_begun);
    if (info->dlpi_subs != library_unloads) {
        call_stubs_give_back(library_is_unloaded);
        library_sites_give_back(library_is_unloaded);
    }
    library_unloads = info->dlpi_subs;
    for (uint32_t i = library_begun; i < scope->count; i++)
        library_ask(&scope->modules[i], false);
    for (uint32_t i = library_begun; i < scope->count; i++)
        library_look_at(i);
    return 1;
}

void library_calls_look(void)
{
    if (!library_begun || runtime.closed || !library_search_begin(true))
        return;
    dl_iterate_phdr(library_visit_later, NULL);
    library_search_end();
}

bool library_calls_are_wanted(void)
{
    return library_begun;
}
