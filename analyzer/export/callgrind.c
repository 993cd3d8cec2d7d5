/*
 * callgrind's format, for KCachegrind, callgrind_annotate and their kin: functions with their own times, and who called
 * whom, how often, for how long. An interval counts once for each function that is on the stack: so a call made within
 * another one of the same function adds none, and the calls of a function together last as long as its inclusive time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "export/formats.h"
#include "export/measures.h"
#include "export/order.h"
#include "export/sources.h"
#include "export/text.h"
#include "report/lines.h"

static const struct {
    enum export_time time;
    const char *name, *title;
} events[] = {
    { EXPORT_ELAPSED, "Elapsed", "Elapsed time (ns)" },
    { EXPORT_APPLICATION, "Application", "Application time (ns)" },
    { EXPORT_BLOCKED, "Blocked", "Blocked time (ns)" },
};
enum { EVENT_COUNT = sizeof events / sizeof *events };

struct costs {
    uint64_t ticks[EVENT_COUNT];
};

/* All calls of one function by another, from one line. */
struct edge {
    uint32_t caller, callee; /* the caller is PROFILE_NONE for those that are the first on their thread's stack */
    uint32_t line;           /* of the caller's file; zero: unknown */
    uint64_t calls;
    struct costs inclusive;
};

struct names { /* a space of names: each is written out where it comes first, and then called by its number */
    char **texts;
    bool *written;
};

struct writing {
    struct export_visitor visitor;
    const struct loaded *session;
    const struct export_order *order;
    bool known[EVENT_COUNT];
    struct costs *own; /* by function */
    uint32_t *open;    /* by function: how often it is on the stack */
    struct edge *edges;
    size_t edge_count, edge_room;
    struct table_index *edge_table;
    struct export_sources files;
    struct names objects, sources, functions;
    FILE *out;
};

/* ---- who called whom ---- */

static struct costs own_costs(const struct profile_node *node)
{
    struct costs c;
    for (int i = 0; i < EVENT_COUNT; i++)
        c.ticks[i] = measure_ticks(node, events[i].time);
    return c;
}

static void add_costs(struct costs *to, const struct costs *from)
{
    for (int i = 0; i < EVENT_COUNT; i++)
        to->ticks[i] += from->ticks[i];
}

static struct edge *find_edge(struct writing *w, uint32_t caller, uint32_t callee, uint32_t line)
{
    const uint64_t key = (uint64_t)caller << 32 | callee;
    struct table_slot *slot = table_find(w->edge_table, key, line);
    if (slot->value_plus_1)
        return &w->edges[slot->value_plus_1 - 1];
    GROW(w->edges, w->edge_count, w->edge_room);
    w->edges[w->edge_count] = (struct edge){ .caller = caller, .callee = callee, .line = line };
    table_set(w->edge_table, slot, key, line, (uint32_t)w->edge_count);
    return &w->edges[w->edge_count++];
}

static void enter_node(struct export_visitor *visitor, uint32_t index)
{
    struct writing *w = (struct writing *)visitor;
    const struct profile *p = w->session->profile;
    const struct profile_node *node = &p->nodes[index];
    const struct times *times = &w->session->rollup->nodes[index];
    const uint32_t caller = p->nodes[node->parent].function;
    const char *file = caller == PROFILE_NONE ? NULL : w->session->names[caller].file;
    struct edge *edge = find_edge(w, caller, node->function, lines_in_file(w->session, node, file));
    const struct costs own = own_costs(node);
    const struct costs inclusive = { { times->elapsed_inclusive, times->application_inclusive,
                                       times->blocked_inclusive } };
    edge->calls += node->calls;
    add_costs(&w->own[node->function], &own);
    if (w->open[node->function]++ == 0)
        add_costs(&edge->inclusive, &inclusive);
}

static void leave_node(struct export_visitor *visitor, uint32_t node)
{
    struct writing *w = (struct writing *)visitor;
    w->open[w->session->profile->nodes[node].function]--;
}

static int compare_edges(const void *a, const void *b, void *data)
{
    const struct edge *x = a, *y = b;
    const uint32_t *ranks = data;
    const uint32_t caller_x = x->caller == PROFILE_NONE ? PROFILE_NONE : ranks[x->caller];
    const uint32_t caller_y = y->caller == PROFILE_NONE ? PROFILE_NONE : ranks[y->caller];
    if (caller_x != caller_y)
        return caller_x < caller_y ? -1 : 1;
    if (x->callee != y->callee)
        return ranks[x->callee] < ranks[y->callee] ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void find_edges(struct writing *w)
{
    const struct profile *p = w->session->profile;
    w->own = need_memory(p->function_count + 1, sizeof *w->own);
    w->open = need_memory(p->function_count + 1, sizeof *w->open);
    w->edge_table = table_new();
    for (size_t i = 0; i < p->thread_count; i++)
        export_walk(w->order, &p->threads[w->order->threads[i]], &w->visitor);
    if (w->edge_count)
        qsort_r(w->edges, w->edge_count, sizeof *w->edges, compare_edges, w->order->ranks);
    table_free(w->edge_table);
    free(w->open);
}

/* ---- names ---- */

static struct names new_names(size_t count)
{
    return (struct names){ need_memory(count + 1, sizeof(char *)), need_memory(count + 1, sizeof(bool)) };
}

static void free_names(struct names *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->written);
}

static void write_name(const struct writing *w, const char *key, const struct names *names, uint32_t number)
{
    if (names->written[number])
        fprintf(w->out, "%s=(%" PRIu32 ")\n", key, number + 1);
    else
        fprintf(w->out, "%s=(%" PRIu32 ") %s\n", key, number + 1, names->texts[number]);
    names->written[number] = true;
}

