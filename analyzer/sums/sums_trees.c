/* Writes the call trees, waits and counted calls of threads, and the names of functions. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "profile/durations.h"
#include "sums/sums_order.h"
#include "trace/session_finish.h"

struct chunk_writer sums_begin(const struct sums_writer *w, enum dwell_chunk_kind kind, uint32_t process,
                               uint32_t thread, uint32_t size)
{
    struct chunk_writer chunk = chunk_writer_begin(w->session, w->fd, kind, process, size);
    chunk.head.thread = thread;
    return chunk;
}

void sums_end(struct sums_writer *w, struct chunk_writer *chunk)
{
    w->good &= chunk_writer_end(chunk);
}

/* ---- threads ---- */

/* What is written of a thread of the profile, with the next entries of the sorted lists. */
struct sums_threads {
    struct sums_writer *writer;
    uint32_t *order; /* threads of the profile, by process and thread */
    uint32_t *ranks; /* by thread of the profile: its place there */
    size_t *nodes;   /* by thread of the profile: its root's place in node_order */
    struct profile_counted *counted;
    struct sums_cause *causes;
    size_t next_counted, next_cause;
};

static int sums_compare_roots(const void *a, const void *b, void *context)
{
    const struct sums_writer *w = context;
    const struct profile_thread *x = &w->sums->profile->threads[*(const uint32_t *)a];
    const struct profile_thread *y = &w->sums->profile->threads[*(const uint32_t *)b];
    const uint32_t processes[] = { w->process_serials[x->process - 1], w->process_serials[y->process - 1] };
    const uint32_t threads[] = { w->thread_serials[x->thread - 1], w->thread_serials[y->thread - 1] };
    if (processes[0] != processes[1])
        return processes[0] < processes[1] ? -1 : 1;
    return ORDER(threads[0], threads[1]);
}

static int sums_compare_counted(const void *a, const void *b, void *context)
{
    const struct profile_counted *x = a, *y = b;
    const struct sums_threads *t = context;
    if (x->thread != y->thread)
        return t->ranks[x->thread] < t->ranks[y->thread] ? -1 : 1;
    const uint64_t *addresses = t->writer->addresses;
    return ORDER(addresses[x->function], addresses[y->function]);
}

static uint32_t sums_rank_of_node(const struct sums_threads *t, uint32_t node)
{
    return t->ranks[t->writer->threads[node]];
}

static uint32_t sums_cause_node(const struct sums_writer *w, uint32_t node)
{
    return node == PROFILE_NONE ? 0 : w->depths[node] ? w->numbers[node] : UINT32_MAX;
}

static uint32_t sums_cause_thread(const struct sums_writer *w, uint32_t place)
{
    return place == PROFILE_NONE ? 0 : w->thread_serials[place];
}

