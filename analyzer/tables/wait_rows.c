/* Finds the calls in which threads were blocked, adds them up by function and caller, and names their threads. */
#include "tables/wait_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"
#include "symbols/os_calls.h"
#include "symbols/short_name.h"
#include "tables/own_waits.h"

static const struct column columns[] = {
    { "function", "WAITS IN", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "file", "FILE", CELL_TEXT, USE_DATA, false },
    { "line", "LINE", CELL_COUNT, USE_DATA, false },
    { "caller", "CALLED BY", CELL_NAME, USE_ALWAYS, false },
    { "threads", "THREADS", CELL_THREADS, USE_ALWAYS, false },
    { "source", "SOURCE", CELL_SOURCE, USE_TEXT, false },
    { "thread_titles", "TITLES", CELL_THREADS, USE_DATA, false },
    { "tid", "TID", CELL_COUNT, USE_DATA, false },
};
static const struct column share_column = { "threads_percent", "THREAD %", CELL_PERCENT, USE_CHOSEN, false };
enum { FUNCTION, MODULE, SOURCE_FILE, SOURCE_LINE, CALLER, THREADS, SOURCE, THREAD_TITLES, TID, COLUMN_COUNT };

enum { MAX_THREAD_NAMES = 3 };

struct wait {
    uint32_t function, caller; /* PROFILE_NONE: a wait of the recording; the start of a thread */
    struct times times;
};

/* A thread that was blocked in a wait. */
struct wait_thread {
    uint32_t wait, thread; /* indices into the lists of waits and of the profile's threads */
};

struct wait_list {
    const struct analysis *loaded;
    struct number_index *places; /* (function, caller) to a wait */
    struct wait *list;
    size_t count, room;
    struct wait_thread *threads;
    size_t thread_count, thread_room;
};

/* ---- the call tree ---- */

/* By node: its thread and the innermost function around it that is neither a call of the operating system nor a
 * function of the standard library, such as std::mutex::lock. */
struct wait_context {
    uint32_t *threads, *callers;
};

