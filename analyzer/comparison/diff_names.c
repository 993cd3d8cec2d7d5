/* Gives the functions and modules of sessions names in place of addresses and paths, and common numbers by them. */
#include "comparison/diff_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool diff_profile_has_module(const struct profile *p, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < p->module_count && !found; i++) {
        char *own = names_module(p->modules[i].path);
        found = strcmp(own, name) == 0;
        free(own);
    }
    return found;
}

static char *diff_program_name(const struct session_file *file)
{
    return file->process_count && file->processes[0].path[0] ? names_module(file->processes[0].path) : NULL;
}

struct diff_renaming diff_find_renaming(struct diff *d, enum diff_side side, const struct analysis *analysis)
{
    struct diff_renaming r = { diff_program_name(analysis->file), NULL };
    if (side == DIFF_BEFORE) {
        if (!d->program && r.from)
            d->program = need_copy(r.from, strlen(r.from));
    } else if (d->program && r.from && strcmp(d->program, r.from) != 0 &&
               !diff_profile_has_module(analysis->profile, d->program) && !diff_profile_has_module(d->keys, r.from)) {
        r.to = d->program;
        diff_add_remark(
            d, "another-version",
            need_text("%s: '%s' is compared as another version of '%s'", analysis->file->path, r.from, r.to));
    }
    return r;
}

struct profile *diff_name_profile(struct diff *d, const struct analysis *analysis, const struct diff_renaming *renaming)
{
    const struct profile *p = analysis->profile;
    struct profile renamed = *p, *named = profile_new();
    renamed.modules = need_memory(p->module_count, sizeof *renamed.modules);
    renamed.functions = need_memory(p->function_count, sizeof *renamed.functions);
    renamed.threads = need_memory(p->thread_count, sizeof *renamed.threads);
    renamed.reported = need_memory(p->reported_count, sizeof *renamed.reported);
    renamed.mark_count = 0;
    for (size_t i = 0; i < p->module_count; i++) {
        char *name = names_module(p->modules[i].path);
        if (renaming->to && strcmp(name, renaming->from) == 0) {
            free(name);
            name = need_copy(renaming->to, strlen(renaming->to));
        }
        renamed.modules[i] = (struct profile_module){ .path = name, .build_id = (uint8_t *)name };
    }
    for (size_t i = 0; i < p->function_count; i++) {
        const uint32_t module = p->functions[i].module;
        const char *name =
            names_is_nameless(&analysis->names[i]) ? renamed.modules[module].path : analysis->names[i].name;
        renamed.functions[i] = (struct profile_function){ module, intern(&d->names, name, strlen(name)) };
    }
    for (size_t i = 0; i < p->thread_count; i++)
        renamed.threads[i] = (struct profile_thread){ .root = p->threads[i].root };
    for (size_t i = 0; i < p->reported_count; i++) {
        renamed.reported[i] = p->reported[i];
        renamed.reported[i].process = 0;
    }
    profile_merge(named, &renamed);
    for (size_t i = 0; i < p->module_count; i++)
        free(renamed.modules[i].path);
    free(renamed.modules);
    free(renamed.functions);
    free(renamed.threads);
    free(renamed.reported);
    return named;
}

uint32_t diff_common_module(struct diff *d, const struct profile *p, uint32_t module)
{
    return profile_module(d->keys, p->modules[module].path, (const uint8_t *)"", 0);
}

uint32_t diff_common_function(struct diff *d, const struct profile *p, uint32_t function)
{
    return profile_function(d->keys, diff_common_module(d, p, p->functions[function].module),
                            p->functions[function].offset);
}
