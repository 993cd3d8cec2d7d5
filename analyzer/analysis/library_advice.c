/* Samples show which functions of libraries the instrumented functions call. Where the files can be read, the caller's
 * slots must lead to the function, and nothing may be a reason for `dwell record --calls-to` to leave it alone. */
#include "analysis/library_advice.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/probe_share.h"
#include "arguments/stack_arguments.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "symbols/binary_parts.h"
#include "symbols/call_slots.h"
#include "symbols/elf_facts.h"
#include "symbols/function_pattern.h"
#include "symbols/os_calls.h"
#include "symbols/probe_targets.h"
#include "symbols/uncalled_functions.h"

enum { LEAST_PERMILLE = 10 }; /* of the program's time */

/* What instrumented callers spend in a function. */
struct library_edge {
    uint32_t function, caller;
    uint64_t time;
};

/* What the files say, by module. */
struct library_modules {
    const struct profile *profile;
    struct binaries *binaries;
    struct library_module {
        struct binary_parts parts;
        Elf *elf; /* NULL if the file cannot be read */
        struct call_slots slots;
        struct stack_arguments declared;
        bool looked, looked_at_slots, looked_at_declared;
    } * list;
};

static int library_compare_edges(const void *a, const void *b)
{
    const struct library_edge *x = a, *y = b;
    return ORDER_BY(x, y, function, caller);
}

static bool library_is_sampled(const struct profile_node *node)
{
    return node->site == PROFILE_SAMPLED;
}

/* Whether the node is a call of a library's function by an instrumented one. */
static bool library_is_edge(const struct profile *p, const struct profile_node *node)
{
    if (!library_is_sampled(node) || node->parent == PROFILE_NONE)
        return false;
    const struct profile_node *parent = &p->nodes[node->parent];
    return parent->function != PROFILE_NONE && !library_is_sampled(parent) &&
           p->functions[parent->function].module != p->functions[node->function].module &&
           *p->modules[p->functions[node->function].module].path == '/';
}

static struct library_edge *library_find_edges(const struct analysis *analysis, size_t *count)
{
    const struct profile *p = analysis->profile;
    const enum value_id value = probe_share_rest(&analysis->summary);
    struct library_edge *list = need_memory(p->node_count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < p->node_count; i++)
        if (library_is_edge(p, &p->nodes[i]))
            list[(*count)++] = (struct library_edge){ p->nodes[i].function, p->nodes[p->nodes[i].parent].function,
                                                      times_value(&analysis->rollup->nodes[i], value, INCLUSIVE) };
    if (*count)
        qsort(list, *count, sizeof *list, library_compare_edges);
    return list;
}

/* ---- what can be recorded ---- */

static struct library_module *library_module_of(struct library_modules *modules, uint32_t module)
{
    struct library_module *of = &modules->list[module];
    const struct profile_module *m = &modules->profile->modules[module];
    const struct symbol_module as = { m->path, m->build_id, m->build_id_length };
    GElf_Addr bias;
    if (!of->looked && *m->path == '/' && binaries_parts(modules->binaries, &as, &of->parts))
        of->elf = dwfl_module_getelf(of->parts.module, &bias);
    of->looked = true;
    return of;
}

static bool library_is_called(struct library_modules *modules, uint32_t caller, const char *name)
{
    struct library_module *m = library_module_of(modules, modules->profile->functions[caller].module);
    if (m->elf && !m->looked_at_slots)
        m->slots = call_slots_find(m->elf, m->parts.image);
    m->looked_at_slots = true;
    bool called = !m->elf;
    for (size_t i = 0; i < m->slots.count && !called; i++)
        called = m->slots.list[i].only_calls && strcmp(m->slots.list[i].name, name) == 0;
    return called;
}

/* Whether the runtime takes the function's place, or a program has the runtime without stubs. */
static bool library_runtime_prevents(struct library_modules *modules, const char *name)
{
    for (uint32_t i = 0; i < modules->profile->module_count; i++) {
        Elf *elf = library_module_of(modules, i)->elf;
        if (elf && elf_has_runtime(elf) &&
            (!elf_is_runtime(elf) || elf_defines(modules->profile->modules[i].path, name)))
            return true;
    }
    return false;
}