static bool wait_is_of_library(const char *name)
{
    static const char *const beginnings[] = { "std::", "__gnu_cxx::", "__gthread" };
    name += short_name_find(name).begin;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

bool *wait_find_wrappers(const struct profile *p, const struct function_name *names)
{
    bool *is_wrapper = need_memory(p->function_count + 1, sizeof *is_wrapper);
    for (size_t i = 0; i < p->function_count; i++)
        is_wrapper[i] =
            os_calls_is_library(p->modules[p->functions[i].module].path) || wait_is_of_library(names[i].name);
    return is_wrapper;
}

/* Parents come before their children. */
static struct wait_context wait_find_context(const struct analysis *analysis)
{
    const struct profile *p = analysis->profile;
    struct wait_context c = { need_memory(p->node_count + 1, sizeof *c.threads),
                              need_memory(p->node_count + 1, sizeof *c.callers) };
    bool *is_wrapper = wait_find_wrappers(p, analysis->names);
    for (size_t i = 0; i < p->thread_count; i++)
        c.threads[p->threads[i].root] = (uint32_t)i;
    for (size_t i = 0; i < p->node_count; i++) {
        const uint32_t parent = p->nodes[i].parent;
        c.callers[i] = PROFILE_NONE;
        if (parent == PROFILE_NONE)
            continue;
        const uint32_t caller = p->nodes[parent].function;
        const bool skip = caller != PROFILE_NONE && is_wrapper[caller];
        c.threads[i] = c.threads[parent];
        c.callers[i] = skip ? c.callers[parent] : caller;
    }
    free(is_wrapper);
    return c;
}

/* Finds a wait, or makes it, and returns its index. */
static uint32_t wait_find(struct wait_list *w, uint32_t function, uint32_t caller)
{
    struct index_slot *slot = index_find(w->places, function, caller);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(w->list, w->count, w->room);
    w->list[w->count] = (struct wait){ function, caller, times_of_nothing() };
    index_set(w->places, slot, function, caller, (uint32_t)w->count);
    return (uint32_t)w->count++;
}

static void wait_add_times(struct wait_list *w, uint32_t wait, const struct times *times, uint32_t thread)
{
    times_add(&w->list[wait].times, times);
    if (!times->blocked_exclusive)
        return;
    GROW(w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count++] = (struct wait_thread){ wait, thread };
}

/* What recording kept the call waiting has a row of its own, and is no time of the function. */
static void wait_add_node(struct wait_list *w, const struct wait_context *c, const struct recording_waits *of_recording,
                          uint32_t node)
{
    const struct profile_node *n = &w->loaded->profile->nodes[node];
    const uint64_t blocked = of_recording->blocked ? of_recording->blocked[node] : 0;
    struct times own = times_of_path(n);
    if (blocked) {
        struct times times = times_of_nothing();
        times.elapsed_inclusive = times.elapsed_exclusive = blocked;
        times.blocked_inclusive = times.blocked_exclusive = blocked;
        times.calls = of_recording->count[node];
        own.elapsed_inclusive = own.elapsed_exclusive = less(own.elapsed_exclusive, blocked);
        own.blocked_inclusive = own.blocked_exclusive = less(own.blocked_exclusive, blocked);
        wait_add_times(w, wait_find(w, PROFILE_NONE, n->function), &times, c->threads[node]);
    }
    wait_add_times(w, wait_find(w, n->function, c->callers[node]), &own, c->threads[node]);
}

static int wait_compare_threads(const void *a, const void *b)
{
    const struct wait_thread *x = a, *y = b;
    return ORDER_BY(x, y, wait, thread);
}

/* Sorts the threads by wait, and keeps each once. */
static void wait_sort_threads(struct wait_list *w)
{
    size_t kept = 0;
    if (w->thread_count)
        qsort(w->threads, w->thread_count, sizeof *w->threads, wait_compare_threads);
    for (size_t i = 0; i < w->thread_count; i++)
        if (kept == 0 || wait_compare_threads(&w->threads[kept - 1], &w->threads[i]) != 0)
            w->threads[kept++] = w->threads[i];
    w->thread_count = kept;
}

/* Lists all functions with their callers, also those that were not blocked. */
static struct wait_list wait_list_all(const struct analysis *analysis)
{
    struct wait_list w = { .loaded = analysis, .places = index_new() };
    struct wait_context c = wait_find_context(analysis);
    const struct recording_waits of_recording = recording_waits_find(analysis);
    for (uint32_t i = 0; i < analysis->profile->node_count; i++)
        if (analysis->profile->nodes[i].parent != PROFILE_NONE)
            wait_add_node(&w, &c, &of_recording, i);
    wait_sort_threads(&w);
    free(c.threads);
    free(c.callers);
    return w;
}

static void wait_list_drop(struct wait_list *w)
{
    index_free(w->places);
    free(w->list);
    free(w->threads);
}

/* ---- rows ---- */

static int wait_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *wait_thread_name(const struct analysis *analysis, const struct wait_thread *thread)
{
    const struct trace_thread *t =
        session_file_thread(analysis->file, analysis->profile->threads[thread->thread].thread);
    return t && t->name[0] ? t->name : "[unknown]";
}

/* Names, each once, such as "bio_aof, bio_lazy_free" or "worker (8 threads)". Sorts the list. The caller frees the
 * text. */
static char *wait_join_names(const char **names, size_t count)
{
    char *text;
    size_t length, shown = 0, different = 0;
    qsort(names, count, sizeof *names, wait_compare_names);
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(names[i - 1], names[i]) == 0)
            continue;
        if (different++ < MAX_THREAD_NAMES)
            fprintf(out, "%s%s", shown++ ? ", " : "", names[i]);
    }
    if (different > shown)
        fputs(", ...", out);
    if (count > shown)
        fprintf(out, " (%s)", COUNTED(count, "thread"));
    need_stream_end(out);
    return text;
}

