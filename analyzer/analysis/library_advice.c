/* Samples show which functions of libraries the instrumented functions call. Where the files can be read, the caller's
 * slots must lead to the function, and nothing may be a reason for `dwell record --calls-to` to leave it alone. A
 * function that is linked into the caller's file must have no probes, and direct calls, which only the file knows. A
 * library can have several versions of a function, for several processors. Samples have the name of one, slots the
 * function's. */
#include "analysis/library_advice.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "analysis/probe_share.h"
#include "arguments/direct_callee.h"
#include "arguments/stack_arguments.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "symbols/binary_parts.h"
#include "symbols/call_slots.h"
#include "symbols/direct_calls.h"
#include "symbols/elf_facts.h"
#include "symbols/function_pattern.h"
#include "symbols/named_functions.h"
#include "symbols/os_calls.h"
#include "symbols/probe_targets.h"
#include "symbols/uncalled_functions.h"

enum { LEAST_PERMILLE = 10 }; /* of the program's time */

/* What an instrumented caller spends in a function. */
struct library_edge {
    uint32_t function, caller;
    uint64_t time;
    uint32_t module;  /* the function's */
    const char *name; /* linkage name by which the caller calls it */
    bool version;     /* the function has another name than that */
    bool linked;      /* it is in the caller's file */
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
        struct named_functions functions;
        struct direct_calls direct;
        bool looked, looked_at_slots, looked_at_declared, looked_at_direct;
    } * list;
};

static int library_compare_edges(const void *a, const void *b)
{
    const struct library_edge *x = a, *y = b;
    return ORDER_BY(x, y, function, caller);
}

static int library_compare_named(const void *a, const void *b)
{
    const struct library_edge *x = a, *y = b;
    if (x->module != y->module)
        return ORDER_BY(x, y, module);
    const int names = strcmp(x->name, y->name);
    return names ? names : ORDER_BY(x, y, linked, caller, function);
}

static bool library_is_sampled(const struct profile_node *node)
{
    return node->site == PROFILE_SAMPLED;
}

/* Whether the node is a call of another function by an instrumented one. It may be one with probes, in their file. */
static bool library_is_edge(const struct profile *p, const struct profile_node *node)
{
    if (!library_is_sampled(node) || node->parent == PROFILE_NONE)
        return false;
    const struct profile_node *parent = &p->nodes[node->parent];
    return parent->function != PROFILE_NONE && !library_is_sampled(parent) && parent->function != node->function &&
           *p->modules[p->functions[node->function].module].path == '/';
}

static bool library_is_linked(const struct profile *p, const struct profile_node *node)
{
    return p->functions[p->nodes[node->parent].function].module == p->functions[node->function].module;
}

