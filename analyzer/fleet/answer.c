/* Asks for sums and names, and makes a profile of them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/load_part.h"
#include "base/memory.h"
#include "fleet/answer_part.h"

struct answer answer_begin(const struct fleet_store *store, const struct fleet_run *runs, size_t count, bool each,
                           struct error *error)
{
    return (struct answer){
        .store = store,
        .error = error,
        .rows = fleet_runs_sql(runs, count),
        .place = each ? fleet_runs_place_sql(runs, count) : NULL,
        .module_places = index_new(),
        .places = index_new(),
        .functions = index_new(),
    };
}

void answer_forget(struct answer *a)
{
    index_free(a->module_places);
    index_free(a->places);
    index_free(a->functions);
    for (size_t i = 0; i < a->module_count; i++) {
        free(a->modules[i].path);
        free(a->modules[i].build_id);
    }
    for (size_t i = 0; i < a->name_count; i++)
        names_drop(&a->names[i].name);
    free(a->modules);
    free(a->names);
    free(a->rows);
    free(a->place);
    free(a->modules_named);
    free(a->functions_named);
}

bool answer_end(const struct answer *a, struct binary_reader *r)
{
    return fleet_end_answer(a->store, r, a->error);
}

/* ---- an analysis of all runs ---- */

/* One run has its file's name, as in messages and comparisons. */
void answer_open(struct answer *a, struct analysis *l, const struct fleet_run *runs, size_t count)
{
    char *name = count == 1 ? need_copy(runs->file, strlen(runs->file)) : need_text("%zu runs", count);
    load_begin_several(l, name);
    free(name);
    l->names = need_memory(1, sizeof *l->names);
    a->l = l;
    for (size_t i = 0; i < a->module_count; i++)
        a->modules[i].number = PROFILE_NONE;
}

void answer_summarize(struct analysis *l, const struct fleet_run *runs, size_t count)
{
    struct summary *parts = need_memory(count, sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct summary){
            .path = runs[i].file,
            .application_known = runs[i].knows & NEEDS_APPLICATION,
            .off_cpu_known = runs[i].knows & NEEDS_OFF_CPU,
            .overhead_known = runs[i].knows & NEEDS_OVERHEAD,
            .stack_samples = runs[i].stack_samples,
            .samples_in_probes = runs[i].samples_in_probes,
            .os_events = runs[i].os_events,
            .threads = runs[i].threads,
            .processes = runs[i].processes,
            .events = runs[i].events,
            .lost_events = runs[i].lost_events,
            .remarks = runs[i].remarks.list,
            .loss_count = runs[i].losses,
            .remark_count = runs[i].remarks.count,
        };
    load_summarize_several(l, parts, count);
    l->summary.imported = false;
    free(parts);
}

/* The analysis is dropped if it failed. */
static bool answer_finish(struct answer *a, bool good)
{
    if (!good)
        analysis_drop(a->l);
    answer_forget(a);
    return good;
}

/* The sums are read once, and the names of their rows afterwards: the server reads many sums, and few names. */
static bool answer_read_sums(struct answer *a, enum rollup_by by, struct times *session)
{
    FILE *answer = answer_ask_sums(a, by);
    if (!answer)
        return false;
    answer_want_rows(a, answer, 0, ANSWER_SUMS_BYTES);
    if (!answer_read_modules(a) || (by == BY_FUNCTION && !answer_read_functions(a))) {
        fclose(answer);
        return false;
    }
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        const struct answer_sum sum = answer_get_sum(&r, by);
        answer_add_sum(a, &sum, by, session);
    }
    return answer_end(a, &r);
}

bool fleet_answer_sums(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                       enum rollup_by by, struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    struct times session = times_of_nothing();
    answer_open(&a, l, runs, count);
    if (!answer_read_sums(&a, by, &session))
        return answer_finish(&a, false);
    answer_close_sums(l, &session);
    answer_summarize(l, runs, count);
    return answer_finish(&a, true);
}

static bool answer_read_paths(struct answer *a)
{
    FILE *answer = answer_ask_paths(a);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    struct number_index *nodes = index_new();
    const uint32_t root = profile_root(a->l->profile, 0, 0);
    bool good = true;
    while (good && binary_has_row(&r))
        good = answer_read_path(a, &r, root, nodes);
    index_free(nodes);
    return answer_end(a, &r) && good;
}

bool fleet_answer_paths(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                        const struct analysis_options *options, struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    answer_open(&a, l, runs, count);
    answer_want_all(&a);
    if (!answer_read_modules(&a) || !answer_read_functions(&a) || !answer_read_paths(&a))
        return answer_finish(&a, false);
    load_join(l, options);
    answer_summarize(l, runs, count);
    return answer_finish(&a, true);
}

/* ---- sums of parts ---- */

enum { PARTS_BYTES = 8 * 3 }; /* of a row, after the module and the function */

