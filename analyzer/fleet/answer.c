/* Asks for sums and names, and makes a profile of them. */
#include "fleet/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/load_part.h"
#include "base/index.h"
#include "base/memory.h"
#include "fleet/binary.h"
#include "fleet/ids.h"
#include "fleet/rows.h"
#include "profile/counted.h"

#define ADD_UP(name, add) ", " #add "(" #name ")"
#define OWN_SUMS FLEET_OWN_COLUMNS(ADD_UP) ", sum(error_squares)"
#define COUNT_COLUMN(name, add) +1
/* Bytes of the rows of sums, and of parts: each column has 8. */
enum {
    SUMS_ROW = 8 * (2 FLEET_OWN_COLUMNS(COUNT_COLUMN) + 1 FLEET_INCLUSIVE_COLUMNS(COUNT_COLUMN, function_) + 1),
    PARTS_ROW = 8 * 5,
};
#define INCLUSIVE_SUMS(of) FLEET_INCLUSIVE_COLUMNS(ADD_UP, of) ", sum(" #of "error_squares)"

/* A function that the store knows; its name goes to the analysis when a row has it. */
struct answer_name {
    uint64_t module, address;
    struct function_name name;
};

struct answer {
    struct analysis *l;
    const struct fleet_store *store;
    char *rows;                            /* the condition of the rows that count, in SQL */
    char *modules_named, *functions_named; /* those whose names are wanted, as conditions in SQL */
    struct number_index *modules;          /* from the store's number to that of the profile */
    struct answer_name *names;             /* by module and address */
    size_t name_count, name_room;
    struct number_index *places;    /* from a module and address to their place in `names`, */
    struct number_index *functions; /* and from a function's number to its copy with the lowest address */
    struct error *error;
};

/* An answer that is a row short is no answer. */
static bool answer_end(const struct answer *a, struct binary_reader *r)
{
    return fleet_end_answer(a->store, r, a->error);
}

static uint32_t answer_find(const struct number_index *index, uint64_t key)
{
    const struct index_slot *slot = index_find(index, key, 0);
    return slot->value_plus_1 ? slot->value_plus_1 - 1 : PROFILE_NONE;
}

static void answer_keep(struct number_index *index, uint64_t key, uint32_t number)
{
    struct index_slot *slot = index_find(index, key, 0);
    if (!slot->value_plus_1)
        index_set(index, slot, key, 0, number);
}

/* ---- names ---- */

/* Wants the names of all rows that count. The server reads all sums for each list. */
static void answer_want_all(struct answer *a)
{
    a->modules_named = need_text("GLOBAL IN (SELECT DISTINCT module FROM %s.sums_%d WHERE %s)", a->store->database,
                                 FLEET_VERSION, a->rows);
    a->functions_named = need_text("GLOBAL IN (SELECT DISTINCT function FROM %s.sums_%d WHERE %s)", a->store->database,
                                   FLEET_VERSION, a->rows);
}

/* Wants the names of an answer's rows, which have `size` bytes each, begin with a module and a function, and are sorted
 * by these. Then the answer can be read from its beginning. */
static void answer_want_rows(struct answer *a, FILE *answer, size_t size)
{
    size_t length;
    uint64_t module = 0, function = 0;
    FILE *modules = need_stream(&a->modules_named, &length), *functions = need_stream(&a->functions_named, &length);
    struct binary_reader r = { .in = answer };
    fputs("IN (0", modules);
    fputs("IN (0", functions);
    while (binary_has_row(&r)) {
        const uint64_t next_module = binary_get(&r, 8), next_function = binary_get(&r, 8);
        if (next_module != module)
            fprintf(modules, ",%llu", (unsigned long long)next_module);
        if (next_function != function)
            fprintf(functions, ",%llu", (unsigned long long)next_function);
        module = next_module;
        function = next_function;
        fseek(answer, (long)size - 16, SEEK_CUR);
    }
    fputs(")", modules);
    fputs(")", functions);
    need_stream_end(modules);
    need_stream_end(functions);
    rewind(answer);
}

static bool answer_read_modules(struct answer *a)
{
    FILE *answer = fleet_ask(a->store, a->error,
                             "SELECT module, min(path), any(build_id) FROM %s.modules_%d WHERE module %s "
                             "GROUP BY module ORDER BY module FORMAT RowBinary",
                             a->store->database, FLEET_VERSION, a->modules_named);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        size_t length;
        const uint64_t number = binary_get(&r, 8);
        char *path = binary_get_text(&r, NULL), *build = binary_get_text(&r, &length);
        answer_keep(a->modules, number, profile_module(a->l->profile, path, (const uint8_t *)build, length));
        free(path);
        free(build);
    }
    return answer_end(a, &r);
}