/* One for each pair of a function and its caller. */
static struct library_edge *library_find_edges(const struct analysis *analysis, size_t *count)
{
    const struct profile *p = analysis->profile;
    const enum value_id value = probe_share_rest(&analysis->summary);
    struct library_edge *list = need_memory(p->node_count, sizeof *list);
    size_t all = 0;
    for (size_t i = 0; i < p->node_count; i++)
        if (library_is_edge(p, &p->nodes[i]))
            list[all++] = (struct library_edge){ .function = p->nodes[i].function,
                                                 .caller = p->nodes[p->nodes[i].parent].function,
                                                 .module = p->functions[p->nodes[i].function].module,
                                                 .linked = library_is_linked(p, &p->nodes[i]),
                                                 .time = times_value(&analysis->rollup->nodes[i], value, INCLUSIVE) };
    if (all)
        qsort(list, all, sizeof *list, library_compare_edges);
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (*count && library_compare_edges(&list[*count - 1], &list[i]) == 0)
            list[*count - 1].time += list[i].time;
        else
            list[(*count)++] = list[i];
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

static const struct call_slots *library_slots(struct library_modules *modules, uint32_t caller)
{
    struct library_module *m = library_module_of(modules, modules->profile->functions[caller].module);
    if (m->elf && !m->looked_at_slots)
        m->slots = call_slots_find(m->elf, m->parts.image);
    m->looked_at_slots = true;
    return m->elf ? &m->slots : NULL;
}

/* Functions of one kind can have their versions in common, which are known by the name of one of them. Returns the
 * kind's number; -1 if there is none. */
static int library_kind(const char *name)
{
    static const char *const kinds[][6] = {
        { "memmove", "memcpy", "mempcpy", "__memcpy_chk", "__memmove_chk", "__mempcpy_chk" },
        { "memset", "__memset_chk" },
        { "memcmp", "bcmp" },
        { "strchr", "index" },
        { "strrchr", "rindex" },
    };
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        for (int k = 0; k < 6 && kinds[i][k]; k++)
            if (strcmp(kinds[i][k], name) == 0)
                return i;
    return -1;
}

/* The function of which that is a version: "memcpy" of "__memcpy_avx_unaligned". The caller frees it; NULL if the name
 * is none of a version. */
static char *library_function_of_version(const char *version)
{
    static const char *const processors[] = { "_avx", "_evex", "_sse", "_ssse", "_erms", "_fma", "_c", "_generic" };
    const char *end = NULL;
    for (size_t i = 0; i < sizeof processors / sizeof *processors && strncmp(version, "__", 2) == 0; i++) {
        const char *found = strstr(version + 2, processors[i]);
        end = found && (!end || found < end) ? found : end;
    }
    return end && end > version + 2 ? need_text("%.*s", (int)(end - version - 2), version + 2) : NULL;
}

/* The name of the slot by which the caller reaches that version of a function of the library; NULL if there is none. */
static const char *library_called_version(const struct call_slots *slots, Elf *library, const char *version)
{
    char *function = library_function_of_version(version);
    const int kind = function ? library_kind(function) : -1;
    const char *found = NULL;
    bool same = false;
    for (size_t i = 0; function && library && i < slots->count && !same; i++) {
        const char *name = slots->list[i].name;
        same = strcmp(name, function) == 0;
        if (slots->list[i].only_calls && (same || (!found && kind >= 0 && library_kind(name) == kind)) &&
            elf_has_versions_of(library, name))
            found = name;
    }
    free(function);
    return found;
}

/* Finds the name by which the caller calls the function. Without the caller's file, it is the function's. */
static void library_name_call(struct library_modules *modules, struct library_edge *edge, const char *name)
{
    const struct call_slots *slots = library_slots(modules, edge->caller);
    for (size_t i = 0; slots && i < slots->count && !edge->name; i++)
        edge->name = slots->list[i].only_calls && strcmp(slots->list[i].name, name) == 0 ? name : NULL;
    if (!slots)
        edge->name = name;
    if (edge->name)
        return;
    edge->name = library_called_version(slots, library_module_of(modules, edge->module)->elf, name);
    edge->version = edge->name != NULL;
}

/* ---- functions that are linked in ---- */

static struct library_module *library_direct(struct library_modules *modules, uint32_t module)
{
    struct library_module *m = library_module_of(modules, module);
    if (m->elf && !m->looked_at_direct) {
        m->functions = named_functions_find(m->parts.module);
        m->direct = direct_calls_find(m->elf, m->parts.image, &m->functions);
    }
    m->looked_at_direct = true;
    return m;
}

/* Whether there are direct calls of the function, which has no probes, and the code is no reason to leave it alone. */
static bool library_is_called_directly(struct library_modules *modules, const struct library_edge *edge,
                                       const char *name)
{
    struct library_module *m = library_direct(modules, edge->module);
    struct direct_callee callee = { .function = modules->profile->functions[edge->function].offset };
    const struct direct_calls *d = &m->direct;
    const size_t first = LOWER_BOUND(call, d->list, d->count, call->target < callee.function);
    Dwarf_Addr bias;
    while (first + callee.count < d->count && d->list[first + callee.count].target == callee.function)
        callee.count++;
    if (!callee.count || named_symbol_is_part(name) || direct_calls_have_probes(d, callee.function))
        return false;
    callee.calls = &d->list[first];
    return !direct_callee_reason(&callee, &m->direct, m->parts.image, dwfl_module_eh_cfi(m->parts.module, &bias));
}

/* ---- what is left alone ---- */

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

/* Whether the runtime is in another module, a program that has a loader: then it leaves the module's code alone. */
static bool library_has_no_stubs(struct library_modules *modules, uint32_t module)
{
    for (uint32_t i = 0; i < modules->profile->module_count; i++) {
        Elf *elf = library_module_of(modules, i)->elf;
        if (i != module && elf && elf_has_runtime(elf) && !elf_is_runtime(elf) && elf_has_segment(elf, PT_INTERP))
            return true;
    }
    return false;
}

/* Whether --calls-to leaves calls of the function alone, by what the files say. */
static bool library_is_left_alone(struct library_modules *modules, const struct library_advised *advised,
                                  const struct library_edge *edge)
{
    const char *name = edge->name;
    if (edge->linked)
        return library_has_no_stubs(modules, edge->module) || library_takes_too_much(modules, advised->caller, name);
    const uint32_t module = modules->profile->functions[advised->function].module;
    Elf *elf = library_module_of(modules, module)->elf;
    return (elf && probe_targets_any(elf)) || library_runtime_prevents(modules, name) ||
           library_takes_too_much(modules, advised->caller, name);
}

static const char *library_linkage_name(const struct function_name *f)
{
    return f->linkage_name ? f->linkage_name : f->name;
}

static bool library_can_record(const char *name)
{
    return !uncalled_reason(name) && os_calls_number(name) < 0;
}

/* What all callers spend in the function whose edges begin there. */
static uint64_t library_time(const struct library_edge *edges, size_t count)
{
    uint64_t time = 0;
    for (size_t i = 0; i < count && edges[i].function == edges->function; i++)
        time += edges[i].time;
    return time;
}

/* Names the edges whose calls can be recorded, and removes the others. Returns the number of the former. All code of a
 * file is read for functions that are linked into it, so only for those that take the time. */
static size_t library_name_calls(const struct analysis *analysis, struct library_modules *modules,
                                 struct library_edge *edges, size_t count, uint64_t least)
{
    size_t named = 0;
    bool much = false;
    for (size_t i = 0; i < count; i++) {
        const struct function_name *f = &analysis->names[edges[i].function];
        const char *name = library_linkage_name(f);
        if (!i || edges[i].function != edges[i - 1].function)
            much = library_time(&edges[i], count - i) >= least;
        if (names_is_nameless(f))
            continue;
        if (!edges[i].linked)
            library_name_call(modules, &edges[i], name);
        else if (much && library_is_called_directly(modules, &edges[i], name))
            edges[i].name = name;
        if (edges[i].name && library_can_record(edges[i].name))
            edges[named++] = edges[i];
    }
    return named;
}

static char *library_pattern(const char *of_module, const char *name)
{
    char *module = function_pattern_escape(of_module), *escaped = function_pattern_escape(name);
    char *pattern = need_text("%s!%s", module, escaped);
    free(module);
    free(escaped);
    return pattern;
}

/* ---- the list ---- */

static int library_compare_advised(const void *a, const void *b, void *analysis)
{
    const struct library_advised *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return function_compare(analysis, x->function, y->function);
}

static bool library_is_same(const struct library_edge *a, const struct library_edge *b)
{
    return a->module == b->module && a->linked == b->linked && strcmp(a->name, b->name) == 0;
}

/* Sums the edges of one name, which begin at `edges`. Returns their number. */
static size_t library_sum(const struct analysis *analysis, const struct library_edge *edges, size_t count,
                          struct library_advised *sum)
{
    uint64_t most = 0;
    size_t i = 0;
    *sum = (struct library_advised){ .function = edges->function, .caller = edges->caller };
    while (i < count && library_is_same(&edges[i], edges)) {
        const uint32_t caller = edges[i].caller;
        uint64_t time = 0;
        for (; i < count && library_is_same(&edges[i], edges) && edges[i].caller == caller; i++)
            time += edges[i].time;
        sum->time += time;
        sum->callers++;
        if (time > most || (time == most && function_compare(analysis, caller, sum->caller) < 0))
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
    const uint64_t least = a->own / 1000 * LEAST_PERMILLE;
    count = library_name_calls(analysis, modules, edges, count, least);
    if (count)
        qsort(edges, count, sizeof *edges, library_compare_named);
    for (size_t i = 0; i < count;) {
        struct library_advised *next = &a->list[a->count];
        const struct library_edge *first = &edges[i];
        i += library_sum(analysis, first, count - i, next);
        if (!next->time || next->time < least || library_is_left_alone(modules, next, first))
            continue;
        const struct function_name *f = &analysis->names[first->function];
        next->name = need_text("%s", first->version ? first->name : f->name);
        next->pattern = library_pattern(f->module, first->name);
        a->count++;
    }
    free(edges);
    if (a->count)
        qsort_r(a->list, a->count, sizeof *a->list, library_compare_advised, (void *)analysis);
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
        direct_calls_drop(&modules.list[i].direct);
        named_functions_drop(&modules.list[i].functions);
    }
    free(modules.list);
    binaries_free(modules.binaries);
    return a;
}

void library_advice_drop(struct library_advice *a)
{
    for (size_t i = 0; i < a->count; i++) {
        free(a->list[i].name);
        free(a->list[i].pattern);
    }
    free(a->list);
}
