/* Sorts sessions, modules, functions, call paths and threads, and gives them their numbers and addresses. */
#include "sums/sums_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "profile/node_order.h"

static int sums_compare_sessions(const void *a, const void *b, void *context)
{
    const struct sums *sums = context;
    const uint64_t *x = sums->sessions[*(const uint32_t *)a].summed.record.header.session_id;
    const uint64_t *y = sums->sessions[*(const uint32_t *)b].summed.record.header.session_id;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return ORDER(x[1], y[1]);
}

static int sums_compare_threads(const void *a, const void *b, void *context)
{
    const struct sums_writer *w = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t processes[] = { w->process_serials[w->sums->threads[x].process - 1],
                                   w->process_serials[w->sums->threads[y].process - 1] };
    if (processes[0] != processes[1])
        return processes[0] < processes[1] ? -1 : 1;
    return ORDER(w->thread_serials[x], w->thread_serials[y]);
}

static void sums_order_sessions(struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    uint32_t process = 0, thread = 0;
    w->session_order = sums_list(sums->session_count);
    qsort_r(w->session_order, sums->session_count, sizeof *w->session_order, sums_compare_sessions, (void *)sums);
    w->process_serials = need_memory(sums->process_count + 1, sizeof *w->process_serials);
    w->thread_serials = need_memory(sums->thread_count + 1, sizeof *w->thread_serials);
    w->process_order = need_memory(sums->process_count + 1, sizeof *w->process_order);
    for (size_t i = 0; i < sums->session_count; i++) {
        const struct sums_session *session = &sums->sessions[w->session_order[i]];
        for (uint32_t j = 0; j < session->process_count; j++) {
            w->process_order[process] = session->processes[j];
            w->process_serials[session->processes[j]] = ++process;
        }
        for (uint32_t j = 0; j < session->thread_count; j++)
            w->thread_serials[session->threads[j]] = ++thread;
    }
    w->thread_order = sums_list(sums->thread_count);
    qsort_r(w->thread_order, sums->thread_count, sizeof *w->thread_order, sums_compare_threads, w);
}

static int sums_compare_modules(const void *a, const void *b, void *context)
{
    const struct profile *p = context;
    return profile_compare_modules(&p->modules[*(const uint32_t *)a], &p->modules[*(const uint32_t *)b]);
}

static void sums_find_used(struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    const struct profile *p = sums->profile;
    w->used = need_memory(p->function_count + 1, sizeof *w->used);
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].function != PROFILE_NONE)
            w->used[p->nodes[i].function] = true;
    for (size_t i = 0; i < p->counted_count; i++)
        w->used[p->counted[i].function] = true;
    for (size_t i = 0; i < sums->fact_count; i++)
        w->used[sums->facts[i].function] = true;
}

/* Code of no module has the addresses below those of modules. The address is not zero. */
static uint64_t sums_address(const struct sums_writer *w, uint32_t module, uint64_t offset)
{
    const uint64_t most = SUMS_MODULE_SIZE - 3, place = offset < most ? offset : most;
    if (!sums_is_module(&w->sums->profile->modules[module]))
        return place ? place : 1;
    return ((uint64_t)w->module_ranks[module] + 1) * SUMS_MODULE_SIZE + 1 + place;
}

static void sums_order_modules(struct sums_writer *w)
{
    const struct profile *p = w->sums->profile;
    bool *used = need_memory(p->module_count + 1, sizeof *used);
    sums_find_used(w);
    for (size_t i = 0; i < p->function_count; i++)
        used[p->functions[i].module] |= w->used[i];
    w->module_order = need_memory(p->module_count + 1, sizeof *w->module_order);
    w->module_ranks = need_memory(p->module_count + 1, sizeof *w->module_ranks);
    for (uint32_t i = 0; i < p->module_count; i++)
        if (used[i] && sums_is_module(&p->modules[i]))
            w->module_order[w->module_count++] = i;
    qsort_r(w->module_order, w->module_count, sizeof *w->module_order, sums_compare_modules, (void *)p);
    for (size_t i = 0; i < w->module_count; i++)
        w->module_ranks[w->module_order[i]] = (uint32_t)i;
    w->addresses = need_memory(p->function_count + 1, sizeof *w->addresses);
    for (size_t i = 0; i < p->function_count; i++)
        w->addresses[i] = sums_address(w, p->functions[i].module, p->functions[i].offset);
    free(used);
}

/* Numbers the nodes of each thread, level by level, by the number of the caller at first. */
static void sums_order_nodes(struct sums_writer *w)
{
    const struct profile *p = w->sums->profile;
    w->node_order = node_order_list(p);
    w->numbers = need_memory(p->node_count + 1, sizeof *w->numbers);
    w->threads = need_memory(p->node_count + 1, sizeof *w->threads);
    w->depths = need_memory(p->node_count + 1, sizeof *w->depths);
    for (uint32_t i = 0; i < p->thread_count; i++)
        w->threads[p->threads[i].root] = i;
    size_t root = 0;
    for (size_t place = 0; place < p->node_count; place++) {
        const uint32_t i = w->node_order[place], parent = p->nodes[i].parent;
        if (parent == PROFILE_NONE) {
            root = place;
        } else {
            w->threads[i] = w->threads[parent];
            w->depths[i] = w->depths[parent] + 1;
        }
        w->numbers[i] = (uint32_t)(place - root);
    }
}

static void sums_note_module(struct sums_writer *w, struct number_index *seen, uint32_t process, uint32_t module)
{
    if (!sums_is_module(&w->sums->profile->modules[module]))
        return;
    const uint32_t rank = w->module_ranks[module];
    struct index_slot *slot = index_find(seen, rank, process);
    if (slot->value_plus_1)
        return;
    index_set(seen, slot, rank, process, 0);
    GROW(w->process_modules, w->process_module_count, w->process_module_room);
    w->process_modules[w->process_module_count++] = (uint64_t)process << 32 | rank;
}

/* A process has the modules of its functions. */
static void sums_find_modules(struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    const struct profile *p = sums->profile;
    struct number_index *seen = index_new();
    for (size_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->function != PROFILE_NONE)
            sums_note_module(w, seen, w->process_serials[p->threads[w->threads[i]].process - 1],
                             p->functions[node->function].module);
    }
    for (size_t i = 0; i < p->counted_count; i++)
        sums_note_module(w, seen, w->process_serials[p->threads[p->counted[i].thread].process - 1],
                         p->functions[p->counted[i].function].module);
    for (size_t i = 0; i < sums->fact_count; i++)
        sums_note_module(w, seen, w->process_serials[sums->facts[i].process],
                         p->functions[sums->facts[i].function].module);
    if (w->process_module_count)
        qsort(w->process_modules, w->process_module_count, sizeof *w->process_modules, compare_numbers);
    index_free(seen);
}

void sums_order_drop(struct sums_writer *w)
{
    free(w->session_order);
    free(w->process_serials);
    free(w->thread_serials);
    free(w->process_order);
    free(w->thread_order);
    free(w->process_modules);
    free(w->module_order);
    free(w->module_ranks);
    free(w->used);
    free(w->addresses);
    free(w->node_order);
    free(w->numbers);
    free(w->threads);
    free(w->depths);
}

bool sums_order(struct sums_writer *w, struct sums *sums)
{
    w->sums = sums;
    w->good = true;
    sums_order_sessions(w);
    sums_order_modules(w);
    sums_order_nodes(w);
    sums_find_modules(w);
    return w->module_count <= SUMS_MODULES;
}
