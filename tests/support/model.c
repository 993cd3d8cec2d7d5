/* Makes random events, computes their times by walking the stack for each interval, and writes them as a session. */
#include "support/model.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/subtree.h"

const char *const model_paths[MODEL_MODULES] = { "/bin/model", "/lib/one/libx.so", "/lib/two/libx.so", "" };

unsigned model_random(struct model *m, unsigned limit)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->random >> 33) % limit;
}

unsigned model_process(unsigned thread)
{
    return thread / 2;
}

/* Only their addresses identify the functions of the unknown module. Both processes have the same addresses. */
uint64_t model_offset(int function)
{
    const uint64_t own = 0x1100 + 0x40 * (uint64_t)(function % MODEL_PER_MODULE);
    return function / MODEL_PER_MODULE == 3 ? 0x7fffff000000 + own : own;
}

static uint64_t model_bias(unsigned process, int module)
{
    static const uint64_t known[MODEL_PROCESSES][3] = {
        { 0x555500000000, 0x7f1100000000, 0x7f2200000000 },
        { 0x555500000000, 0x7f2200000000, 0x7f1100000000 }, /* the libraries have swapped places */
    };
    return module == 3 ? 0 : known[process][module];
}

uint64_t model_address(unsigned process, int function)
{
    return model_bias(process, function / MODEL_PER_MODULE) + model_offset(function);
}

/* ---- events ---- */

static void model_make_events(struct model *m, unsigned thread)
{
    uint64_t time = 5000 + thread;
    unsigned depth = 0;
    for (int i = 0; i < MODEL_EVENTS; i++) {
        struct model_event *e = &m->events[thread][i];
        time += model_random(m, 30) ? model_random(m, 400) : model_random(m, 200000);
        *e = (struct model_event){ .time = time, .function = -1, .flagged = model_random(m, 8) == 0 };
        if (depth > 1 && model_random(m, 40) == 0)
            e->unwound = 1 + model_random(m, depth);
        depth -= e->unwound;
        if (depth == 0 || (depth < MODEL_DEEPEST && model_random(m, 100) < 55)) {
            e->function = (int)model_random(m, MODEL_FUNCTIONS);
            depth++;
        } else {
            depth--;
        }
    }
    m->end[thread] = time + model_random(m, 1000);
    m->end_flagged[thread] = model_random(m, 2);
}

/* ---- the reference ---- */

struct frame {
    unsigned char function;
    uint64_t entered;
};

struct walk {
    struct model *m;
    unsigned thread, depth;
    struct frame stack[MODEL_DEEPEST];
};

static void model_count_inclusive(struct times *t, uint64_t d, bool flagged)
{
    t->elapsed_inclusive += d;
    t->application_inclusive += flagged ? 0 : d;
}

static void model_count_exclusive(struct times *t, uint64_t d, bool flagged)
{
    t->elapsed_exclusive += d;
    t->application_exclusive += flagged ? 0 : d;
}

static struct model_path *model_path_at(const struct walk *w, unsigned depth)
{
    struct model *m = w->m;
    struct model_path wanted = { .thread = w->thread, .depth = depth, .times.shortest = UINT64_MAX };
    for (unsigned i = 0; i < depth; i++)
        wanted.stack[i] = w->stack[i].function;
    for (unsigned i = 0; i < m->path_count; i++)
        if (m->paths[i].thread == wanted.thread && m->paths[i].depth == depth &&
            memcmp(m->paths[i].stack, wanted.stack, depth) == 0)
            return &m->paths[i];
    cr_assert(m->path_count < MODEL_PATHS);
    m->paths[m->path_count] = wanted;
    return &m->paths[m->path_count++];
}

static struct times *model_caller_of(const struct walk *w, unsigned at)
{
    const unsigned caller = at ? w->stack[at - 1].function : MODEL_NOBODY;
    return &w->m->callers[w->stack[at].function][caller];
}

static struct times *model_callee_of(const struct walk *w, unsigned at)
{
    return &w->m->callees[w->stack[at - 1].function][w->stack[at].function];
}