/* A module whose name the store lost still has functions. */
static uint32_t answer_module(struct answer *a, uint64_t number)
{
    const uint32_t known = answer_find(a->modules, number);
    if (known != PROFILE_NONE)
        return known;
    char *path = need_text("[module %016llx]", (unsigned long long)number);
    const uint32_t made = profile_module(a->l->profile, path, (const uint8_t *)"", 0);
    answer_keep(a->modules, number, made);
    free(path);
    return made;
}

static char *answer_text_or_null(char *text)
{
    if (*text)
        return text;
    free(text);
    return NULL;
}

/* The best name of an address comes first. */
static void answer_read_function(struct answer *a, struct binary_reader *r)
{
    struct answer_name n = { .module = binary_get(r, 8), .address = binary_get(r, 8) };
    const uint64_t function = binary_get(r, 8), place = fleet_id_of_two(n.module, n.address);
    n.name.name = binary_get_text(r, NULL);
    n.name.linkage_name = answer_text_or_null(binary_get_text(r, NULL));
    n.name.file = answer_text_or_null(binary_get_text(r, NULL));
    n.name.line = (uint32_t)binary_get(r, 4);
    if (answer_find(a->places, place) == PROFILE_NONE) {
        answer_keep(a->places, place, (uint32_t)a->name_count);
        GROW(a->names, a->name_count, a->name_room);
        a->names[a->name_count++] = n;
    } else {
        names_drop(&n.name);
    }
    answer_keep(a->functions, function, answer_find(a->places, place));
}

static bool answer_read_functions(struct answer *a)
{
    FILE *answer = fleet_ask(a->store, a->error,
                             "SELECT module, address, function, name, linkage_name, file, line FROM %s.functions_%d "
                             "WHERE function %s ORDER BY "
                             "module, address, known DESC, name, file LIMIT 1 BY module, address, function "
                             "FORMAT RowBinary",
                             a->store->database, FLEET_VERSION, a->functions_named);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r))
        answer_read_function(a, &r);
    return answer_end(a, &r);
}

/* A function of the profile. A new one takes its name from the store's. */
static uint32_t answer_function(struct answer *a, uint64_t module, uint64_t address)
{
    struct analysis *l = a->l;
    const size_t before = l->profile->function_count;
    const uint32_t function = profile_function(l->profile, answer_module(a, module), address);
    if (l->profile->function_count == before)
        return function;
    const uint32_t known = answer_find(a->places, fleet_id_of_two(module, address));
    l->names = need_more(l->names, l->profile->function_count, sizeof *l->names);
    struct function_name *name = &l->names[function];
    *name = (struct function_name){ 0 };
    if (known < a->name_count && a->names) {
        *name = a->names[known].name;
        a->names[known].name = (struct function_name){ 0 };
    }
    if (!name->name)
        name->name = need_text("[function %llx]", (unsigned long long)address);
    name->module = names_module(l->profile->modules[l->profile->functions[function].module].path);
    return function;
}

/* The function of a number, by its copy with the lowest address. */
static uint32_t answer_numbered(struct answer *a, uint64_t module, uint64_t number)
{
    const uint32_t known = answer_find(a->functions, number);
    if (known >= a->name_count || !a->names)
        return answer_function(a, module, number);
    return answer_function(a, a->names[known].module, a->names[known].address);
}

/* ---- amounts ---- */

static void answer_read_own(struct binary_reader *r, struct fleet_amounts *amounts)
{
#define READ_NUMBER(name, add) amounts->name = binary_get(r, 8);
    FLEET_OWN_COLUMNS(READ_NUMBER)
    amounts->error_squares = binary_get_double(r);
}

static void answer_read_amounts(struct binary_reader *r, enum rollup_by by, struct fleet_amounts *amounts)
{
    answer_read_own(r, amounts);
    if (by == BY_FUNCTION) {
        FLEET_INCLUSIVE_COLUMNS(READ_NUMBER, function_)
        amounts->function_error_squares = binary_get_double(r);
    } else {
        FLEET_INCLUSIVE_COLUMNS(READ_NUMBER, module_)
        amounts->module_error_squares = binary_get_double(r);
    }
}

static uint64_t answer_root(double squares)
{
    const double longest = 1e18; /* of any time, and in the range of the result */
    return squares > 0 ? (uint64_t)llround(fmin(sqrt(squares), longest)) : 0;
}

