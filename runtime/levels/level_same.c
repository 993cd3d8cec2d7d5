/* Whether the code of a module is the one that was rewritten, or another one in its place. */
#include "levels/level_module.h"

bool level_module_is_same(const struct level_module *m, const struct dl_phdr_info *info)
{
    struct hook_places now = { .code_count = 0 };
    const bool changed = m->reduced || m->pause;
    hook_places_find_code(&now, info);
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        const bool expected = hook_places_code(&now, site->address) && rewriter_is_as_expected(&m->rewriter, site);
        if (expected != !changed && (site->form != CALL_ORIGINAL || !changed))
            return expected;
    }
    return m->denied || !changed;
}

bool level_module_is_in_use(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        if (site->form != CALL_ORIGINAL && !site->strange)
            return rewriter_is_in_memory(&m->rewriter, site);
    }
    return false;
}
