/*
 * callgrind's format, for KCachegrind, callgrind_annotate and similar tools: functions with their exclusive times, and
 * the calls between them with counts and inclusive times. Recursive calls add no inclusive time, so the calls of a
 * function add up to its inclusive time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "analysis/order.h"
#include "analysis/sources.h"
#include "base/counted_text.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "base/units.h"
#include "export/export_text.h"
#include "export/formats.h"
#include "export/measures.h"

/* The format's events are times. Calls are counted at each edge. */
static const enum export_time events[] = { EXPORT_ELAPSED, EXPORT_APPLICATION, EXPORT_BLOCKED, EXPORT_CPU };
enum { EVENT_COUNT = sizeof events / sizeof *events };

struct callgrind_costs {
    uint64_t ticks[EVENT_COUNT];
};

/* All calls of one function by another, from one line. */
struct callgrind_edge {
    uint32_t caller, callee; /* the caller is PROFILE_NONE for the first function of a thread */
    uint32_t line;           /* in the caller's file; 0 if unknown */
    uint64_t calls;
    struct callgrind_costs inclusive;
};

/* A name is written in full at its first use. Later uses have only its number. */
struct callgrind_names {
    char **texts;
    bool *written;
};

struct callgrind_writer {
    struct order_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    bool known[EVENT_COUNT];
    struct callgrind_costs *own; /* by function */
    uint32_t *open;              /* by function, its number of open calls */
    struct callgrind_edge *edges;
    size_t edge_count, edge_room;
    struct number_index *edge_table;
    struct sources files;
    struct callgrind_names objects, sources, functions;
    FILE *out;
};

/* ---- callers and callees ---- */

static struct callgrind_costs callgrind_own_costs(const struct profile_node *node)
{
    struct callgrind_costs c;
    for (int i = 0; i < EVENT_COUNT; i++)
        c.ticks[i] = measure_exclusive_ticks(node, events[i]);
    return c;
}

static struct callgrind_costs callgrind_inclusive_costs(const struct times *times)
{
    struct callgrind_costs c;
    for (int i = 0; i < EVENT_COUNT; i++)
        c.ticks[i] = measure_inclusive(times, events[i]);
    return c;
}

static void callgrind_add_costs(struct callgrind_costs *to, const struct callgrind_costs *from)
{
    for (int i = 0; i < EVENT_COUNT; i++)
        to->ticks[i] += from->ticks[i];
}

static struct callgrind_edge *callgrind_find_edge(struct callgrind_writer *w, uint32_t caller, uint32_t callee,
                                                  uint32_t line)
{
    const uint64_t key = (uint64_t)caller << 32 | callee;
    struct index_slot *slot = index_find(w->edge_table, key, line);
    if (slot->value_plus_1)
        return &w->edges[slot->value_plus_1 - 1];
    GROW(w->edges, w->edge_count, w->edge_room);
    w->edges[w->edge_count] = (struct callgrind_edge){ .caller = caller, .callee = callee, .line = line };
    index_set(w->edge_table, slot, key, line, (uint32_t)w->edge_count);
    return &w->edges[w->edge_count++];
}

static void callgrind_enter_node(struct order_visitor *visitor, uint32_t index)
{
    struct callgrind_writer *w = (struct callgrind_writer *)visitor;
    const struct profile *p = w->session->profile;
    const struct profile_node *node = &p->nodes[index];
    const struct times *times = &w->session->rollup->nodes[index];
    const uint32_t caller = p->nodes[node->parent].function;
    const char *file = caller == PROFILE_NONE ? NULL : w->session->names[caller].file;
    struct callgrind_edge *edge = callgrind_find_edge(w, caller, node->function, lines_in_file(w->session, node, file));
    const struct callgrind_costs own = callgrind_own_costs(node), inclusive = callgrind_inclusive_costs(times);
    edge->calls += node->calls;
    callgrind_add_costs(&w->own[node->function], &own);
    if (w->open[node->function]++ == 0)
        callgrind_add_costs(&edge->inclusive, &inclusive);
}

static void callgrind_leave_node(struct order_visitor *visitor, uint32_t node)
{
    struct callgrind_writer *w = (struct callgrind_writer *)visitor;
    w->open[w->session->profile->nodes[node].function]--;
}

