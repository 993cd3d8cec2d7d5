/* Asks for the sums of functions in each run or on each day, of all builds together or of each. */
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/answer_part.h"

enum { FOUND_LISTED = 8 };

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
                             answer_times_sql[time], store->database, FLEET_TABLES, rows);
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

/* ---- which functions are wanted ---- */

/* The condition of large functions in SQL. The server adds nothing up for it, which takes longest if there are many
 * runs: a function with a share of a run has that share, divided by the number of the run's parts, in one row. */
static char *answer_large_sql(const struct answer *a, const struct fleet_run *runs, size_t count,
                              const struct fleet_wanted *wanted)
{
    char *divisor = fleet_runs_divisor_sql(runs, count, wanted->large->run_times);
    size_t parts = 1;
    for (size_t i = 0; i < count; i++)
        parts = runs[i].part_count > parts ? runs[i].part_count : parts;
    char *sql = need_text("function GLOBAL IN (SELECT function FROM %s.sums_%d WHERE %s AND module != 0 "
                          "GROUP BY function HAVING max((%s) / %s) * %zu >= %u)",
                          a->store->database, FLEET_TABLES, a->rows, answer_times_sql[wanted->time], divisor,
                          1000 * parts, wanted->large->thousandths);
    free(divisor);
    return sql;
}

/* Of a function that is large in one build, all builds are wanted. So are functions that share their name with others
 * of their module, as together they may be large. */
static char *answer_named_sql(const struct answer *a, char *large)
{
    const char *database = a->store->database;
    char *sql = need_text(
        "(function GLOBAL IN (SELECT function FROM %s.functions_%d WHERE name GLOBAL IN (SELECT name FROM "
        "%s.functions_%d WHERE %s)) OR function GLOBAL IN (SELECT arrayJoin(numbers) FROM (SELECT "
        "groupUniqArray(function) AS numbers FROM %s.functions_%d WHERE module GLOBAL IN (SELECT DISTINCT module FROM "
        "%s.sums_%d WHERE %s) GROUP BY module, name HAVING length(numbers) > 1)))",
        database, FLEET_TABLES, database, FLEET_TABLES, large, database, FLEET_TABLES, database, FLEET_TABLES, a->rows);
    free(large);
    return sql;
}

/* The copies of one function, whatever their numbers are. */
static char *answer_found_sql(const struct answer *a, const uint32_t *found, size_t count)
{
    char *sql;
    size_t length;
    FILE *out = need_stream(&sql, &length);
    fprintf(out, "function GLOBAL IN (SELECT function FROM %s.functions_%d WHERE (module, address) IN (",
            a->store->database, FLEET_TABLES);
    for (size_t i = 0; i < count; i++) {
        const struct answer_name *n = &a->names[found[i]];
        fprintf(out, "%s(%llu,%llu)", i ? "," : "", (unsigned long long)n->module, (unsigned long long)n->address);
    }
    fputs("))", out);
    need_stream_end(out);
    return sql;
}

static uint32_t answer_intern_name(struct intern *names, const struct analysis *analysis, uint32_t function)
{
    const struct function_name *n = &analysis->names[function];
    return intern_pair(names, n->name, n->module, strlen(n->module));
}

/* Functions of the same name and module are one function in several builds. */
static bool answer_check_found(const struct analysis *analysis, const char *text, const uint32_t *found, size_t count,
                               struct error *error)
{
    struct intern names = { 0 };
    for (size_t i = 0; i < count; i++)
        answer_intern_name(&names, analysis, found[i]);
    const size_t others = names.count;
    intern_drop(&names);
    if (others < 2)
        return true;
    error_set(error, "'%s' names %zu functions; type one of:", text, others);
    for (size_t i = 0; i < count && names.count < FOUND_LISTED; i++) {
        const size_t before = names.count;
        answer_intern_name(&names, analysis, found[i]);
        if (names.count > before)
            error_list(error, "  %s@%s", analysis->names[found[i]].name, analysis->names[found[i]].module);
    }
    if (others > FOUND_LISTED)
        error_list(error, "  and %zu more", others - FOUND_LISTED);
    intern_drop(&names);
    return false;
}

