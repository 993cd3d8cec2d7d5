/* Adds up waits by what they were for and who caused them, and makes a row of each sum. */
#include "tables/cause_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/time_unit.h"
#include "base/units.h"
#include "causes/object_names.h"
#include "symbols/os_calls.h"
#include "tables/cause_paths.h"
#include "tables/own_waits.h"

const struct column view_causes_columns[] = {
    { "function", "WAITING FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
    { "path", "PATH", CELL_PATH, USE_DATA, false },
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false },
    { "tid", "TID", CELL_COUNT, USE_DATA, false },
    { "object.kind", "KIND", CELL_TEXT, USE_DATA, false },
    { "object.name", "NAME", CELL_TEXT, USE_DATA, false },
    { "waits_for", "WAITS FOR", CELL_OBJECT, USE_TEXT, false },
    { "cause", "CAUSE", CELL_TEXT, USE_ALWAYS, false },
    { "cause_function", "CAUSED BY", CELL_NAME, USE_ALWAYS, false },
    { "cause_path", "CAUSED BY PATH", CELL_PATH, USE_DATA, false },
    { "cause_thread", "IN THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "cause_thread_title", "CAUSE TITLE", CELL_TEXT, USE_DATA, false },
    { "cause_tid", "CAUSE TID", CELL_COUNT, USE_DATA, false },
    { "waits", "WAITS", CELL_COUNT, USE_ALWAYS, false },
    { "total", "TOTAL", CELL_TICKS, USE_ALWAYS, false },
    { "max", "LONGEST", CELL_TICKS, USE_ALWAYS, false },
    { "share_percent", "THREAD %", CELL_PERCENT, USE_ALWAYS, false },
    { "object.made.function", "MADE IN", CELL_NAME, USE_DATA, false },
    { "object.made.module", "MADE IN MODULE", CELL_TEXT, USE_DATA, false },
};
enum {
    FUNCTION,
    MODULE,
    PATH,
    THREAD,
    THREAD_TITLE,
    TID,
    KIND,
    NAME,
    WAITS_FOR,
    CAUSE,
    CAUSE_FUNCTION,
    CAUSE_PATH,
    CAUSE_THREAD,
    CAUSE_THREAD_TITLE,
    CAUSE_TID,
    WAITS,
    TOTAL,
    LONGEST,
    SHARE,
    MADE_FUNCTION,
    MADE_MODULE,
    COLUMN_COUNT
};
const size_t view_causes_column_count = COLUMN_COUNT;
_Static_assert(sizeof view_causes_columns / sizeof *view_causes_columns == COLUMN_COUNT, "each column has its number");

struct cause_row {
    const struct caused_wait *first;
    uint64_t total, longest, count;
    uint32_t waiter; /* the thread of the last wait */
    bool same_object, same_made, same_thread, same_path, same_cause_thread, same_cause; /* as the first wait */
    bool one_thread, one_cause_thread; /* with the same number, and not only the same name */
    bool same_title, same_cause_title; /* what text shows of the threads has that in common, without numbers */
};

/* A thread that waited in a row. */
struct cause_waiter {
    uint32_t row, thread, process;
};

struct cause_rows {
    const struct analysis *loaded;
    const struct wait_causes *causes;
    enum waits_by by;
    struct cause_paths waiting, acting;
    struct cause_path_numbers numbers;
    struct intern keys;
    struct object_names *objects;
    struct namer *makers;
    struct code_changes *changes;
    struct cause_row *list;
    size_t count, room;
    struct cause_waiter *waiters;
    size_t waiter_count, waiter_room;
    const struct cause_limits *limits;
};

/* ---- names ---- */

#define CAUSE_REST "(other waits)"

/* The innermost call of a wait. The rest of a thread's waits in mode profile has none. */
static const struct function_name *cause_called(const struct cause_rows *r, const struct profile_wait *w)
{
    static char rest_name[] = CAUSE_REST, no_module[] = "";
    static const struct function_name rest = { .name = rest_name, .module = no_module };
    if (r->waiting.profile->nodes[w->place.node].parent == PROFILE_NONE)
        return &rest;
    return &r->waiting.names[r->waiting.profile->nodes[w->place.node].function];
}

static bool cause_calls_os(const struct cause_rows *r, const struct profile_wait *w)
{
    const struct profile *p = r->waiting.profile;
    return p->nodes[w->place.node].parent != PROFILE_NONE &&
           os_calls_is_library(p->modules[p->functions[p->nodes[w->place.node].function].module].path);
}

/* Of a call of the operating system, the call says more than what happened in it. */
static enum own_wait cause_own(const struct cause_rows *r, const struct profile_wait *w)
{
    return w->kind || cause_calls_os(r, w) ? OWN_NOT : own_wait_of(r->changes, w);
}

/* A wait without an object is a "call" of the operating system, or one of the program's own code. */
static const char *cause_kind(const struct cause_rows *r, const struct profile_wait *w)
{
    return w->kind ? object_kind_name(w->kind) : own_wait_kinds[cause_own(r, w)];
}

static const char *cause_thread_name(const struct cause_rows *r, uint32_t serial)
{
    const struct trace_thread *t = serial ? session_file_thread(r->loaded->file, serial) : NULL;
    return t && t->name ? t->name : "";
}

static char *cause_descriptor(const struct cause_rows *r, const struct profile_wait *w)
{
    const struct trace_descriptor *d = descriptor_list_find(&r->loaded->file->descriptors, w->id);
    if (!d && (w->kind < DWELL_OBJECT_FILE || w->kind == DWELL_OBJECT_FUTEX))
        return need_text("shared %" PRIx64, w->id & ~DWELL_OBJECT_SHARED);
    return need_text("%s", d ? d->name : "");
}

/* The variable that holds the object, or else its address. The caller frees it. */
static char *cause_address(const struct cause_rows *r, const struct profile_wait *w)
{
    const char *name = object_names_find(r->objects, w->place.process, w->id, w->place.end);
    return name ? need_text("%s", name) : need_text("0x%" PRIx64, w->id);
}

/* The object's name; the caller frees it. */
static char *cause_object(const struct cause_rows *r, const struct caused_wait *w)
{
    char text[TIME_TEXT];
    if (!w->wait.kind)
        return need_text("%s", cause_calls_os(r, &w->wait) ? cause_called(r, &w->wait)->name : "");
    switch (w->wait.kind) {
    case DWELL_OBJECT_SLEEP:
        time_text_with_unit(w->wait.id, text);
        return need_text("%s", w->wait.id ? text : "");
    case DWELL_OBJECT_THREAD:
        return need_text("%s", cause_thread_name(r, w->thread));
    case DWELL_OBJECT_CHILD:
        return w->wait.id ? need_text("%" PRIu64, w->wait.id) : need_text("%s", "");
    case DWELL_OBJECT_SET:
    case DWELL_OBJECT_SIGNAL:
        return need_text("%s", "");
    default:
        return object_is_of_process(w->wait.kind, w->wait.id) ? cause_address(r, &w->wait)
                                                              : cause_descriptor(r, &w->wait);
    }
}

/* Where the object was made; NULL if that is unknown. */
static const struct trace_maker *cause_maker(const struct cause_rows *r, const struct profile_wait *w)
{
    return w->kind ? maker_list_find(&r->loaded->file->makers, w->place.process, w->kind, w->id, w->place.end) : NULL;
}

static const struct function_name *cause_made_in(const struct cause_rows *r, const struct profile_wait *w)
{
    const struct trace_maker *m = cause_maker(r, w);
    return m ? namer_find_function(r->makers, m->process, m->function, m->time) : NULL;
}

/* Whether a function of the program waited without a call that is known (tables/own_waits.h). */
static bool cause_is_own_code(const struct cause_rows *r, const struct caused_wait *w)
{
    return !w->wait.kind && !w->rest && !cause_calls_os(r, &w->wait);
}

/* What text shows of the object: "mutex 0x4040", "nanosleep 10 ms", "read", "page fault". The caller frees it. */
static char *cause_object_text(const struct cause_rows *r, const struct cause_row *row)
{
    const struct profile_wait *w = &row->first->wait;
    if (cause_is_own_code(r, row->first))
        return need_text("%s", own_wait_texts[cause_own(r, w)]);
    const char *title = w->kind == DWELL_OBJECT_THREAD ? analysis_thread_title(r->loaded, row->first->thread) : NULL;
    char *name = !row->same_object ? need_text("%s", "") : title ? need_text("%s", title) : cause_object(r, row->first);
    const bool by_call = !w->kind || w->kind == DWELL_OBJECT_SLEEP || w->kind == DWELL_OBJECT_SET;
    const char *kind = by_call ? cause_called(r, w)->name : cause_kind(r, w);
    if (strncmp(name, kind, strlen(kind)) == 0 && name[strlen(kind)] == ':') /* "pipe:[5]" */
        return name;
    char *text = w->kind && *name ? need_text("%s %s", kind, name) : need_text("%s", kind);
    free(name);
    return text;
}

/* The same with where it was made: "mutex 0x4040 made in new_queue". */
static char *cause_waits_for(const struct cause_rows *r, const struct cause_row *row)
{
    char *object = cause_object_text(r, row);
    const struct function_name *made = row->same_made ? cause_made_in(r, &row->first->wait) : NULL;
    if (!made)
        return object;
    char *text = need_text("%s made in %s", object, made->name);
    free(object);
    return text;
}

static const char *const cause_names[] = { [CAUSE_NONE] = "none", [CAUSE_HOLDER] = "holder", [CAUSE_WAKER] = "waker" };

/* ---- sums ---- */

static uint32_t cause_owner(const struct cause_paths *paths, uint32_t node)
{
    return node == PROFILE_NONE ? PROFILE_NONE : paths->owners[node];
}

static uint32_t cause_name_number(struct cause_rows *r, const char *name)
{
    return intern(&r->numbers.names, name, strlen(name));
}

/* A function's number that does not depend on its path. */
static uint32_t cause_function_number(struct cause_rows *r, const struct cause_paths *paths, uint32_t node)
{
    const uint32_t owner = cause_owner(paths, node);
    return owner == PROFILE_NONE ? PROFILE_NONE
                                 : cause_path_number(&r->numbers, PROFILE_NONE - 1, &paths->names[owner]);
}

enum { KEY_PARTS = 6 };

/* The process that the object belongs to; zero if it belongs to none, or to several. */
static uint32_t cause_process(const struct profile_wait *w)
{
    return w->kind && w->kind != DWELL_OBJECT_SLEEP && object_is_of_process(w->kind, w->id) ? w->place.process : 0;
}

/* Zero if it is unknown where the object was made. */
static uint32_t cause_made_number(struct cause_rows *r, const struct profile_wait *w)
{
    const struct function_name *made = cause_made_in(r, w);
    return made ? 1 + cause_path_number(&r->numbers, PROFILE_NONE - 1, made) : 0;
}

/* When an object was made that had an address; zero if that is unknown. */
static uint64_t cause_made_at(const struct cause_rows *r, const struct profile_wait *w)
{
    const struct trace_maker *m = cause_process(w) ? cause_maker(r, w) : NULL;
    return m ? m->time : 0;
}

/* Objects of one name have one number, and those without a name: zero. */
static uint32_t cause_object_number(struct cause_rows *r, const struct profile_wait *w)
{
    if (r->by != WAITS_BY_OBJECT || !w->kind || w->kind == DWELL_OBJECT_SLEEP || w->kind == DWELL_OBJECT_THREAD ||
        w->kind == DWELL_OBJECT_CHILD || w->kind == DWELL_OBJECT_SET || w->kind == DWELL_OBJECT_SIGNAL)
        return 0;
    if (object_is_of_process(w->kind, w->id)) {
        const char *name = object_names_find(r->objects, w->place.process, w->id, w->place.end);
        return name ? 1 + cause_name_number(r, name) : 0;
    }
    const struct trace_descriptor *d = descriptor_list_find(&r->loaded->file->descriptors, w->id);
    return d ? 1 + cause_name_number(r, d->name) : 0;
}

/* What distinguishes the row of a wait from others. Two objects may have had one address after each other. */
static void cause_key(struct cause_rows *r, const struct caused_wait *w, uint64_t key[KEY_PARTS])
{
    const bool sleeps = w->wait.kind == DWELL_OBJECT_SLEEP;
    switch (r->by) {
    case WAITS_BY_PATH:
    case WAITS_BY_OBJECT:
        key[0] = r->waiting.ids[w->wait.place.node];
        key[1] = w->wait.kind | (uint64_t)cause_own(r, &w->wait) << 8;
        key[2] = r->by == WAITS_BY_OBJECT ? cause_object_number(r, &w->wait) : sleeps ? w->wait.id : 0;
        key[3] = w->cause;
        key[4] = w->node == PROFILE_NONE || !r->acting.ids ? PROFILE_NONE : r->acting.ids[w->node];
        key[5] = cause_name_number(r, cause_thread_name(r, w->thread)) | (uint64_t)cause_made_number(r, &w->wait) << 32;
        break;
    case WAITS_BY_LOCK:
        key[0] = w->wait.kind | (uint64_t)cause_own(r, &w->wait) << 8;
        key[1] = w->wait.id;
        key[2] = cause_process(&w->wait);
        key[3] = w->wait.kind && w->wait.kind != DWELL_OBJECT_SET
                     ? 0
                     : cause_name_number(r, cause_called(r, &w->wait)->name);
        key[4] = cause_made_at(r, &w->wait);
        break;
    case WAITS_BY_FUNCTION:
        key[0] = cause_function_number(r, &r->waiting, w->wait.place.node);
        break;
    case WAITS_BY_THREAD:
        key[0] = w->wait.place.thread;
        break;
    case WAITS_BY_WAKER:
        key[0] = w->cause;
        key[1] = cause_function_number(r, &r->acting, w->node);
        key[2] = cause_name_number(r, cause_thread_name(r, w->thread));
        break;
    }
}

/* Whether waits without an object are in one call of the operating system, or both in the program's own code. */
static bool cause_same_call(const struct cause_rows *r, const struct profile_wait *a, const struct profile_wait *b)
{
    const bool calls = cause_calls_os(r, a);
    return calls == cause_calls_os(r, b) && (!calls || strcmp(cause_called(r, a)->name, cause_called(r, b)->name) == 0);
}

static bool cause_same_object(const struct cause_rows *r, const struct profile_wait *a, const struct profile_wait *b)
{
    return a->kind == b->kind && a->id == b->id && cause_process(a) == cause_process(b) &&
           cause_own(r, a) == cause_own(r, b) && (a->kind || cause_same_call(r, a, b)) &&
           cause_made_at(r, a) == cause_made_at(r, b);
}

static bool cause_same_thread(const struct cause_rows *r, uint32_t a, uint32_t b)
{
    return a == b || strcmp(cause_thread_name(r, a), cause_thread_name(r, b)) == 0;
}

static bool cause_same_title(const struct cause_rows *r, uint32_t a, uint32_t b)
{
    const char *one = analysis_thread_title(r->loaded, a), *other = analysis_thread_title(r->loaded, b);
    if (a == b || !one || !other)
        return a == b;
    const size_t length = thread_title_length(one);
    return length == thread_title_length(other) && strncmp(one, other, length) == 0;
}

/* Finds what the waits of a row have in common. Nothing is asked again after the answer was no. */
static void cause_compare_with_first(struct cause_rows *r, struct cause_row *row, const struct caused_wait *w)
{
    const struct caused_wait *first = row->first;
    const struct profile_wait *wait = &w->wait, *other = &first->wait;
    row->same_object = row->same_object && (cause_object_number(r, wait) || cause_same_object(r, wait, other));
    row->same_made = row->same_made && cause_made_number(r, wait) == cause_made_number(r, other);
    row->same_thread = row->same_thread && cause_same_thread(r, wait->place.thread, other->place.thread);
    row->same_path = row->same_path && r->waiting.ids[wait->place.node] == r->waiting.ids[other->place.node];
    row->same_cause_thread = row->same_cause_thread && cause_same_thread(r, w->thread, first->thread);
    row->one_thread = row->one_thread && wait->place.thread == other->place.thread;
    row->one_cause_thread = row->one_cause_thread && w->thread == first->thread;
    row->same_title = row->same_title && cause_same_title(r, wait->place.thread, other->place.thread);
    row->same_cause_title = row->same_cause_title && cause_same_title(r, w->thread, first->thread);
    row->same_cause = row->same_cause && w->cause == first->cause &&
                      (w->node == first->node || cause_function_number(r, &r->acting, w->node) ==
                                                     cause_function_number(r, &r->acting, first->node));
}

/* Returns the number of its row, before rows are sorted. */
static uint32_t cause_add_wait(struct cause_rows *r, const struct caused_wait *w)
{
    uint64_t key[KEY_PARTS] = { 0 };
    cause_key(r, w, key);
    if (w->rest && r->by != WAITS_BY_THREAD)
        key[KEY_PARTS - 1] = UINT64_MAX;
    const uint32_t number = intern(&r->keys, key, sizeof key);
    if (number == r->count) {
        GROW(r->list, r->count, r->room);
        r->list[r->count++] =
            (struct cause_row){ w, 0, 0, 0, 0, true, true, true, true, true, true, true, true, true, true };
    }
    struct cause_row *row = &r->list[number];
    row->total += w->ticks;
    row->longest = w->longest > row->longest ? w->longest : row->longest;
    row->count += w->count;
    cause_compare_with_first(r, row, w);
    if (row->count == w->count || row->waiter != w->wait.place.thread) {
        GROW(r->waiters, r->waiter_count, r->waiter_room);
        r->waiters[r->waiter_count++] = (struct cause_waiter){ number, w->wait.place.thread, w->wait.place.process };
        row->waiter = w->wait.place.thread;
    }
    return number;
}

/* In an order that does not depend on how the work was split. */
static int cause_compare_waits(const void *a, const void *b)
{
    const struct caused_wait *x = a, *y = b;
    return ORDER_BY(x, y, wait.place.thread, wait.place.begin, wait.kind, wait.id);
}

static int cause_compare_waiters(const void *a, const void *b)
{
    const struct cause_waiter *x = a, *y = b;
    return ORDER_BY(x, y, row, thread);
}

/* By row: the elapsed time of the threads that waited. */
static uint64_t *cause_find_elapsed(struct cause_rows *r)
{
    const struct analysis *analysis = r->loaded;
    uint64_t *elapsed = need_memory(r->count + 1, sizeof *elapsed);
    if (r->waiter_count)
        qsort(r->waiters, r->waiter_count, sizeof *r->waiters, cause_compare_waiters);
    for (size_t i = 0; i < r->waiter_count; i++) {
        const struct cause_waiter *w = &r->waiters[i];
        if (i && cause_compare_waiters(&r->waiters[i - 1], w) == 0)
            continue;
        const uint32_t root = profile_find_root(analysis->profile, w->process, w->thread);
        elapsed[w->row] += root == PROFILE_NONE ? 0 : analysis->rollup->nodes[root].elapsed_inclusive;
    }
    return elapsed;
}

/* ---- rows ---- */

/* Several threads of one name have that name, or what their titles have in common. The title and the number are in the
 * next cells. */
static void cause_fill_thread(const struct cause_rows *r, struct cell *cell, uint32_t thread, bool one, bool same_title)
{
    const struct trace_thread *t = session_file_thread(r->loaded->file, thread);
    cell_thread(cell, r->loaded, one || same_title ? thread : 0, cause_thread_name(r, thread));
    if (!one && cell->shown)
        cell->shown[thread_title_length(cell->shown)] = 0;
    cell_thread_title(&cell[1], cell);
    if (one && t && t->tid)
        cell_number(&cell[2], t->tid);
}

static void cause_fill_waiting(const struct cause_rows *r, const struct cause_row *row, struct cell *cells)
{
    const struct profile_wait *w = &row->first->wait;
    const uint32_t owner = r->waiting.owners[w->place.node];
    if (r->by == WAITS_BY_FUNCTION || row->same_path) {
        const char *nowhere = row->first->rest ? CAUSE_REST : "(start of thread)";
        cell_text(&cells[FUNCTION], owner == PROFILE_NONE ? nowhere : r->waiting.names[owner].name);
        if (owner != PROFILE_NONE)
            cell_text(&cells[MODULE], r->waiting.names[owner].module);
    }
    if (row->same_path) {
        char *path = cause_path_text(&r->waiting, w->place.node, r->limits->path);
        cell_text(&cells[PATH], path);
        free(path);
    }
    if (row->same_thread)
        cause_fill_thread(r, &cells[THREAD], w->place.thread, row->one_thread, row->same_title);
}

static void cause_fill_object(const struct cause_rows *r, const struct cause_row *row, struct cell *cells)
{
    const bool named = row->same_object;
    if (r->by != WAITS_BY_PATH && r->by != WAITS_BY_OBJECT && !named)
        return;
    char *name = cause_object(r, row->first), *waits_for = cause_waits_for(r, row);
    cell_text(&cells[KIND], cause_kind(r, &row->first->wait));
    if (named)
        cell_text(&cells[NAME], name);
    cell_text(&cells[WAITS_FOR], waits_for);
    const struct function_name *made = row->same_made ? cause_made_in(r, &row->first->wait) : NULL;
    if (made) {
        cell_text(&cells[MADE_FUNCTION], made->name);
        cell_text(&cells[MADE_MODULE], made->module);
    }
    free(name);
    free(waits_for);
}

static void cause_fill_cause(const struct cause_rows *r, const struct cause_row *row, struct cell *cells)
{
    const struct caused_wait *w = row->first;
    const uint32_t owner = cause_owner(&r->acting, w->node);
    if (row->same_cause_thread && w->thread)
        cause_fill_thread(r, &cells[CAUSE_THREAD], w->thread, row->one_cause_thread, row->same_cause_title);
    if (!row->same_cause)
        return;
    cell_text(&cells[CAUSE], cause_names[w->cause]);
    if (w->cause == CAUSE_NONE)
        return;
    cell_text(&cells[CAUSE_FUNCTION], owner == PROFILE_NONE ? "(outside functions)" : r->acting.names[owner].name);
    if ((r->by == WAITS_BY_PATH || r->by == WAITS_BY_OBJECT) && w->node != PROFILE_NONE) {
        char *path = cause_path_text(&r->acting, w->node, r->limits->path);
        cell_text(&cells[CAUSE_PATH], path);
        free(path);
    }
}

static int cause_compare_rows(const void *a, const void *b)
{
    const struct cause_row *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return cause_compare_waits(x->first, y->first);
}

static void cause_add_rows(struct cause_rows *r, struct table *t)
{
    uint64_t *elapsed = cause_find_elapsed(r);
    const size_t shown = smaller(r->count, r->limits->rows);
    t->hidden_rows = r->count - shown;
    for (size_t i = 0; i < shown; i++) {
        const struct cause_row *row = &r->list[i];
        struct cell *cells = table_row(t);
        cause_fill_waiting(r, row, cells);
        cause_fill_object(r, row, cells);
        cause_fill_cause(r, row, cells);
        if (r->causes->counted) {
            cell_number(&cells[WAITS], row->count);
            cell_number(&cells[LONGEST], row->longest);
        }
        cell_number(&cells[TOTAL], row->total);
        cell_percent(&cells[SHARE], percent_of(row->total, elapsed[i]));
    }
    free(elapsed);
}

/* Rows keep their numbers until the waiters are sorted. */
static void cause_sort_rows(struct cause_rows *r)
{
    uint32_t *places = need_memory(r->count + 1, sizeof *places);
    struct cause_row *sorted = need_memory(r->count + 1, sizeof *sorted);
    for (size_t i = 0; i < r->count; i++) {
        sorted[i] = r->list[i];
        sorted[i].count = i;
    }
    if (r->count)
        qsort(sorted, r->count, sizeof *sorted, cause_compare_rows);
    for (size_t i = 0; i < r->count; i++) {
        places[sorted[i].count] = (uint32_t)i;
        sorted[i].count = r->list[sorted[i].count].count;
    }
    for (size_t i = 0; i < r->waiter_count; i++)
        r->waiters[i].row = places[r->waiters[i].row];
    for (size_t i = 0; r->limits->of_wait && i < r->causes->count; i++) {
        const uint32_t place = places[r->limits->of_wait[i]];
        r->limits->of_wait[i] = place < r->limits->rows ? place : UINT32_MAX;
    }
    free(r->list);
    free(places);
    r->list = sorted;
}

/* Several tables of the same waits number them in one order. */
static void cause_sort_waits(const struct wait_causes *causes)
{
    for (size_t i = 1; i < causes->count; i++)
        if (cause_compare_waits(&causes->list[i - 1], &causes->list[i]) > 0) {
            qsort(causes->list, causes->count, sizeof *causes->list, cause_compare_waits);
            return;
        }
}

struct table view_causes_limited(const struct analysis *analysis, const struct wait_causes *causes, enum waits_by by,
                                 const struct cause_limits *limits)
{
    static const char *const usual[] = { "share_percent", "max", "cause", "thread", "cause_thread", "waits", NULL };
    static const char *const threads[] = { "cause", "cause_thread", "max", "waits", "share_percent", NULL };
    static const char *const wakers[] = { "share_percent", "max", "thread", "waits", "cause", NULL };
    struct table t = table_make(view_causes_columns, COLUMN_COUNT, &analysis->summary);
    struct cause_rows r = { .loaded = analysis, .causes = causes, .by = by, .limits = limits };
    t.second_name = CAUSE_FUNCTION;
    t.optional = by == WAITS_BY_THREAD ? threads : by == WAITS_BY_WAKER ? wakers : usual;
    r.objects = object_names_new(analysis->file);
    r.changes = code_changes_new(analysis->file);
    r.makers = namer_new(analysis->file);
    r.waiting = cause_paths_of(&r.numbers, causes->waiting, causes->waiting_names);
    r.acting = cause_paths_of(&r.numbers, causes->acting, causes->acting_names);
    cause_sort_waits(causes);
    for (size_t i = 0; i < causes->count; i++) {
        const uint32_t number = cause_add_wait(&r, &causes->list[i]);
        if (limits->of_wait)
            limits->of_wait[i] = number;
    }
    cause_sort_rows(&r);
    cause_add_rows(&r, &t);
    cause_paths_drop(&r.waiting);
    cause_paths_drop(&r.acting);
    object_names_free(r.objects);
    code_changes_free(r.changes);
    namer_free(r.makers);
    cause_path_numbers_drop(&r.numbers);
    intern_drop(&r.keys);
    free(r.list);
    free(r.waiters);
    return t;
}

struct table view_causes(const struct analysis *analysis, const struct wait_causes *causes, enum waits_by by)
{
    static const struct cause_limits none = { SIZE_MAX, SIZE_MAX, NULL };
    return view_causes_limited(analysis, causes, by, &none);
}