static int callgrind_compare_edges(const void *a, const void *b, void *data)
{
    const struct callgrind_edge *x = a, *y = b;
    const uint32_t *ranks = data;
    const uint32_t caller_x = x->caller == PROFILE_NONE ? PROFILE_NONE : ranks[x->caller];
    const uint32_t caller_y = y->caller == PROFILE_NONE ? PROFILE_NONE : ranks[y->caller];
    if (caller_x != caller_y)
        return caller_x < caller_y ? -1 : 1;
    if (x->callee != y->callee)
        return ranks[x->callee] < ranks[y->callee] ? -1 : 1;
    return ORDER_BY(x, y, line);
}

static void callgrind_find_edges(struct callgrind_writer *w)
{
    const struct profile *p = w->session->profile;
    w->own = need_memory(p->function_count + 1, sizeof *w->own);
    w->open = need_memory(p->function_count + 1, sizeof *w->open);
    w->edge_table = index_new();
    for (size_t i = 0; i < p->thread_count; i++)
        order_walk(w->order, &p->threads[w->order->threads[i]], &w->visitor);
    if (w->edge_count)
        qsort_r(w->edges, w->edge_count, sizeof *w->edges, callgrind_compare_edges, w->order->ranks);
    index_free(w->edge_table);
    free(w->open);
}

/* ---- names ---- */

static struct callgrind_names callgrind_new_names(size_t count)
{
    return (struct callgrind_names){ need_memory(count + 1, sizeof(char *)), need_memory(count + 1, sizeof(bool)) };
}

static void callgrind_free_names(struct callgrind_names *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->written);
}

static void callgrind_write_name(const struct callgrind_writer *w, const char *key, const struct callgrind_names *names,
                                 uint32_t number)
{
    if (names->written[number])
        fprintf(w->out, "%s=(%" PRIu32 ")\n", key, number + 1);
    else
        fprintf(w->out, "%s=(%" PRIu32 ") %s\n", key, number + 1, names->texts[number]);
    names->written[number] = true;
}

/* The last object and the last function represent the caller of a thread's first function. */
static void callgrind_name_all(struct callgrind_writer *w)
{
    const struct profile *p = w->session->profile;
    w->objects = callgrind_new_names(p->module_count + 1);
    for (size_t i = 0; i < p->module_count; i++)
        w->objects.texts[w->order->module_ranks[i]] =
            text_single_line(p->modules[i].path[0] ? p->modules[i].path : "[unknown]");
    w->objects.texts[p->module_count] = need_copy("???", 3);
    w->sources = callgrind_new_names(w->files.count);
    for (size_t i = 0; i < w->files.count; i++)
        w->sources.texts[i] = i ? text_single_line(w->files.paths[i]) : need_copy("???", 3);
    char **unique = export_unique_names(w->session);
    w->functions = callgrind_new_names(p->function_count + 1);
    for (size_t i = 0; i < p->function_count; i++) {
        w->functions.texts[w->order->ranks[i]] = text_single_line(unique[i]);
        free(unique[i]);
    }
    free(unique);
    w->functions.texts[p->function_count] = need_copy("(start of thread)", strlen("(start of thread)"));
}

/* ---- output ---- */

static void callgrind_write_costs(const struct callgrind_writer *w, const struct callgrind_costs *costs)
{
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, " %" PRIu64, ticks_to_ns(costs->ticks[i], w->session->summary.ticks_per_second));
    putc('\n', w->out);
}

static void callgrind_write_text_line(const struct callgrind_writer *w, const char *key, const char *text)
{
    char *line = text_single_line(text);
    fprintf(w->out, "%s: %s\n", key, line);
    free(line);
}

