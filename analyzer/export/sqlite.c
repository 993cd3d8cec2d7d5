/* A SQLite database with the whole call tree in tables, and views that reproduce the reports. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "base/index.h"
#include "base/memory.h"
#include "export/database.h"
#include "export/formats.h"
#include "export/sqlite_schema.h"
#include "export/sqlite_timing.h"
#include "export/sqlite_values.h"
#include "trace/activities.h"

struct sqlite_writer {
    struct order_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    struct database *database;
    sqlite3_stmt *insert;
    int64_t thread;  /* the thread whose paths are being written */
    uint32_t *paths; /* by node, the number of its path */
    uint32_t last_path;
    uint32_t *open_functions, *open_modules; /* numbers of open calls */
    struct number_index *call_table;         /* (callee, caller) -> index in open_calls */
    struct number_index *thread_numbers;     /* (thread, process) -> its number in the database */
    uint32_t *open_calls;
    size_t call_count, call_room;
};

/* ---- session, processes, threads, modules, functions ---- */

static void sqlite_write_session(const struct sqlite_writer *w)
{
    const struct summary *summary = &w->session->summary;
    const struct dwell_file_header *h = &w->session->file->header;
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    database_insert(w->database, insert, summary->application_known ? "ttiziiiiiiiiiii" : "ttiziiniiiiiiii",
                    summary->path, "dwell " DWELL_VERSION_TEXT, (int64_t)h->start_realtime,
                    (int64_t)(h->end_ticks > h->start_ticks ? h->end_ticks - h->start_ticks : 0),
                    (int64_t)summary->ticks_per_second, (int64_t)summary->elapsed_inclusive,
                    (int64_t)summary->application_inclusive, (int64_t)summary->application_known,
                    (int64_t)summary->off_cpu_known, (int64_t)summary->overhead_known, (int64_t)summary->os_events,
                    (int64_t)summary->events, (int64_t)summary->lost_events, (int64_t)summary->stack_samples,
                    (int64_t)summary->samples_in_probes);
    sqlite3_finalize(insert);
    insert = database_prepare(w->database, "INSERT INTO remark VALUES (?)");
    for (size_t i = 0; i < summary->remark_count; i++)
        database_insert(w->database, insert, "t", summary->remarks[i]);
    sqlite3_finalize(insert);
}

static void sqlite_write_processes(const struct sqlite_writer *w)
{
    size_t count;
    uint32_t *list = rollup_process_list(w->session->profile, &count);
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO process VALUES (?,?,?,?,?,?)");
    for (size_t i = 0; i < count; i++) {
        const struct trace_process *p = session_file_process(w->session->file, list[i]);
        char *name = names_module(p ? p->path : "");
        database_insert(w->database, insert, "izzttt", (int64_t)list[i], (int64_t)(p ? p->pid : 0),
                        (int64_t)(p ? p->parent_pid : 0), name, p ? p->path : "", p ? p->arguments : "");
        free(name);
    }
    sqlite3_finalize(insert);
    free(list);
}

static void sqlite_write_threads(struct sqlite_writer *w)
{
    const struct profile *p = w->session->profile;
    w->thread_numbers = index_new();
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO thread VALUES (?,?,?,?,?)");
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct profile_thread *thread = &p->threads[w->order->threads[i]];
        const struct trace_thread *t = session_file_thread(w->session->file, thread->thread);
        database_insert(w->database, insert, "iiztt", (int64_t)i + 1, (int64_t)thread->process,
                        (int64_t)(t ? t->tid : 0), t && t->name[0] ? t->name : "[unknown]",
                        analysis_thread_name(w->session, thread->thread));
        struct index_slot *slot = index_find(w->thread_numbers, thread->thread, thread->process);
        if (!slot->value_plus_1)
            index_set(w->thread_numbers, slot, thread->thread, thread->process, (uint32_t)i);
    }
    sqlite3_finalize(insert);
}

static void sqlite_write_modules(const struct sqlite_writer *w)
{
    const struct profile *p = w->session->profile;
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO module VALUES (?,?,?,?)");
    for (size_t i = 0; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[w->order->modules[i]];
        char *name = names_module(m->path), *id = need_hex(m->build_id, m->build_id_length);
        database_insert(w->database, insert, "ittt", (int64_t)i + 1, name, m->path, id);
        free(name);
        free(id);
    }
    sqlite3_finalize(insert);
}