#define INCLUSIVE_TIMES(a, of)                                                                                         \
    .elapsed_inclusive = (a)->of##elapsed, .application_inclusive = (a)->of##application,                              \
    .blocked_inclusive = (a)->of##blocked, .preempted_inclusive = (a)->of##preempted,                                  \
    .flagged_on_cpu_inclusive = (a)->of##flagged_on_cpu, .page_faults_inclusive = (a)->of##page_faults,                \
    .overhead_inclusive = (a)->of##overhead, .pooled_inclusive = (a)->of##error_pooled,                                \
    .error_inclusive = answer_root((a)->of##error_squares)
#define OWN_TIMES(a)                                                                                                   \
    .calls = (a)->calls, .counted = (a)->counted, .shortest = (a)->shortest, .longest = (a)->longest,                  \
    .elapsed_exclusive = (a)->elapsed, .application_exclusive = (a)->elapsed - (a)->flagged,                           \
    .blocked_exclusive = (a)->blocked, .preempted_exclusive = (a)->preempted,                                          \
    .flagged_on_cpu_exclusive = (a)->flagged_on_cpu, .page_faults_exclusive = (a)->page_faults,                        \
    .overhead_exclusive = (a)->overhead, .samples = (a)->samples, .pooled_exclusive = (a)->error_pooled,               \
    .error_exclusive = answer_root((a)->error_squares)

static struct times answer_times(const struct fleet_amounts *a, enum rollup_by by)
{
    return by == BY_FUNCTION ? (struct times){ OWN_TIMES(a), INCLUSIVE_TIMES(a, function_) }
                             : (struct times){ OWN_TIMES(a), INCLUSIVE_TIMES(a, module_) };
}

/* ---- sums of functions and modules ---- */

static void answer_add_reported(struct profile *p, enum rollup_by by, uint32_t entry, const struct times *times)
{
    GROW(p->reported, p->reported_count, p->reported_room);
    p->reported[p->reported_count++] = (struct profile_reported){
        .kind = by == BY_FUNCTION ? DWELL_REPORTED_FUNCTION : DWELL_REPORTED_MODULE,
        .function = entry,
        .other = PROFILE_NONE,
        .times = *times,
    };
}

/* The sums of a session are those of its exclusive values. */
static void answer_add_session(struct times *session, struct times times)
{
    times.elapsed_inclusive = times.elapsed_exclusive;
    times.application_inclusive = times.application_exclusive;
    times.blocked_inclusive = times.blocked_exclusive;
    times.preempted_inclusive = times.preempted_exclusive;
    times.flagged_on_cpu_inclusive = times.flagged_on_cpu_exclusive;
    times.page_faults_inclusive = times.page_faults_exclusive;
    times.overhead_inclusive = times.overhead_exclusive;
    times.error_inclusive = times.pooled_inclusive = 0;
    times_add(session, &times);
}

/* Only the columns that the rows need: the server reads each from its disk. */
static FILE *answer_ask_sums(const struct answer *a, enum rollup_by by)
{
    const char *key = by == BY_FUNCTION ? "function" : "module";
    return fleet_ask(a->store, a->error,
                     "SELECT module, %s" OWN_SUMS "%s FROM %s.sums_%d WHERE %s GROUP BY module, %s ORDER BY module, %s "
                     "FORMAT RowBinary",
                     key, by == BY_FUNCTION ? INCLUSIVE_SUMS(function_) : INCLUSIVE_SUMS(module_), a->store->database,
                     FLEET_VERSION, a->rows, key, key);
}

/* The sums are read once, and the names of their rows afterwards: the server reads many sums, and few names. */
static bool answer_read_sums(struct answer *a, enum rollup_by by, struct times *session)
{
    FILE *answer = answer_ask_sums(a, by);
    if (!answer)
        return false;
    answer_want_rows(a, answer, SUMS_ROW);
    if (!answer_read_modules(a) || (by == BY_FUNCTION && !answer_read_functions(a))) {
        fclose(answer);
        return false;
    }
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        const uint64_t module = binary_get(&r, 8), function = binary_get(&r, 8);
        struct fleet_amounts amounts = { 0 };
        answer_read_amounts(&r, by, &amounts);
        const struct times times = answer_times(&amounts, by);
        answer_add_session(session, times);
        if (!module)
            continue; /* of threads */
        const uint32_t entry = by == BY_FUNCTION ? answer_numbered(a, module, function) : answer_module(a, module);
        answer_add_reported(a->l->profile, by, entry, &times);
    }
    return answer_end(a, &r);
}

/* ---- call paths ---- */

static void answer_set_node(struct profile_node *node, const struct fleet_amounts *a)
{
    struct profile_node own = *node;
    amounts_clear(&own);
    own.calls = a->calls;
    own.elapsed = a->elapsed;
    own.flagged = a->flagged;
    own.blocked = a->blocked;
    own.preempted = a->preempted;
    own.page_faults = a->page_faults;
    own.overhead = a->overhead;
    own.samples = a->samples;
    own.error = answer_root(a->error_squares);
    own.error_pooled = a->error_pooled;
    own.shortest = a->shortest;
    own.longest = a->longest;
    profile_add_values(node, &own);
}