static void callgrind_write_head(const struct callgrind_writer *w)
{
    const struct summary *summary = &w->session->summary;
    const struct profile *p = w->session->profile;
    const struct trace_process *process =
        p->thread_count ? session_file_process(w->session->file, p->threads[w->order->threads[0]].process) : NULL;
    fputs("# callgrind format\nversion: 1\ncreator: dwell " DWELL_VERSION_TEXT "\n", w->out);
    if (process) {
        fprintf(w->out, "pid: %" PRIu32 "\n", process->pid);
        callgrind_write_text_line(w, "cmd",
                                  process->arguments && process->arguments[0] ? process->arguments : process->path);
    }
    fprintf(w->out, "part: 1\ndesc: Sums over: %s, %s\n", COUNTED(summary->threads, "thread"),
            COUNTED(summary->processes, "process"));
    for (size_t i = 0; i < summary->remark_count; i++)
        callgrind_write_text_line(w, "desc", summary->remarks[i]);
    fputs("positions: line\n", w->out);
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, "event: %s : %s%s\n", measure_label(w->session, events[i]),
                    measure_label(w->session, events[i]), measure_is_time(w->session, events[i]) ? " time (ns)" : "");
    fputs("events:", w->out);
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, " %s", measure_label(w->session, events[i]));
    putc('\n', w->out);
}

/* A call that was open when a forked child began is not counted for the child. It gets calls=1, as readers ignore 0. */
static void callgrind_write_edge(const struct callgrind_writer *w, const struct callgrind_edge *edge, uint32_t line)
{
    const uint32_t callee = edge->callee;
    callgrind_write_name(w, "cob", &w->objects, w->order->module_ranks[w->session->profile->functions[callee].module]);
    callgrind_write_name(w, "cfi", &w->sources, w->files.of[callee]);
    callgrind_write_name(w, "cfn", &w->functions, w->order->ranks[callee]);
    fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->calls ? edge->calls : 1,
            w->session->names[callee].line, edge->line ? edge->line : line);
    callgrind_write_costs(w, &edge->inclusive);
}

/* Writes a function and its calls. A call with an unknown line gets the line at which the caller begins. */
static void callgrind_write_function(const struct callgrind_writer *w, uint32_t function,
                                     const struct callgrind_edge **edges)
{
    const struct profile *p = w->session->profile;
    const bool known = function != PROFILE_NONE;
    const uint32_t line = known ? w->session->names[function].line : 0;
    const struct callgrind_edge *end = w->edges + w->edge_count;
    putc('\n', w->out);
    callgrind_write_name(w, "ob", &w->objects,
                         known ? w->order->module_ranks[p->functions[function].module] : (uint32_t)p->module_count);
    callgrind_write_name(w, "fl", &w->sources, known ? w->files.of[function] : 0);
    callgrind_write_name(w, "fn", &w->functions, known ? w->order->ranks[function] : (uint32_t)p->function_count);
    if (known) {
        fprintf(w->out, "%" PRIu32, line);
        callgrind_write_costs(w, &w->own[function]);
    }
    for (; *edges < end && (*edges)->caller == function; (*edges)++)
        callgrind_write_edge(w, *edges, line);
}

static void callgrind_write_all(const struct callgrind_writer *w)
{
    const struct profile *p = w->session->profile;
    const struct callgrind_edge *edge = w->edges;
    struct callgrind_costs whole = { 0 };
    for (size_t i = 0; i < p->function_count; i++)
        callgrind_add_costs(&whole, &w->own[i]);
    callgrind_write_head(w);
    fputs("summary:", w->out);
    callgrind_write_costs(w, &whole);
    for (size_t i = 0; i < p->function_count; i++)
        callgrind_write_function(w, w->order->functions[i], &edge);
    if (edge < w->edges + w->edge_count)
        callgrind_write_function(w, PROFILE_NONE, &edge);
    fputs("\ntotals:", w->out);
    callgrind_write_costs(w, &whole);
}

bool export_callgrind(const struct analysis *session, const struct export_options *options, FILE *out,
                      struct error *error)
{
    (void)error;
    (void)options;
    const struct profile *p = session->profile;
    struct order *order = order_new(session);
    struct callgrind_writer w = {
        .visitor = { .enter = callgrind_enter_node, .leave = callgrind_leave_node },
        .session = session,
        .order = order,
        .files = sources_of(session),
        .out = out,
    };
    for (int i = 0; i < EVENT_COUNT; i++)
        w.known[i] = measure_is_known(session, events[i]);
    callgrind_find_edges(&w);
    callgrind_name_all(&w);
    callgrind_write_all(&w);
    callgrind_free_names(&w.objects, p->module_count + 1);
    callgrind_free_names(&w.sources, w.files.count);
    callgrind_free_names(&w.functions, p->function_count + 1);
    sources_drop(&w.files);
    free(w.own);
    free(w.edges);
    order_free(order);
    return true;
}