static void sqlite_write_functions(const struct sqlite_writer *w)
{
    const struct profile *p = w->session->profile;
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO function VALUES (?,?,?,?,?,?,?)");
    for (size_t i = 0; i < p->function_count; i++) {
        const struct profile_function *f = &p->functions[w->order->functions[i]];
        const struct function_name *name = &w->session->names[w->order->functions[i]];
        database_insert(w->database, insert, "ittiztz", (int64_t)i + 1, name->name, name->linkage_name,
                        (int64_t)w->order->module_ranks[f->module] + 1,
                        function_has_address(w->session, w->order->functions[i]) ? (int64_t)f->offset : (int64_t)0,
                        name->file, (int64_t)name->line);
    }
    sqlite3_finalize(insert);
}

/* ---- call paths ---- */

enum { PATH_COLUMNS = 15 }; /* before its values */

/* The number of open calls of the node's function by the same caller. */
static uint32_t *sqlite_open_calls(struct sqlite_writer *w, uint32_t node)
{
    const struct profile *p = w->session->profile;
    const uint32_t callee = p->nodes[node].function, caller = p->nodes[p->nodes[node].parent].function;
    struct index_slot *slot = index_find(w->call_table, caller, callee);
    if (slot->value_plus_1)
        return &w->open_calls[slot->value_plus_1 - 1];
    GROW(w->open_calls, w->call_count, w->call_room);
    w->open_calls[w->call_count] = 0;
    index_set(w->call_table, slot, caller, callee, (uint32_t)w->call_count);
    return &w->open_calls[w->call_count++];
}

static void sqlite_write_path(struct order_visitor *visitor, uint32_t index)
{
    struct sqlite_writer *w = (struct sqlite_writer *)visitor;
    const struct profile *p = w->session->profile;
    const struct profile_node *node = &p->nodes[index];
    const struct times *t = &w->session->rollup->nodes[index];
    const int64_t first_of_function = w->open_functions[node->function]++ == 0;
    const int64_t first_of_module = w->open_modules[p->functions[node->function].module]++ == 0;
    const int64_t first_of_call = (*sqlite_open_calls(w, index))++ == 0;
    const bool sampled = node->site == PROFILE_SAMPLED;
    const char limits = t->shortest <= t->longest ? 'i' : 'n';
    w->paths[index] = ++w->last_path;
    int64_t row[PATH_COLUMNS + MAX_PATH_VALUES] = {
        w->last_path,
        visitor->depth > 1 ? w->paths[node->parent] : 0,
        w->thread,
        w->order->ranks[node->function] + 1,
        visitor->depth,
        (int64_t)t->calls,
        (int64_t)t->shortest,
        (int64_t)t->longest,
        first_of_function,
        first_of_module,
        first_of_call,
        sampled,
        (int64_t)t->samples,
        (int64_t)times_error(t, VALUE_ELAPSED, INCLUSIVE),
        (int64_t)times_error(t, VALUE_ELAPSED, EXCLUSIVE),
    };
    char kinds[PATH_COLUMNS + MAX_PATH_VALUES + 1] = {
        'i', 'z', 'i', 'i', 'i', sampled ? 'n' : 'i', limits, limits, 'i', 'i', 'i', 'i', 'i', 'z', 'z',
    };
    memset(kinds + PATH_COLUMNS, 'i', sqlite_list_path_values(row + PATH_COLUMNS, t));
    database_insert_numbers(w->database, w->insert, kinds, row);
}

static void sqlite_leave_path(struct order_visitor *visitor, uint32_t index)
{
    struct sqlite_writer *w = (struct sqlite_writer *)visitor;
    const struct profile *p = w->session->profile;
    w->open_functions[p->nodes[index].function]--;
    w->open_modules[p->functions[p->nodes[index].function].module]--;
    (*sqlite_open_calls(w, index))--;
}

static sqlite3_stmt *sqlite_prepare_path(struct database *d)
{
    char places[2 * (PATH_COLUMNS + MAX_PATH_VALUES)] = "?";
    const struct times none = times_of_nothing();
    int64_t list[MAX_PATH_VALUES];
    for (size_t i = 1; i < PATH_COLUMNS + sqlite_list_path_values(list, &none); i++)
        memcpy(places + 2 * i - 1, ",?", sizeof ",?");
    char *sql = need_text("INSERT INTO path VALUES (%s)", places);
    sqlite3_stmt *statement = database_prepare(d, sql);
    free(sql);
    return statement;
}