/* The names of the threads. The caller frees it. */
static char *wait_thread_names(const struct analysis *analysis, const struct wait_thread *threads, size_t count)
{
    const char **names = need_memory(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = wait_thread_name(analysis, &threads[i]);
    char *text = wait_join_names(names, count);
    free(names);
    return text;
}

static int wait_compare_titles(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const size_t one = thread_title_length(x), other = thread_title_length(y);
    const int order = strncmp(x, y, one < other ? one : other);
    return order ? order : ORDER(one, other);
}

/* What text shows of the threads: "worker#3", or "worker (8 threads)". The caller frees it. */
static char *wait_thread_titles(const struct analysis *analysis, const struct wait_thread *threads, size_t count)
{
    const char **titles = need_memory(count + 1, sizeof *titles);
    char **shown = need_memory(count + 1, sizeof *shown);
    for (size_t i = 0; i < count; i++) {
        const char *title = analysis_thread_title(analysis, analysis->profile->threads[threads[i].thread].thread);
        titles[i] = title ? title : wait_thread_name(analysis, &threads[i]);
    }
    qsort(titles, count, sizeof *titles, wait_compare_titles);
    for (size_t i = 0; i < count; i++) {
        const bool again = i && wait_compare_titles(&titles[i - 1], &titles[i]) == 0;
        const bool more = i + 1 < count && wait_compare_titles(&titles[i], &titles[i + 1]) == 0;
        shown[i] = need_copy(titles[i], again || more ? thread_title_length(titles[i]) : strlen(titles[i]));
    }
    char *text = wait_join_names((const char **)shown, count);
    for (size_t i = 0; i < count; i++)
        free(shown[i]);
    free(shown);
    free(titles);
    return text;
}

static void wait_fill_tid(struct cell *cell, const struct analysis *analysis, const struct wait_thread *thread)
{
    const struct trace_thread *t =
        session_file_thread(analysis->file, analysis->profile->threads[thread->thread].thread);
    if (t && t->tid)
        cell_number(cell, t->tid);
}

static uint64_t wait_threads_elapsed(const struct analysis *analysis, const struct wait_thread *threads, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += analysis->rollup->nodes[analysis->profile->threads[threads[i].thread].root].elapsed_inclusive;
    return sum;
}

static void wait_add_row(struct table *t, const struct analysis *analysis, const struct wait *wait,
                         const struct wait_thread *threads, size_t count)
{
    struct cell *cells = table_row(t);
    const bool by_recording = wait->function == PROFILE_NONE;
    const bool is_os =
        by_recording ||
        os_calls_is_library(analysis->profile->modules[analysis->profile->functions[wait->function].module].path);
    const uint32_t at = is_os ? wait->caller : wait->function;
    char *names = wait_thread_names(analysis, threads, count);
    char *titles = analysis->thread_titles ? wait_thread_titles(analysis, threads, count) : NULL;
    cell_text(&cells[FUNCTION], by_recording ? own_wait_texts[OWN_RECORDING] : analysis->names[wait->function].name);
    cell_text(&cells[MODULE], by_recording ? "" : analysis->names[wait->function].module);
    cell_text(&cells[CALLER], wait->caller == PROFILE_NONE ? "(start of thread)" : analysis->names[wait->caller].name);
    cell_text(&cells[THREADS], names);
    cells[THREADS].shown = titles;
    cell_thread_title(&cells[THREAD_TITLES], &cells[THREADS]);
    if (count == 1)
        wait_fill_tid(&cells[TID], analysis, threads);
    if (at != PROFILE_NONE) {
        cell_source(&cells[SOURCE], &analysis->names[at]);
        cell_text(&cells[SOURCE_FILE], analysis->names[at].file);
        if (analysis->names[at].line)
            cell_number(&cells[SOURCE_LINE], analysis->names[at].line);
    }
    fill_times(t, &wait->times);
    cell_percent(&cells[t->column_count - 1],
                 percent_of(wait->times.blocked_exclusive, wait_threads_elapsed(analysis, threads, count)));
    free(names);
}

/* The row has one blocked time, so its title needs no form. */
static void wait_rename_column(struct table *t)
{
    struct column *own = t->own_columns;
    for (size_t i = 0; i < t->column_count; i++)
        if (strcmp(own[i].key, "blocked_exclusive") == 0)
            own[i].title = "BLOCKED";
}

struct table wait_rows(const struct analysis *analysis)
{
    struct table t = values_table(columns, COLUMN_COUNT, &share_column, 1, &analysis->summary);
    t.second_name = CALLER;
    wait_rename_column(&t);
    struct wait_list w = wait_list_all(analysis);
    for (size_t first = 0, next; w.list && first < w.thread_count; first = next) {
        const uint32_t wait = w.threads[first].wait;
        for (next = first + 1; next < w.thread_count && w.threads[next].wait == wait; next++)
            ;
        wait_add_row(&t, analysis, &w.list[wait], &w.threads[first], next - first);
    }
    wait_list_drop(&w);
    return t;
}