static int sums_compare_causes(const void *a, const void *b, void *context)
{
    const struct sums_cause *x = a, *y = b;
    const struct sums_threads *t = context;
    const struct sums_writer *w = t->writer;
    const uint64_t p[] = { sums_rank_of_node(t, x->node),
                           w->numbers[x->node],
                           x->set,
                           x->kind,
                           x->id,
                           x->cause,
                           sums_cause_thread(w, x->cause_thread),
                           sums_cause_node(w, x->cause_node),
                           x->made_time };
    const uint64_t q[] = { sums_rank_of_node(t, y->node),
                           w->numbers[y->node],
                           y->set,
                           y->kind,
                           y->id,
                           y->cause,
                           sums_cause_thread(w, y->cause_thread),
                           sums_cause_node(w, y->cause_node),
                           y->made_time };
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static struct sums_threads sums_sort_threads(struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    const struct profile *p = sums->profile;
    struct sums_threads t = {
        .writer = w,
        .order = sums_list(p->thread_count),
        .ranks = need_memory(p->thread_count + 1, sizeof *t.ranks),
        .nodes = need_memory(p->thread_count + 1, sizeof *t.nodes),
        .counted = need_memory(p->counted_count + 1, sizeof *t.counted),
        .causes = need_memory(sums->cause_count + 1, sizeof *t.causes),
    };
    qsort_r(t.order, p->thread_count, sizeof *t.order, sums_compare_roots, w);
    for (size_t i = 0; i < p->thread_count; i++)
        t.ranks[t.order[i]] = (uint32_t)i;
    for (size_t i = 0; i < p->node_count; i++)
        if (w->depths[w->node_order[i]] == 0)
            t.nodes[w->threads[w->node_order[i]]] = i;
    if (p->counted_count)
        memcpy(t.counted, p->counted, p->counted_count * sizeof *t.counted);
    if (sums->cause_count)
        memcpy(t.causes, sums->causes, sums->cause_count * sizeof *t.causes);
    qsort_r(t.counted, p->counted_count, sizeof *t.counted, sums_compare_counted, &t);
    qsort_r(t.causes, sums->cause_count, sizeof *t.causes, sums_compare_causes, &t);
    return t;
}

static struct dwell_tree_node sums_tree_node(const struct sums_writer *w, uint32_t i)
{
    const struct profile_node *node = &w->sums->profile->nodes[i];
    return (struct dwell_tree_node){
        .function = w->addresses[node->function],
        .parent = w->numbers[node->parent],
        .number = w->numbers[i],
        .calls = node->calls,
        .elapsed = node->elapsed,
        .shortest = node->shortest,
        .longest = node->longest,
        .flagged = less(node->flagged, node->runtime),
        .blocked = node->blocked,
        .preempted = node->preempted,
        .page_faults = node->page_faults,
        .depth = w->depths[i],
        .base = w->numbers[i],
        .site = node->site == PROFILE_SAMPLED ? DWELL_SITE_SAMPLED : 0,
        .runtime = node->runtime,
    };
}

/* Whether the tree alone gives all values of the node: those of mode profile. */
static bool sums_is_plain(const struct profile_node *node)
{
    const bool flagged = node->runtime <= node->flagged && node->flagged <= node->elapsed;
    return flagged && node->runtime_flagged == node->runtime && !node->samples && !node->samples_in_stubs &&
           node->first == UINT64_MAX && node->net_shortest == UINT64_MAX && !node->net_longest;
}

static void sums_write_row(const struct sums_writer *w, struct chunk_writer *chunk, uint32_t i)
{
    const struct profile_node *node = &w->sums->profile->nodes[i];
    const struct dwell_sum_row row = {
        .node = w->numbers[i],
        .flagged = node->flagged,
        .runtime = node->runtime,
        .runtime_flagged = node->runtime_flagged,
        .weighed = node->sample_time || node->stub_time,
        .sample_time = node->sample_time,
        .stub_time = node->stub_time,
        .samples = node->samples,
        .samples_in_stubs = node->samples_in_stubs,
        .first = node->first,
        .net_shortest = node->net_shortest,
        .net_longest = node->net_longest,
    };
    if (!sums_is_plain(node))
        chunk_writer_add(chunk, &row, sizeof row);
}

static void sums_write_durations(const struct sums_writer *w, struct chunk_writer *chunk, uint32_t i)
{
    size_t count;
    const struct durations *d = w->sums->profile->nodes[i].durations;
    struct durations_counter *counters = durations_counters(d, &count);
    for (size_t j = 0; j < count; j++) {
        const bool one = durations_are_one(d);
        const struct dwell_duration_row row = {
            .node = w->numbers[i],
            .counter = one ? DWELL_DURATION_ONE : (uint32_t)counters[j].counter,
            .calls = one ? d->sum : counters[j].calls,
        };
        chunk_writer_add(chunk, &row, sizeof row);
    }
    free(counters);
}

static void sums_write_causes(struct sums_threads *t, struct chunk_writer *chunk, uint32_t rank)
{
    const struct sums_writer *w = t->writer;
    for (; t->next_cause < w->sums->cause_count; t->next_cause++) {
        const struct sums_cause *c = &t->causes[t->next_cause];
        if (sums_rank_of_node(t, c->node) != rank)
            return;
        const struct dwell_cause_row row = {
            .node = w->numbers[c->node],
            .kind = c->kind,
            .cause = c->cause,
            .set = c->set,
            .id = c->id,
            .thread = sums_cause_thread(w, c->cause_thread),
            .cause_node = sums_cause_node(w, c->cause_node),
            .waits = c->waits,
            .blocked = c->blocked,
            .longest = c->longest,
            .first_time = c->first_time,
            .made_time = c->made_time,
        };
        chunk_writer_add(chunk, &row, sizeof row);
    }
}

static void sums_write_counted(struct sums_threads *t, struct chunk_writer *chunk, uint32_t thread)
{
    const struct profile *p = t->writer->sums->profile;
    while (t->next_counted < p->counted_count && t->counted[t->next_counted].thread == thread) {
        struct dwell_count count = { t->writer->addresses[t->counted[t->next_counted].function], 0 };
        const uint32_t function = t->counted[t->next_counted].function;
        for (; t->next_counted < p->counted_count && t->counted[t->next_counted].thread == thread &&
               t->counted[t->next_counted].function == function;
             t->next_counted++)
            count.calls += t->counted[t->next_counted].calls;
        chunk_writer_add(chunk, &count, sizeof count);
    }
}

static void sums_write_thread(struct sums_threads *t, uint32_t rank)
{
    struct sums_writer *w = t->writer;
    const struct profile *p = w->sums->profile;
    const uint32_t i = t->order[rank], process = w->process_serials[p->threads[i].process - 1];
    const uint32_t thread = w->thread_serials[p->threads[i].thread - 1];
    const size_t first = t->nodes[i] + 1;
    const struct dwell_tree_head head = { .paused = 1 }; /* no time follows the last event */
    size_t end = first;
    while (end < p->node_count && w->threads[w->node_order[end]] == i)
        end++;
    struct chunk_writer tree = sums_begin(w, DWELL_CHUNK_CALL_TREE, process, thread, SUMS_CHUNK);
    chunk_writer_add(&tree, &head, sizeof head);
    for (size_t j = first; j < end; j++) {
        const struct dwell_tree_node node = sums_tree_node(w, w->node_order[j]);
        chunk_writer_add(&tree, &node, sizeof node);
    }
    sums_end(w, &tree);
    struct chunk_writer rows = sums_begin(w, DWELL_CHUNK_SUMS, process, thread, SUMS_CHUNK);
    for (size_t j = first; j < end; j++)
        sums_write_row(w, &rows, w->node_order[j]);
    sums_end(w, &rows);
    struct chunk_writer durations = sums_begin(w, DWELL_CHUNK_DURATIONS, process, thread, SUMS_CHUNK);
    for (size_t j = first; j < end; j++)
        sums_write_durations(w, &durations, w->node_order[j]);
    sums_end(w, &durations);
    struct chunk_writer causes = sums_begin(w, DWELL_CHUNK_CAUSES, process, thread, SUMS_CHUNK);
    sums_write_causes(t, &causes, rank);
    sums_end(w, &causes);
    struct chunk_writer counts = sums_begin(w, DWELL_CHUNK_COUNTS, process, thread, SUMS_CHUNK);
    sums_write_counted(t, &counts, i);
    sums_end(w, &counts);
}

void sums_write_threads(struct sums_writer *w)
{
    struct sums_threads t = sums_sort_threads(w);
    for (uint32_t i = 0; i < w->sums->profile->thread_count; i++)
        sums_write_thread(&t, i);
    free(t.order);
    free(t.ranks);
    free(t.nodes);
    free(t.counted);
    free(t.causes);
}

/* ---- names ---- */

static const char *sums_text_of(const struct sums *sums, uint32_t number)
{
    return number == INTERN_NONE ? NULL : sums->texts.pieces[number].bytes;
}

static int sums_compare_functions(const void *a, const void *b, void *context)
{
    const struct sums_writer *w = context;
    const uint64_t x = w->addresses[*(const uint32_t *)a], y = w->addresses[*(const uint32_t *)b];
    return ORDER(x, y);
}

static size_t sums_list_symbols(const struct sums_writer *w, struct finish_symbol *symbols)
{
    const struct sums *sums = w->sums;
    const struct profile *p = sums->profile;
    uint32_t *order = sums_list(p->function_count);
    size_t count = 0;
    qsort_r(order, p->function_count, sizeof *order, sums_compare_functions, (void *)w);
    for (size_t i = 0; i < p->function_count; i++) {
        const uint32_t f = order[i];
        if (!w->used[f] || sums->names[f].name == INTERN_NONE || !sums_is_module(&p->modules[p->functions[f].module]))
            continue;
        symbols[count++] = (struct finish_symbol){
            .module = w->module_ranks[p->functions[f].module],
            .offset = p->functions[f].offset,
            .linkage_name = sums_text_of(sums, sums->names[f].name),
            .file = sums_text_of(sums, sums->names[f].file),
            .line = sums->names[f].line,
        };
    }
    free(order);
    return count;
}

void sums_write_names(struct sums_writer *w)
{
    const struct profile *p = w->sums->profile;
    struct finish_module *modules = need_memory(w->module_count + 1, sizeof *modules);
    struct finish_symbol *symbols = need_memory(p->function_count + 1, sizeof *symbols);
    for (size_t i = 0; i < w->module_count; i++) {
        const struct profile_module *m = &p->modules[w->module_order[i]];
        modules[i] = (struct finish_module){ m->path, m->build_id, m->build_id_length };
    }
    const struct finish_names names = {
        .modules = modules,
        .module_count = w->module_count,
        .symbols = symbols,
        .symbol_count = sums_list_symbols(w, symbols),
    };
    w->good = finish_symbols(w->session, w->fd, &names) && w->good;
    free(modules);
    free(symbols);
}
