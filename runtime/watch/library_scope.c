/*
 * The loader looks a name up in the program and the libraries that it is linked with, then in libraries that were
 * loaded for all (RTLD_GLOBAL), and then in the module's own libraries. Nobody says which libraries were loaded for
 * all, or which modules prefer their own. So a name that these could decide is not looked up here.
 *
 * The loader's own search would keep a library from being unloaded, and may not be called in a walk of its list.
 */
#include "library_scope.h"

#include <string.h>

static int library_scope_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library_scope *scope = data;
    (void)size;
    scope->more = scope->count == LIBRARY_MODULES;
    if (!scope->more)
        scope->modules[scope->count++] = *info;
    return scope->more;
}

void library_scope_take(struct library_scope *scope, uint32_t begun)
{
    scope->count = 0;
    scope->begun = begun;
    scope->more = false;
    dl_iterate_phdr(library_scope_visit, scope);
}

static bool library_scope_is_needed(const struct library_scope *scope, const char *name)
{
    for (uint32_t i = scope->begun; i < scope->count; i++)
        if (scope->linked[i] && module_slots_needs(&scope->modules[i], name))
            return true;
    return false;
}

void library_scope_use(struct library_scope *scope, uint32_t index)
{
    memset(scope->linked, 0, sizeof scope->linked);
    scope->linked[index] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = scope->begun; i < scope->count; i++) {
            const char *name = scope->linked[i] ? NULL : module_slots_library(&scope->modules[i]);
            if (!name || !library_scope_is_needed(scope, name))
                continue;
            scope->linked[i] = true;
            more = true;
        }
    }
}

struct module_function library_scope_find(const struct library_scope *scope, const char *name, const char *version,
                                          const struct dl_phdr_info **in)
{
    struct module_function found = { 0, false };
    bool begun = false, unsure = scope->more;
    for (uint32_t i = 0; i < scope->count && !unsure; i++) {
        if (i < scope->begun && found.address)
            continue;
        const struct module_function here = module_slots_function(&scope->modules[i], name, version);
        if (!here.address)
            continue;
        if (!found.address && (i < scope->begun || scope->linked[i])) {
            found = here;
            *in = &scope->modules[i];
            begun = i < scope->begun;
        } else {
            unsure = scope->linked[i] || !begun;
        }
    }
    return unsure ? (struct module_function){ 0, false } : found;
}