/* Whether the caller's declaration has more arguments than a stub copies. */
static bool library_takes_too_much(struct library_modules *modules, uint32_t caller, const char *name)
{
    struct library_module *m = library_module_of(modules, modules->profile->functions[caller].module);
    if (m->elf && !m->looked_at_declared)
        m->declared = stack_arguments_find(m->parts.module);
    m->looked_at_declared = true;
    const struct stack_arguments_of *of = stack_arguments_of(&m->declared, name);
    return of && of->bytes != STACK_ARGUMENTS_ANY && of->bytes > DWELL_CALLS_STACK_MOST;
}

/* Whether --calls-to leaves calls of the function alone, by what the files say. */
static bool library_is_left_alone(struct library_modules *modules, const struct library_advised *advised,
                                  const char *name)
{
    const uint32_t module = modules->profile->functions[advised->function].module;
    Elf *elf = library_module_of(modules, module)->elf;
    return (elf && probe_targets_any(elf)) || library_runtime_prevents(modules, name) ||
           library_takes_too_much(modules, advised->caller, name);
}

/* The name under which modules call it; NULL if --calls-to leaves all of that name alone. */
static const char *library_name(const struct analysis *analysis, uint32_t function)
{
    const struct function_name *f = &analysis->names[function];
    const char *name = f->linkage_name ? f->linkage_name : f->name;
    const bool left_alone = names_is_nameless(f) || uncalled_reason(name) || os_calls_number(name) >= 0;
    return left_alone ? NULL : name;
}

static char *library_pattern(const struct function_name *f)
{
    char *module = function_pattern_escape(f->module),
         *name = function_pattern_escape(f->linkage_name ? f->linkage_name : f->name);
    char *pattern = need_text("%s!%s", module, name);
    free(module);
    free(name);
    return pattern;
}

/* ---- the list ---- */

static int library_compare_advised(const void *a, const void *b)
{
    const struct library_advised *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return ORDER_BY(x, y, function);
}

/* Sums the edges of one function, which begin at `edges`. Returns their number. */
static size_t library_sum(const struct library_edge *edges, size_t count, struct library_modules *modules,
                          const char *name, struct library_advised *sum)
{
    uint64_t most = 0, time = 0;
    size_t i = 0;
    *sum = (struct library_advised){ .function = edges->function, .caller = edges->caller };
    while (i < count && edges[i].function == edges->function) {
        const uint32_t caller = edges[i].caller;
        for (time = 0; i < count && edges[i].function == edges->function && edges[i].caller == caller; i++)
            time += edges[i].time;
        if (!name || !library_is_called(modules, caller, name))
            continue;
        sum->time += time;
        sum->callers++;
        if (time > most)
            sum->caller = caller;
        most = time > most ? time : most;
    }
    return i;
}

static void library_fill(struct library_advice *a, const struct analysis *analysis, struct library_modules *modules)
{
    size_t count;
    struct library_edge *edges = library_find_edges(analysis, &count);
    a->list = need_memory(count, sizeof *a->list);
    for (size_t i = 0; i < count;) {
        struct library_advised *next = &a->list[a->count];
        const char *name = library_name(analysis, edges[i].function);
        i += library_sum(edges + i, count - i, modules, name, next);
        if (next->time && next->time >= a->own / 1000 * LEAST_PERMILLE && !library_is_left_alone(modules, next, name))
            a->count++;
    }
    free(edges);
    if (a->count)
        qsort(a->list, a->count, sizeof *a->list, library_compare_advised);
    for (size_t i = 0; i < a->count; i++)
        a->list[i].pattern = library_pattern(&analysis->names[a->list[i].function]);
}

struct library_advice library_advice_of(const struct analysis *analysis)
{
    struct library_modules modules = { .profile = analysis->profile, .binaries = binaries_new_quiet() };
    struct library_advice a = { .own = times_value(&analysis->rollup->session, probe_share_rest(&analysis->summary),
                                                   INCLUSIVE) };
    modules.list = need_memory(analysis->profile->module_count, sizeof *modules.list);
    library_fill(&a, analysis, &modules);
    for (size_t i = 0; i < analysis->profile->module_count; i++) {
        free(modules.list[i].slots.list);
        stack_arguments_drop(&modules.list[i].declared);
    }
    free(modules.list);
    binaries_free(modules.binaries);
    return a;
}

void library_advice_drop(struct library_advice *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->list[i].pattern);
    free(a->list);
}