/* Counts each distinct entry on the stack once. */
static void model_add_inclusive(struct walk *w, uint64_t d, bool flagged)
{
    bool function[MODEL_FUNCTIONS] = { false }, module[MODEL_MODULES] = { false };
    bool callee[MODEL_FUNCTIONS][MODEL_FUNCTIONS] = { { false } };
    for (unsigned i = 0; i < w->depth; i++) {
        const unsigned f = w->stack[i].function;
        if (!module[f / MODEL_PER_MODULE])
            model_count_inclusive(&w->m->modules[f / MODEL_PER_MODULE], d, flagged);
        if (!function[f]) {
            model_count_inclusive(&w->m->functions[f], d, flagged);
            model_count_inclusive(model_caller_of(w, i), d, flagged);
        }
        if (i && !callee[w->stack[i - 1].function][f]) {
            model_count_inclusive(model_callee_of(w, i), d, flagged);
            callee[w->stack[i - 1].function][f] = true;
        }
        module[f / MODEL_PER_MODULE] = function[f] = true;
        model_count_inclusive(&model_path_at(w, i + 1)->times, d, flagged);
    }
}

static void model_add_interval(struct walk *w, uint64_t d, bool flagged)
{
    struct model *m = w->m;
    if (w->depth == 0)
        return;
    const unsigned top = w->depth - 1, f = w->stack[top].function;
    struct times *const rest[] = { &m->threads[w->thread], &m->processes[model_process(w->thread)], &m->session };
    model_add_inclusive(w, d, flagged);
    model_count_exclusive(&m->functions[f], d, flagged);
    model_count_exclusive(&m->modules[f / MODEL_PER_MODULE], d, flagged);
    model_count_exclusive(&model_path_at(w, w->depth)->times, d, flagged);
    model_count_exclusive(model_caller_of(w, top), d, flagged);
    if (top)
        model_count_exclusive(model_callee_of(w, top), d, flagged);
    for (int i = 0; i < 3; i++) {
        model_count_inclusive(rest[i], d, flagged);
        model_count_exclusive(rest[i], d, flagged);
    }
}

/* Counts a call that is on top of the stack. */
static size_t model_call_times(struct walk *w, struct times **list)
{
    const unsigned top = w->depth - 1, f = w->stack[top].function;
    size_t n = 0;
    list[n++] = &w->m->functions[f];
    list[n++] = &w->m->modules[f / MODEL_PER_MODULE];
    list[n++] = &w->m->threads[w->thread];
    list[n++] = &w->m->processes[model_process(w->thread)];
    list[n++] = &model_path_at(w, w->depth)->times;
    list[n++] = model_caller_of(w, top);
    if (top)
        list[n++] = model_callee_of(w, top);
    return n;
}

static void model_leave(struct walk *w, uint64_t now)
{
    struct times *list[8];
    const uint64_t d = now - w->stack[w->depth - 1].entered;
    for (size_t n = model_call_times(w, list); n-- > 0;) {
        list[n]->shortest = d < list[n]->shortest ? d : list[n]->shortest;
        list[n]->longest = d > list[n]->longest ? d : list[n]->longest;
    }
    w->depth--;
}

static void model_enter(struct walk *w, int function, uint64_t now)
{
    struct times *list[8];
    w->stack[w->depth++] = (struct frame){ (unsigned char)function, now };
    for (size_t n = model_call_times(w, list); n-- > 0;)
        list[n]->calls++;
    w->m->session.calls++;
}

static void model_walk_thread(struct model *m, unsigned thread)
{
    struct walk w = { .m = m, .thread = thread };
    uint64_t last = 0;
    for (int i = 0; i < MODEL_EVENTS; i++) {
        const struct model_event *e = &m->events[thread][i];
        model_add_interval(&w, e->time - last, e->flagged);
        for (unsigned n = e->unwound; n > 0; n--)
            model_leave(&w, e->time);
        if (e->function >= 0)
            model_enter(&w, e->function, e->time);
        else
            model_leave(&w, e->time);
        last = e->time;
    }
    model_add_interval(&w, m->end[thread] - last, m->end_flagged[thread]);
}

static void model_clear_times(struct times *t, size_t count)
{
    for (size_t i = 0; i < count; i++)
        t[i].shortest = UINT64_MAX;
}