/* Finds the function among the names of all that were recorded. Returns the condition of its copies, or NULL. */
static char *answer_find_named(struct answer *a, const char *text)
{
    char *sql = NULL;
    answer_want_all(a);
    if (!answer_read_modules(a) || !answer_read_functions(a))
        return NULL;
    uint32_t *places = need_memory(a->name_count + 1, sizeof *places);
    for (size_t i = 0; i < a->name_count; i++)
        places[answer_function(a, a->names[i].module, a->names[i].address)] = (uint32_t)i;
    size_t count;
    uint32_t *found = function_find_all(a->analysis, text, &count);
    if (!count) {
        uint32_t none;
        function_find(a->analysis, text, &none, a->error);
    } else if (answer_check_found(a->analysis, text, found, count, a->error)) {
        for (size_t i = 0; i < count; i++)
            found[i] = places[found[i]];
        sql = answer_found_sql(a, found, count);
    }
    free(found);
    free(places);
    return sql;
}

static char *answer_wanted_sql(struct answer *a, const struct fleet_run *runs, size_t count,
                               const struct fleet_wanted *wanted)
{
    if (wanted->function)
        return answer_find_named(a, wanted->function);
    if (!wanted->large)
        return need_text("1");
    char *large = answer_large_sql(a, runs, count, wanted);
    return wanted->builds_apart ? large : answer_named_sql(a, large);
}

/* ---- the rows ---- */

enum { PARTS_BYTES = 8 * 5 }; /* of a row, after the module and the function */

static const char *const answer_keys_sql[] = { [FLEET_BY_RUN] = "run", [FLEET_BY_DAY] = "day" };

static FILE *answer_ask_parts(const struct answer *a, const struct fleet_wanted *wanted, const char *functions)
{
    return fleet_ask(a->store, a->error,
                     "SELECT module, function, toUInt64(%s) AS key, sum(calls), toUInt64(sum(%s)), min(shortest), "
                     "max(longest) FROM %s.sums_%d WHERE %s AND %s AND module != 0 GROUP BY module, function, key "
                     "ORDER BY module, function, key FORMAT RowBinary",
                     answer_keys_sql[wanted->key], answer_times_sql[wanted->time], a->store->database, FLEET_TABLES,
                     a->rows, functions);
}

/* The rows of one function that follow each other in the answer. */
struct answer_span {
    uint64_t module, number;
    off_t at;
    size_t rows;
    uint32_t function, group;
};

struct answer_spans {
    struct answer_span *list;
    size_t count, room;
};

static struct answer_spans answer_find_spans(FILE *answer)
{
    struct answer_spans all = { NULL, 0, 0 };
    struct binary_reader r = { .in = answer };
    for (off_t at = 0; binary_has_row(&r); at += 8 + 8 + PARTS_BYTES) {
        const uint64_t module = binary_get(&r, 8), number = binary_get(&r, 8);
        struct answer_span *last = all.count ? &all.list[all.count - 1] : NULL;
        binary_skip(&r, PARTS_BYTES);
        if (last && last->module == module && last->number == number) {
            last->rows++;
            continue;
        }
        GROW(all.list, all.count, all.room);
        all.list[all.count++] = (struct answer_span){ .module = module, .number = number, .at = at, .rows = 1 };
    }
    rewind(answer);
    return all;
}

static int answer_compare_spans(const void *a, const void *b)
{
    const struct answer_span *x = a, *y = b;
    return x->group != y->group ? ORDER(x->group, y->group) : ORDER(x->at, y->at);
}

/* Puts the spans of one function of the report behind each other. The first one's function stands for all of them, as
 * `stand_ins` says by function. */
static void answer_group_spans(struct answer *a, struct answer_spans *all, bool builds_apart,
                               struct number_index *stand_ins)
{
    struct intern names = { 0 };
    for (size_t i = 0; i < all->count; i++) {
        struct answer_span *span = &all->list[i];
        span->function = answer_numbered(a, span->module, span->number);
        span->group = builds_apart ? span->function : answer_intern_name(&names, a->analysis, span->function);
    }
    intern_drop(&names);
    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, answer_compare_spans);
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t own = all->list[i].function;
        if (i && all->list[i].group == all->list[i - 1].group)
            all->list[i].function = all->list[i - 1].function;
        answer_keep(stand_ins, own, all->list[i].function);
    }
}