/* The last of the objects and functions stand for what calls a thread's first function. */
static void name_all(struct writing *w)
{
    const struct profile *p = w->session->profile;
    w->objects = new_names(p->module_count + 1);
    for (size_t i = 0; i < p->module_count; i++)
        w->objects.texts[w->order->module_ranks[i]] =
            text_on_a_line(p->modules[i].path[0] ? p->modules[i].path : "[unknown]");
    w->objects.texts[p->module_count] = need_copy("???", 3);
    w->sources = new_names(w->files.count);
    for (size_t i = 0; i < w->files.count; i++)
        w->sources.texts[i] = i ? text_on_a_line(w->files.paths[i]) : need_copy("???", 3);
    char **unique = export_unique_names(w->session);
    w->functions = new_names(p->function_count + 1);
    for (size_t i = 0; i < p->function_count; i++) {
        w->functions.texts[w->order->ranks[i]] = text_on_a_line(unique[i]);
        free(unique[i]);
    }
    free(unique);
    w->functions.texts[p->function_count] = need_copy("(start of thread)", strlen("(start of thread)"));
}

/* ---- output ---- */

static void write_costs(const struct writing *w, const struct costs *costs)
{
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, " %" PRIu64, ticks_to_ns(costs->ticks[i], w->session->summary.ticks_per_second));
    putc('\n', w->out);
}

static void write_text_line(const struct writing *w, const char *key, const char *text)
{
    char *line = text_on_a_line(text);
    fprintf(w->out, "%s: %s\n", key, line);
    free(line);
}

static void write_head(const struct writing *w)
{
    const struct session_summary *s = &w->session->summary;
    const struct profile *p = w->session->profile;
    const struct trace_process *process =
        p->thread_count ? session_file_process(w->session->file, p->threads[w->order->threads[0]].process) : NULL;
    fputs("# callgrind format\nversion: 1\ncreator: dwell " DWELL_VERSION_TEXT "\n", w->out);
    if (process) {
        fprintf(w->out, "pid: %" PRIu32 "\n", process->pid);
        write_text_line(w, "cmd", process->arguments && process->arguments[0] ? process->arguments : process->path);
    }
    fprintf(w->out, "part: 1\ndesc: Sums over: %" PRIu64 " threads, %" PRIu64 " processes\n", s->threads, s->processes);
    for (size_t i = 0; i < s->remark_count; i++)
        write_text_line(w, "desc", s->remarks[i]);
    fputs("positions: line\n", w->out);
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, "event: %s : %s\n", events[i].name, events[i].title);
    fputs("events:", w->out);
    for (int i = 0; i < EVENT_COUNT; i++)
        if (w->known[i])
            fprintf(w->out, " %s", events[i].name);
    putc('\n', w->out);
}

/* A call in progress when a forked child began is not the child's call; but readers would take calls=0 for no call. */
static void write_edge(const struct writing *w, const struct edge *edge, uint32_t line)
{
    const uint32_t callee = edge->callee;
    write_name(w, "cob", &w->objects, w->order->module_ranks[w->session->profile->functions[callee].module]);
    write_name(w, "cfi", &w->sources, w->files.of[callee]);
    write_name(w, "cfn", &w->functions, w->order->ranks[callee]);
    fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->calls ? edge->calls : 1,
            w->session->names[callee].line, edge->line ? edge->line : line);
    write_costs(w, &edge->inclusive);
}

/* Calls of which it is not known where in the caller they are get the line at which it begins. */
static void write_function(const struct writing *w, uint32_t function, const struct edge **edges)
{
    const struct profile *p = w->session->profile;
    const bool known = function != PROFILE_NONE;
    const uint32_t line = known ? w->session->names[function].line : 0;
    const struct edge *end = w->edges + w->edge_count;
    putc('\n', w->out);
    write_name(w, "ob", &w->objects,
               known ? w->order->module_ranks[p->functions[function].module] : (uint32_t)p->module_count);
    write_name(w, "fl", &w->sources, known ? w->files.of[function] : 0);
    write_name(w, "fn", &w->functions, known ? w->order->ranks[function] : (uint32_t)p->function_count);
    if (known) {
        fprintf(w->out, "%" PRIu32, line);
        write_costs(w, &w->own[function]);
    }
    for (; *edges < end && (*edges)->caller == function; (*edges)++)
        write_edge(w, *edges, line);
}

static void write_all(const struct writing *w)
{
    const struct profile *p = w->session->profile;
    const struct edge *edge = w->edges;
    struct costs whole = { 0 };
    for (size_t i = 0; i < p->function_count; i++)
        add_costs(&whole, &w->own[i]);
    write_head(w);
    fputs("summary:", w->out);
    write_costs(w, &whole);
    for (size_t i = 0; i < p->function_count; i++)
        write_function(w, w->order->functions[i], &edge);
    if (edge < w->edges + w->edge_count)
        write_function(w, PROFILE_NONE, &edge);
    fputs("\ntotals:", w->out);
    write_costs(w, &whole);
}

void export_callgrind(const struct loaded *session, const struct export_options *options, FILE *out)
{
    (void)options;
    const struct profile *p = session->profile;
    struct export_order *order = export_order_new(session);
    struct writing w = {
        .visitor = { .enter = enter_node, .leave = leave_node },
        .session = session,
        .order = order,
        .files = export_sources_of(session),
        .out = out,
    };
    for (int i = 0; i < EVENT_COUNT; i++)
        w.known[i] = measure_is_known(session, events[i].time);
    find_edges(&w);
    name_all(&w);
    write_all(&w);
    free_names(&w.objects, p->module_count + 1);
    free_names(&w.sources, w.files.count);
    free_names(&w.functions, p->function_count + 1);
    export_sources_drop(&w.files);
    free(w.own);
    free(w.edges);
    export_order_free(order);
}