struct model *model_new(uint64_t seed)
{
    struct model *m = calloc(1, sizeof *m);
    m->paths = calloc(MODEL_PATHS, sizeof *m->paths);
    m->random = seed;
    model_clear_times(m->functions, MODEL_FUNCTIONS);
    model_clear_times(m->modules, MODEL_MODULES);
    model_clear_times(m->threads, MODEL_THREADS);
    model_clear_times(m->processes, MODEL_PROCESSES);
    model_clear_times(&m->callers[0][0], sizeof m->callers / sizeof(struct times));
    model_clear_times(&m->callees[0][0], sizeof m->callees / sizeof(struct times));
    for (unsigned thread = 0; thread < MODEL_THREADS; thread++) {
        model_make_events(m, thread);
        model_walk_thread(m, thread);
    }
    return m;
}

void model_free(struct model *m)
{
    free(m->paths);
    free(m);
}

/* ---- the session ---- */

static void model_write_metadata(struct model *m, struct writer *w)
{
    for (unsigned process = 0; process < MODEL_PROCESSES; process++) {
        write_process(w, process + 1, 100 + process, process ? "/bin/worker" : "/bin/model");
        for (int module = 0; module < 3; module++) {
            const uint64_t at = model_bias(process, module);
            write_module(w, process + 1, (uint32_t)module + 1, at, at + 0x1000, at + 0x2000, 0, model_paths[module]);
        }
        for (unsigned thread = 0; thread < MODEL_THREADS; thread++)
            if (model_process(thread) == process)
                write_thread(w, process + 1, thread + 1, 200 + thread, SOURCE_PERF, thread % 2 ? "second" : "first");
    }
    for (unsigned thread = 0; thread < MODEL_THREADS; thread++)
        write_thread_end(w, model_process(thread) + 1, thread + 1, m->end_flagged[thread], m->end[thread]);
}

/* Every function has a symbol, so that no module file is searched. The libraries' functions have the same names. */
static void model_write_symbols(struct writer *w)
{
    static const char *const names[] = { "main", "helper", "_Z5threel", "twin", "_ZN1x3oneEv", "two" };
    for (uint32_t module = 0; module < MODEL_MODULES; module++) {
        write_symbol_module(w, module, model_paths[module]);
        for (int i = 0; i < MODEL_PER_MODULE; i++)
            write_symbol(w, module, 0, 0, model_offset((int)module * MODEL_PER_MODULE + i),
                         names[(module ? 3 : 0) + i]);
    }
}

struct progress {
    struct open_call stack[MODEL_DEEPEST];
    uint32_t depth, next, sequence;
};

/* Writes one chunk of a thread, up to a random cut. */
static void model_write_piece(struct model *m, struct writer *w, unsigned thread, struct progress *p, unsigned pieces)
{
    const struct model_event *events = m->events[thread];
    const unsigned process = model_process(thread);
    const uint64_t start = p->next ? events[p->next - 1].time : 4000;
    begin_events(w, process + 1, thread + 1, p->sequence++, start, p->stack, p->depth);
    while (p->next < MODEL_EVENTS) {
        const struct model_event *e = &events[p->next++];
        if (e->flagged)
            write_os(w);
        if (e->unwound)
            write_unwind(w, e->unwound);
        p->depth -= e->unwound;
        if (e->function >= 0) {
            p->stack[p->depth++] = (struct open_call){ model_address(process, e->function), e->time };
            write_enter(w, e->time, model_address(process, e->function));
        } else {
            p->depth--;
            write_exit(w, e->time);
        }
        if (pieces && model_random(m, pieces) == 0)
            break;
    }
    end_events(w, model_random(m, 2));
}

struct writer *model_write(struct model *m, unsigned pieces, unsigned first)
{
    struct writer *w = writer_new();
    struct progress progress[MODEL_THREADS] = { { .depth = 0 } };
    model_write_metadata(m, w);
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < MODEL_THREADS; i++) {
            const unsigned thread = (first + i) % MODEL_THREADS;
            if (progress[thread].next < MODEL_EVENTS)
                model_write_piece(m, w, thread, &progress[thread], pieces);
            more |= progress[thread].next < MODEL_EVENTS;
        }
    }
    model_write_symbols(w);
    return w;
}

struct profile *model_subtree(const struct profile *p, uint32_t root)
{
    bool *roots = calloc(p->function_count, sizeof *roots);
    roots[root] = true;
    struct profile *below = subtree_below(p, roots);
    free(roots);
    return below;
}