static void answer_read_span(struct binary_reader *r, const struct answer_span *span, const struct number_index *runs,
                             enum fleet_key key, fleet_part_taker *take, void *context)
{
    for (size_t i = 0; i < span->rows; i++) {
        binary_skip(r, 8 + 8);
        struct fleet_part part = { .key = binary_get(r, 8), .function = span->function };
        part.calls = binary_get(r, 8);
        part.time = binary_get(r, 8);
        part.least = binary_get(r, 8);
        part.most = binary_get(r, 8);
        r->broken |= !answer_has_key(runs, key, part.key);
        if (r->broken)
            return;
        take(context, &part);
    }
}

/* The answer is on a disk, so no rows are kept to bring those of one function together. */
static bool answer_read_parts(struct answer *a, FILE *answer, const struct number_index *runs,
                              const struct fleet_wanted *wanted, struct number_index *stand_ins, fleet_part_taker *take,
                              void *context)
{
    struct binary_reader r = { .in = answer };
    struct answer_spans all = answer_find_spans(answer);
    answer_group_spans(a, &all, wanted->builds_apart, stand_ins);
    off_t at = 0;
    for (size_t i = 0; i < all.count && !r.broken; i++) {
        const struct answer_span *span = &all.list[i];
        r.broken = span->at != at && fseeko(answer, span->at, SEEK_SET) != 0;
        at = span->at + (off_t)span->rows * (8 + 8 + PARTS_BYTES);
        answer_read_span(&r, span, runs, wanted->key, take, context);
    }
    free(all.list);
    return answer_end(a, &r);
}

/* Passes the durations of a function and key, and forgets them. */
static void answer_pass_durations(struct answer *a, const struct answer_part_counter *of,
                                  const struct number_index *stand_ins, fleet_durations_taker *take, void *context,
                                  struct durations **d)
{
    if (*d) {
        const uint32_t function = answer_find(stand_ins, answer_numbered(a, of->module, of->number));
        if (function != PROFILE_NONE)
            take(context, of->key, function, *d);
    }
    free(*d);
    *d = NULL;
}

static bool answer_read_part_durations(struct answer *a, FILE *answer, const struct number_index *runs,
                                       const struct fleet_wanted *wanted, const struct number_index *stand_ins,
                                       void *context)
{
    struct binary_reader r = { .in = answer };
    struct answer_part_counter last = { 0 };
    struct durations *d = NULL;
    while (binary_has_row(&r)) {
        const struct answer_part_counter c = answer_get_part_counter(&r);
        if (c.module != last.module || c.number != last.number || c.key != last.key)
            answer_pass_durations(a, &last, stand_ins, wanted->durations, context, &d);
        last = c;
        r.broken = r.broken || !answer_has_key(runs, wanted->key, c.key) || !answer_add_part_counter(&d, &c);
    }
    answer_pass_durations(a, &last, stand_ins, wanted->durations, context, &d);
    return answer_end(a, &r);
}

/* With a function, the names are there before the rows. */
static FILE *answer_ask_named_parts(struct answer *a, const struct fleet_wanted *wanted, const char *functions)
{
    FILE *answer = answer_ask_parts(a, wanted, functions);
    if (!answer || wanted->function)
        return answer;
    answer_want_rows(a, answer, 0, PARTS_BYTES);
    if (answer_read_modules(a) && answer_read_functions(a))
        return answer;
    fclose(answer);
    return NULL;
}

static bool answer_pass_parts(struct answer *a, const struct fleet_run *runs, size_t count,
                              const struct fleet_wanted *wanted, const char *functions, fleet_part_taker *take,
                              void *context)
{
    FILE *answer = answer_ask_named_parts(a, wanted, functions);
    if (!answer)
        return false;
    struct number_index *list = answer_list_runs(runs, count), *stand_ins = index_new();
    bool good = answer_read_parts(a, answer, list, wanted, stand_ins, take, context);
    if (good && wanted->durations && answer_count_durations(runs, count)) {
        answer = answer_ask_part_durations(a, answer_keys_sql[wanted->key], functions);
        good = answer && answer_read_part_durations(a, answer, list, wanted, stand_ins, context);
    }
    index_free(stand_ins);
    index_free(list);
    return good;
}

bool fleet_answer_parts(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                        size_t count, const struct fleet_wanted *wanted, fleet_part_taker *take, void *context,
                        struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    answer_open(&a, analysis, runs, count);
    char *functions = answer_wanted_sql(&a, runs, count, wanted);
    const bool good = functions && answer_pass_parts(&a, runs, count, wanted, functions, take, context);
    free(functions);
    return answer_finish(&a, good);
}