static struct number_index *answer_list_runs(const struct fleet_run *runs, size_t count)
{
    struct number_index *list = index_new();
    for (size_t i = 0; i < count; i++)
        answer_keep(list, runs[i].run, (uint32_t)i);
    return list;
}

static const char *const answer_times_sql[] = {
    [FLEET_CPU] = "elapsed - blocked - preempted", [FLEET_ELAPSED] = "elapsed", [FLEET_BLOCKED] = "blocked"
};

bool fleet_answer_run_times(const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                            enum fleet_time time, uint64_t *times, struct error *error)
{
    char *rows = fleet_runs_sql(runs, count);
    FILE *answer = fleet_ask(store, error,
                             "SELECT run, toUInt64(sum(%s)) FROM %s.sums_%d WHERE %s AND module != 0 GROUP BY run "
                             "FORMAT RowBinary",
                             answer_times_sql[time], store->database, FLEET_VERSION, rows);
    free(rows);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    struct number_index *list = answer_list_runs(runs, count);
    memset(times, 0, count * sizeof *times);
    while (binary_has_row(&r)) {
        const uint32_t run = answer_find(list, binary_get(&r, 8));
        const uint64_t sum = binary_get(&r, 8);
        r.broken |= run == PROFILE_NONE;
        if (!r.broken)
            times[run] += sum;
    }
    index_free(list);
    return fleet_end_answer(store, &r, error);
}

static bool answer_has_key(const struct number_index *runs, enum fleet_key key, uint64_t number)
{
    return key == FLEET_BY_DAY ? number <= UINT16_MAX : answer_find(runs, number) != PROFILE_NONE;
}

static bool answer_read_parts(struct answer *a, struct binary_reader *r, const struct number_index *runs,
                              enum fleet_key key, fleet_part_taker *take, void *context)
{
    while (binary_has_row(r)) {
        const uint64_t module = binary_get(r, 8), number = binary_get(r, 8);
        struct fleet_part part = { .key = binary_get(r, 8) };
        part.calls = binary_get(r, 8);
        part.time = binary_get(r, 8);
        r->broken |= !answer_has_key(runs, key, part.key);
        if (r->broken)
            break;
        part.function = answer_numbered(a, module, number);
        take(context, &part);
    }
    return answer_end(a, r);
}

/* The condition of large functions in SQL. The server adds nothing up for it, which takes longest if there are many
 * runs: a function with a share of a run has that share, divided by the number of the run's parts, in one row. */
static char *answer_large_sql(const struct answer *a, const struct fleet_run *runs, size_t count, enum fleet_time time,
                              const struct fleet_large *large)
{
    char *divisor = fleet_runs_divisor_sql(runs, count, large->run_times);
    size_t parts = 1;
    for (size_t i = 0; i < count; i++)
        parts = runs[i].part_count > parts ? runs[i].part_count : parts;
    char *sql = need_text("function GLOBAL IN (SELECT function FROM %s.sums_%d WHERE %s AND module != 0 "
                          "GROUP BY function HAVING max((%s) / %s) * %zu >= %u)",
                          a->store->database, FLEET_VERSION, a->rows, answer_times_sql[time], divisor, 1000 * parts,
                          large->thousandths);
    free(divisor);
    return sql;
}

static FILE *answer_ask_parts(const struct answer *a, const struct fleet_run *runs, size_t count, enum fleet_key key,
                              enum fleet_time time, const struct fleet_large *large)
{
    static const char *const keys[] = { [FLEET_BY_RUN] = "run", [FLEET_BY_DAY] = "day" };
    char *wanted = large ? answer_large_sql(a, runs, count, time, large) : need_text("1");
    FILE *answer =
        fleet_ask(a->store, a->error,
                  "SELECT module, function, toUInt64(%s) AS key, sum(calls), toUInt64(sum(%s)) FROM %s.sums_%d "
                  "WHERE %s AND %s AND module != 0 GROUP BY module, function, key ORDER BY module, function, key "
                  "FORMAT RowBinary",
                  keys[key], answer_times_sql[time], a->store->database, FLEET_VERSION, a->rows, wanted);
    free(wanted);
    return answer;
}

bool fleet_answer_parts(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                        enum fleet_key key, enum fleet_time time, const struct fleet_large *large,
                        fleet_part_taker *take, void *context, struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    answer_open(&a, l, runs, count);
    FILE *answer = answer_ask_parts(&a, runs, count, key, time, large);
    if (!answer)
        return answer_finish(&a, false);
    answer_want_rows(&a, answer, 0, PARTS_BYTES);
    if (!answer_read_modules(&a) || !answer_read_functions(&a)) {
        fclose(answer);
        return answer_finish(&a, false);
    }
    struct binary_reader r = { .in = answer };
    struct number_index *list = answer_list_runs(runs, count);
    const bool good = answer_read_parts(&a, &r, list, key, take, context);
    index_free(list);
    return answer_finish(&a, good);
}
