/* A module that is loaded again has its calls as new ones. */
#include "library_sites.h"

#include "common.h"
#include "levels/call_stubs.h"
#include "levels/code_lock.h"
#include "levels/code_pages.h"
#include "levels/level_library.h"
#include "levels/near_calls.h"
#include "library_plans.h"
#include "metadata_records.h"
#include "module_identity.h"
#include "modules.h"
#include "program_path.h"
#include "sys.h"

/* A module whose calls were changed. */
struct library_changed {
    const struct dwell_calls_module *module;
    uint64_t bias, code; /* code: an address in it */
    struct direct_jumps jumps;
};

static struct library_changed *library_changed;
static uint32_t library_changed_count, library_changed_room;

static struct library_changed *library_changed_of(const struct dwell_calls_module *module, uint64_t bias)
{
    for (uint32_t i = 0; i < library_changed_count; i++)
        if (library_changed[i].module == module && library_changed[i].bias == bias)
            return &library_changed[i];
    return NULL;
}

static struct library_changed *library_changed_add(const struct dwell_calls_module *module, uint64_t bias)
{
    if (library_changed_count == library_changed_room) {
        struct library_changed *list = sys_grow(library_changed, &library_changed_room, sizeof *list, 64);
        if (!list)
            return NULL;
        library_changed = list;
    }
    library_changed[library_changed_count] =
        (struct library_changed){ .module = module, .bias = bias, .code = library_plans_sites(module)->address + bias };
    return &library_changed[library_changed_count++];
}

/* ---- the plan ---- */

static struct direct_target library_target(const struct dwell_calls_function *planned, uint64_t bias)
{
    const uint64_t target = planned->target + bias, function = planned->function + bias;
    const struct call_stack stack = library_plans_stack(&planned->stack);
    const struct direct_target found = { .target = target, .stub = call_stub_of(target, function, &stack, true) };
    level_library_begin(function, modules_identity_of(function));
    return found;
}

struct library_lists {
    struct direct_target *targets;
    struct direct_call *calls;
};

static void library_lists_drop(const struct library_lists *lists, const struct dwell_calls_module *module)
{
    if (lists->targets)
        sys_unmap(lists->targets, module->functions * sizeof *lists->targets);
    if (lists->calls)
        sys_unmap(lists->calls, module->sites * sizeof *lists->calls);
}

static bool library_lists_make(struct library_lists *lists, const struct dwell_calls_module *module, uint64_t bias)
{
    const struct dwell_calls_site *sites = library_plans_sites(module);
    lists->targets = sys_memory(module->functions * sizeof *lists->targets);
    lists->calls = sys_memory(module->sites * sizeof *lists->calls);
    if (!lists->targets || !lists->calls)
        return false;
    for (uint32_t i = 0; i < module->sites; i++)
        lists->calls[i] = (struct direct_call){ sites[i].address + bias, sites[i].function };
    return true;
}

static void library_take_stubs(const struct library_lists *lists, const struct dwell_calls_module *module,
                               uint64_t bias)
{
    for (uint32_t i = 0; i < module->functions; i++)
        lists->targets[i] = library_target(&library_plans_functions(module)[i], bias);
}

/* ---- changes ---- */

static uint32_t library_change_calls(struct direct_jumps *jumps, const struct direct_calls *calls)
{
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return calls->count;
    code_lock_take();
    const uint32_t left = direct_calls_change(jumps, calls);
    code_lock_release();
    sys_restore_signals(mask);
    return left;
}

static void library_note(uint32_t left)
{
    static bool noted;
    if (left && !noted)
        metadata_note(
            "some calls of functions without probes in the same module are not recorded: their code could not "
            "be changed");
    noted |= left != 0;
}

static bool library_change_listed(const struct library_lists *lists, const struct dwell_calls_module *module,
                                  uint64_t bias, const struct hook_places *places)
{
    const struct direct_calls calls = { .places = places,
                                        .targets = lists->targets,
                                        .list = lists->calls,
                                        .target_count = module->functions,
                                        .count = module->sites };
    struct library_changed *changed = library_changed_of(module, bias);
    if (changed && direct_calls_are_changed(&changed->jumps, &calls))
        return true;
    if (!changed)
        changed = library_changed_add(module, bias);
    if (!changed)
        return false;
    direct_jumps_drop(&changed->jumps);
    library_take_stubs(lists, module, bias);
    library_note(library_change_calls(&changed->jumps, &calls));
    return true;
}

void library_sites_change(const struct dl_phdr_info *info, const struct dwell_calls_module *module)
{
    struct hook_places places = { .code_count = 0 };
    struct library_lists lists = { NULL, NULL };
    if (!module->sites)
        return;
    hook_places_find_code(&places, info);
    if (!code_pages_are_readable(&places) || !library_lists_make(&lists, module, info->dlpi_addr) ||
        !library_change_listed(&lists, module, info->dlpi_addr, &places))
        library_note(module->sites);
    library_lists_drop(&lists, module);
}

void library_sites_give_back(library_site_is_unloaded *is_unloaded)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < library_changed_count; i++) {
        if (is_unloaded(library_changed[i].code))
            direct_jumps_drop(&library_changed[i].jumps);
        else
            library_changed[kept++] = library_changed[i];
    }
    library_changed_count = kept;
}

static int library_visit_program(struct dl_phdr_info *info, size_t size, void *data)
{
    static char path[4096];
    (void)size, (void)data;
    const struct plan_module loaded = { module_build_id(info), { path, (size_t)program_path(path, sizeof path) } };
    const struct dwell_calls_module *module = library_plans_module(&loaded);
    if (module)
        library_sites_change(info, module);
    return 1;
}

void library_sites_begin(int fd)
{
    if (library_plans_begin(fd))
        dl_iterate_phdr(library_visit_program, NULL);
}