static bool answer_read_path(struct answer *a, struct binary_reader *r, uint32_t root, struct number_index *nodes)
{
    struct profile *p = a->l->profile;
    struct fleet_amounts amounts = { 0 };
    binary_get(r, 4); /* the depth */
    const enum fleet_kind kind = (enum fleet_kind)binary_get(r, 1);
    const uint64_t path = binary_get(r, 8), parent = binary_get(r, 8), module = binary_get(r, 8),
                   address = binary_get(r, 8);
    answer_read_own(r, &amounts);
    r->broken |= kind > FLEET_THREAD;
    if (r->broken)
        return false;
    if (kind == FLEET_THREAD) {
        answer_set_node(&p->nodes[root], &amounts);
        return true;
    }
    const uint32_t function = answer_function(a, module, address);
    if (kind == FLEET_COUNTED_CALLS) {
        counted_add(p, 0, function, amounts.calls);
        return true;
    }
    const uint32_t caller = parent == FLEET_NO_ID ? root : answer_find(nodes, parent);
    if (caller == PROFILE_NONE)
        return error_set(a->error, "%s: lacks the caller of a path: a part of a run is missing", a->store->url);
    const uint32_t node =
        profile_child_from(p, caller, function, kind == FLEET_SAMPLED_PATH ? PROFILE_SAMPLED : PROFILE_NONE);
    answer_keep(nodes, path, node);
    answer_set_node(&p->nodes[node], &amounts);
    return true;
}

/* Callers come first, as they are less deep. */
static bool answer_read_paths(struct answer *a)
{
    FILE *answer =
        fleet_ask(a->store, a->error,
                  "SELECT depth, kind, path, parent, module, address" OWN_SUMS " FROM %s.paths_%d WHERE %s "
                  "GROUP BY depth, kind, path, parent, module, address ORDER BY depth, path, module, address "
                  "FORMAT RowBinary",
                  a->store->database, FLEET_VERSION, a->rows);
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

/* ---- the analysis ---- */

static void answer_summarize(struct analysis *l, const struct fleet_run *runs, size_t count)
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

/* One run has its file's name, as in messages and comparisons. */
static void answer_begin(struct answer *a, const struct fleet_run *runs, size_t count)
{
    char *name = count == 1 ? need_copy(runs->file, strlen(runs->file)) : need_text("%zu runs", count);
    load_begin_several(a->l, name);
    free(name);
    a->l->names = need_memory(1, sizeof *a->l->names);
    a->modules = index_new();
    a->places = index_new();
    a->functions = index_new();
}

static bool answer_finish(struct answer *a, bool good)
{
    index_free(a->modules);
    index_free(a->places);
    index_free(a->functions);
    for (size_t i = 0; i < a->name_count; i++)
        names_drop(&a->names[i].name);
    free(a->names);
    free(a->rows);
    free(a->modules_named);
    free(a->functions_named);
    if (!good)
        analysis_drop(a->l);
    return good;
}

bool fleet_answer_sums(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                       enum rollup_by by, struct error *error)
{
    struct answer a = { .l = l, .store = store, .rows = fleet_runs_sql(runs, count), .error = error };
    struct times session = times_of_nothing();
    answer_begin(&a, runs, count);
    profile_root(l->profile, 0, 0);
    if (!answer_read_sums(&a, by, &session))
        return answer_finish(&a, false);
    l->rollup = rollup_new(l->profile);
    l->rollup->session = session;
    answer_summarize(l, runs, count);
    return answer_finish(&a, true);
}

bool fleet_answer_paths(struct analysis *l, const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                        const struct analysis_options *options, struct error *error)
{
    struct answer a = { .l = l, .store = store, .rows = fleet_runs_sql(runs, count), .error = error };
    answer_begin(&a, runs, count);
    answer_want_all(&a);
    if (!answer_read_modules(&a) || !answer_read_functions(&a) || !answer_read_paths(&a))
        return answer_finish(&a, false);
    load_join(l, options);
    answer_summarize(l, runs, count);
    return answer_finish(&a, true);
}

/* ---- sums of parts ---- */

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
    struct answer a = { .l = l, .store = store, .rows = fleet_runs_sql(runs, count), .error = error };
    answer_begin(&a, runs, count);
    FILE *answer = answer_ask_parts(&a, runs, count, key, time, large);
    if (!answer)
        return answer_finish(&a, false);
    answer_want_rows(&a, answer, PARTS_ROW);
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
