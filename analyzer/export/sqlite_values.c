/* Writes each completed call that has recorded values, with its times, and the values themselves. */
#include "export/sqlite_values.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "profile/call_scan.h"
#include "profile/path_probes.h"
#include "tables/value_args.h"

/* What a worker finds. */
struct valued_list {
    const struct value_args *values;
    struct valued_entry {
        struct finished_call call;
        const struct recorded_row *row;
    } * list;
    size_t count, room;
};

static void valued_take_call(void *context, const struct finished_call *call)
{
    struct valued_list *l = context;
    const struct recorded_row *row =
        call->function == PROFILE_NONE ? NULL : value_args_of(l->values, call->function, call->thread, call->begin);
    if (!row)
        return;
    GROW(l->list, l->count, l->room);
    l->list[l->count++] = (struct valued_entry){ *call, row };
}

/* By thread and time. Of equal times, the outer call comes first. */
static int valued_compare(const void *a, const void *b)
{
    const struct finished_call *x = &((const struct valued_entry *)a)->call,
                               *y = &((const struct valued_entry *)b)->call;
    const int order = ORDER_BY(x, y, thread, begin);
    return order ? order : -ORDER_BY(x, y, end, function);
}

/* The calls of all workers are those of the first one afterwards. */
static struct valued_list valued_find(const struct analysis *session, const struct value_args *values)
{
    const unsigned jobs = analysis_jobs(session);
    struct valued_list *lists = need_memory(jobs, sizeof *lists);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        lists[i].values = values;
        contexts[i] = &lists[i];
    }
    analysis_scan_calls(session, PROFILE_NONE, valued_take_call, contexts);
    struct valued_list all = lists[0];
    for (unsigned i = 1; i < jobs; i++) {
        for (size_t j = 0; j < lists[i].count; j++) {
            GROW(all.list, all.count, all.room);
            all.list[all.count++] = lists[i].list[j];
        }
        free(lists[i].list);
    }
    if (all.count)
        qsort(all.list, all.count, sizeof *all.list, valued_compare);
    free(contexts);
    free(lists);
    return all;
}

static void valued_write_value(struct database *d, sqlite3_stmt *insert, int64_t call, const struct value_arg *arg)
{
    switch (arg->kind) {
    case VALUE_ARG_UNREADABLE:
        database_insert(d, insert, "itn", call, arg->name, (int64_t)0);
        break;
    case VALUE_ARG_REAL:
        if (isnan(arg->real)) /* which SQL would take for NULL */
            database_insert(d, insert, "itt", call, arg->name, arg->text);
        else
            database_insert(d, insert, "itr", call, arg->name, arg->real);
        break;
    case VALUE_ARG_BOOL:
        database_insert(d, insert, "iti", call, arg->name, (int64_t)(arg->word != 0));
        break;
    case VALUE_ARG_SIGNED:
        database_insert(d, insert, "iti", call, arg->name, (int64_t)arg->word);
        break;
    case VALUE_ARG_UNSIGNED:
        if (arg->word <= INT64_MAX) {
            database_insert(d, insert, "iti", call, arg->name, (int64_t)arg->word);
            break;
        }
        /* fall through */ /* SQL has no such number */
    case VALUE_ARG_TEXT:
        database_insert(d, insert, "itt", call, arg->name, arg->text);
        break;
    }
}

static void valued_write_values(struct database *d, sqlite3_stmt *insert, int64_t call, const struct value_args *values,
                                const struct recorded_row *row)
{
    for (uint32_t i = 0; i < value_args_count(values, row); i++) {
        const struct value_arg arg = value_args_get(values, row, i);
        valued_write_value(d, insert, call, &arg);
        free(arg.text);
    }
}

static void valued_write_calls(struct database *d, const struct analysis *session, const struct valued_list *calls,
                               const struct order *order, const struct number_index *thread_numbers)
{
    const uint64_t start = session->file->header.start_ticks;
    const char *kinds = session->summary.off_cpu_known ? "iziiiii" : "iziiinn";
    sqlite3_stmt *insert = database_prepare(d, "INSERT INTO valued_call VALUES (?,?,?,?,?,?,?)");
    sqlite3_stmt *insert_value = database_prepare(d, "INSERT INTO call_value VALUES (?,?,?)");
    for (size_t i = 0; i < calls->count; i++) {
        const struct finished_call *call = &calls->list[i].call;
        database_insert(d, insert, kinds, (int64_t)i + 1,
                        (int64_t)index_find(thread_numbers, call->thread, call->process)->value_plus_1,
                        (int64_t)order->ranks[call->function] + 1,
                        (int64_t)(call->begin > start ? call->begin - start : 0),
                        (int64_t)call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]),
                        (int64_t)call_ticks(call->times[CALL_ELAPSED_INCLUSIVE] - call->off_cpu),
                        (int64_t)call_ticks(call->blocked));
        valued_write_values(d, insert_value, (int64_t)i + 1, calls->values, calls->list[i].row);
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(insert_value);
}

void sqlite_write_values(struct database *d, const struct analysis *session, const struct recorded_values *values,
                         const struct order *order, const struct number_index *thread_numbers)
{
    struct value_args args = value_args_begin(session, values);
    struct valued_list calls = valued_find(session, &args);
    database_run(d, "CREATE TABLE valued_call (id INTEGER PRIMARY KEY, thread INTEGER REFERENCES thread,"
                    " function INTEGER REFERENCES function, time_ticks INTEGER, elapsed_inclusive_ticks INTEGER,"
                    " cpu_inclusive_ticks INTEGER, blocked_inclusive_ticks INTEGER)");
    database_run(d, "CREATE TABLE call_value (call INTEGER REFERENCES valued_call, name TEXT, value)");
    valued_write_calls(d, session, &calls, order, thread_numbers);
    database_run(d, "CREATE INDEX call_value_by_call ON call_value (call)");
    free(calls.list);
    value_args_end(&args);
}