static void sqlite_write_paths(struct sqlite_writer *w)
{
    const struct profile *p = w->session->profile;
    w->paths = need_memory(p->node_count + 1, sizeof *w->paths);
    w->open_functions = need_memory(p->function_count + 1, sizeof *w->open_functions);
    w->open_modules = need_memory(p->module_count + 1, sizeof *w->open_modules);
    w->call_table = index_new();
    w->insert = sqlite_prepare_path(w->database);
    for (size_t i = 0; i < p->thread_count; i++) {
        w->thread = (int64_t)i + 1;
        order_walk(w->order, &p->threads[w->order->threads[i]], &w->visitor);
    }
    sqlite3_finalize(w->insert);
    index_free(w->call_table);
    free(w->open_functions);
    free(w->open_modules);
    free(w->open_calls);
}

/* ---- marks and activities ---- */

/* The thread's number in the database; 0, which becomes NULL, if it has no calls. */
static int64_t sqlite_thread_number(const struct sqlite_writer *w, uint32_t process, uint32_t thread)
{
    return index_find(w->thread_numbers, thread, process)->value_plus_1;
}

static int64_t sqlite_since_start(const struct sqlite_writer *w, uint64_t time)
{
    const uint64_t start = w->session->file->header.start_ticks;
    return time > start ? (int64_t)(time - start) : 0;
}

static void sqlite_write_marks(const struct sqlite_writer *w)
{
    const struct profile *p = w->session->profile;
    struct profile_mark *marks = need_memory(p->mark_count + 1, sizeof *marks);
    if (p->mark_count) {
        memcpy(marks, p->marks, p->mark_count * sizeof *marks);
        qsort(marks, p->mark_count, sizeof *marks, profile_compare_marks);
    }
    const uint64_t start = w->session->file->header.start_ticks;
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO mark VALUES (?,?,?,?,?,?,?)");
    for (size_t i = 0; i < p->mark_count; i++) {
        const uint64_t previous = i ? marks[i - 1].time : start < marks[i].time ? start : marks[i].time;
        database_insert(w->database, insert, "iiiizzt", (int64_t)i + 1, sqlite_since_start(w, marks[i].time),
                        (int64_t)(marks[i].time - previous), (int64_t)marks[i].number,
                        sqlite_thread_number(w, marks[i].process, marks[i].thread), (int64_t)w->paths[marks[i].node],
                        marks[i].text);
    }
    sqlite3_finalize(insert);
    free(marks);
}

static void sqlite_write_activity(const struct sqlite_writer *w, sqlite3_stmt *insert, int64_t number,
                                  const struct trace_activity *a, const char *function)
{
    database_insert(w->database, insert, a->marker ? "iitizziiit" : "iitnzziiit", number, (int64_t)a->marker, a->name,
                    (int64_t)a->number, sqlite_thread_number(w, a->first->process, a->first->thread),
                    sqlite_thread_number(w, a->last->process, a->last->thread), sqlite_since_start(w, a->first->time),
                    (int64_t)(a->last->time - a->first->time), (int64_t)(a->first->time - a->start->time), function);
}

static void sqlite_write_activities(const struct sqlite_writer *w)
{
    struct activities list = activities_read(w->session->file);
    struct namer *namer = namer_new(w->session->file);
    sqlite3_stmt *insert = database_prepare(w->database, "INSERT INTO activity VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < list.count; i++) {
        const struct trace_event *first = list.list[i].first;
        if (!selection_holds(w->session->selection, first->time) ||
            !selection_holds_event(w->session->selection, first->thread, first->time) ||
            !selection_takes(w->session->selection, w->session->file, first->process, first->thread))
            continue;
        sqlite_write_activity(
            w, insert, (int64_t)i + 1, &list.list[i],
            first->frames ? namer_find(namer, first->process, trace_event_frame(first, 0), first->time) : NULL);
    }
    sqlite3_finalize(insert);
    namer_free(namer);
    activities_free(&list);
}

bool export_sqlite(const struct analysis *session, const struct export_options *options, const char *path,
                   struct error *error)
{
    struct database database = database_begin(path, error);
    struct order *order = order_new(session);
    struct sqlite_writer w = {
        .visitor = { .enter = sqlite_write_path, .leave = sqlite_leave_path },
        .session = session,
        .order = order,
        .database = &database,
    };
    sqlite_make_tables(&database);
    sqlite_write_session(&w);
    sqlite_write_processes(&w);
    sqlite_write_threads(&w);
    sqlite_write_modules(&w);
    sqlite_write_functions(&w);
    sqlite_write_paths(&w);
    sqlite_write_timing(&database, session, order);
    sqlite_write_marks(&w);
    sqlite_write_activities(&w);
    if (options->values)
        sqlite_write_values(&database, session, options->values, order, w.thread_numbers);
    sqlite_make_views(&database, &session->summary);
    free(w.paths);
    index_free(w.thread_numbers);
    order_free(order);
    return database_end(&database);
}
