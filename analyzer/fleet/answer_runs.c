/* Makes an analysis of each run from questions about many runs. */
#include <stdlib.h>
#include <string.h>

#include "analysis/load_part.h"
#include "base/intern.h"
#include "base/memory.h"
#include "fleet/answer_part.h"

/* A question is about as many runs as have so many rows of paths, so that the server can sort its answer and the disk
 * can hold it. An answer has about as many rows of paths, or much fewer sums of functions. */
enum { PATHS_AT_ONCE = 1 << 20, SUMMED_AT_ONCE = 1 << 24 };

/* The runs that questions are about, and who takes their analyses. */
struct runs_question {
    const struct fleet_store *store;
    const struct fleet_run *runs;
    size_t count;
    enum fleet_rows rows;
    const struct analysis_options *options;
    fleet_run_taker *take;
    void *context;
    struct error *error;
};

static size_t runs_at_once(const struct fleet_run *runs, size_t count, uint64_t most)
{
    size_t taken = 1;
    for (uint64_t rows = runs->rows; taken < count && rows <= most && runs[taken].rows <= most - rows; taken++)
        rows += runs[taken].rows;
    return taken;
}

/* Asks about some runs after others. */
static bool runs_ask(struct runs_question q, uint64_t most, bool (*ask)(const struct runs_question *q))
{
    bool good = true;
    for (size_t left = q.count; good && left; left -= q.count) {
        q.count = runs_at_once(q.runs, left, most);
        good = ask(&q);
        q.runs += q.count;
    }
    return good;
}

/* The rows of an answer, those of one run after those of another. None if nothing was asked. */
struct runs_rows {
    struct binary_reader r;
    size_t count;  /* of runs */
    uint64_t next; /* the run whose row comes next, by its place; zero if that has not been read */
};

/* Whether another row of the run follows. Runs are asked for by their places, from 1 to the last one. */
static bool runs_has_row(struct runs_rows *rows, uint64_t place)
{
    if (!rows->r.in)
        return false;
    if (!rows->next && binary_has_row(&rows->r)) {
        rows->next = binary_get(&rows->r, 8);
        rows->r.broken |= rows->next < place || rows->next > rows->count;
    }
    if (rows->r.broken || rows->next != place)
        return false;
    rows->next = 0;
    return true;
}

/* What the server says of each run: its sums or paths, and how long calls took if that is wanted. */
struct runs_answers {
    struct runs_rows sums, durations;
};

/* Takes the answer about sums or paths. A store of version 1 has no table of durations, and no run that has any. */
static bool runs_begin(const struct runs_question *q, const struct answer *a, FILE *sums, bool by_path,
                       struct runs_answers *answers)
{
    *answers = (struct runs_answers){ .sums = { .r.in = sums, .count = q->count }, .durations.count = q->count };
    if (!q->options->durations || q->rows == FLEET_MODULES || !answer_count_durations(q->runs, q->count))
        return true;
    answers->durations.r.in = answer_ask_durations(a, by_path);
    if (!answers->durations.r.in)
        fclose(sums);
    return answers->durations.r.in != NULL;
}

static bool runs_are_broken(const struct runs_answers *answers)
{
    return answers->sums.r.broken || answers->durations.r.broken;
}

static bool runs_end(const struct answer *a, struct runs_answers *answers)
{
    answers->sums.r.broken |= answers->durations.r.broken;
    if (answers->durations.r.in)
        fclose(answers->durations.r.in);
    return answer_end(a, &answers->sums.r);
}

static bool runs_pass(const struct runs_question *q, struct analysis *analysis, size_t run)
{
    answer_summarize(analysis, &q->runs[run], 1);
    if (q->options->durations)
        answer_judge_durations(analysis, &q->runs[run], 1);
    const bool good = q->take(q->context, analysis, q->error);
    analysis_drop(analysis);
    return good;
}

/* ---- call paths ---- */

static bool runs_read_run_paths(const struct runs_question *q, struct answer *a, struct runs_answers *answers,
                                size_t run)
{
    struct analysis analysis;
    struct number_index *nodes = index_new();
    bool good = true;
    answer_open(a, &analysis, &q->runs[run], 1);
    const uint32_t root = profile_root(analysis.profile, 0, 0);
    while (good && runs_has_row(&answers->sums, run + 1))
        good = answer_read_path(a, &answers->sums.r, root, nodes);
    while (good && runs_has_row(&answers->durations, run + 1))
        answer_read_path_duration(a, &answers->durations.r, nodes);
    index_free(nodes);
    if (!good || runs_are_broken(answers)) {
        analysis_drop(&analysis);
        return false;
    }
    load_join(&analysis, q->options);
    return runs_pass(q, &analysis, run);
}

static bool runs_read_paths(const struct runs_question *q, struct answer *a)
{
    FILE *answer = answer_ask_paths(a);
    struct runs_answers answers;
    if (!answer || !runs_begin(q, a, answer, true, &answers))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < q->count; i++)
        good = runs_read_run_paths(q, a, &answers, i);
    return runs_end(a, &answers) && good;
}

static bool runs_ask_paths(const struct runs_question *q)
{
    struct answer a = answer_begin(q->store, q->runs, q->count, true, q->error);
    answer_want_all(&a);
    const bool good = answer_read_modules(&a) && answer_read_functions(&a) && runs_read_paths(q, &a);
    answer_forget(&a);
    return good;
}

/* ---- sums of functions and modules ---- */

static enum rollup_by runs_by(const struct runs_question *q)
{
    return q->rows == FLEET_MODULES ? BY_MODULE : BY_FUNCTION;
}

static uint32_t runs_name_module(const struct answer *a, uint32_t module, struct intern *names)
{
    char *name = names_module(a->modules[module].path);
    const uint32_t number = intern(names, name, strlen(name));
    free(name);
    return number;
}

static uint32_t runs_name_function(const struct answer *a, const struct answer_name *n, struct intern *names)
{
    const uint32_t module = answer_find(a->module_places, n->module);
    char *of = module == PROFILE_NONE ? need_text("[module %016llx]", (unsigned long long)n->module)
                                      : names_module(a->modules[module].path);
    const char *text = names_is_nameless(&n->name) ? of : n->name.name;
    const uint32_t number = intern_pair(names, of, text, strlen(text));
    free(of);
    return number;
}

/* Numbers of the names, by place in the answer's list of functions or modules. Equal names have equal numbers. */
static uint32_t *runs_number_names(const struct answer *a, enum rollup_by by, size_t *count)
{
    struct intern names = { 0 };
    *count = by == BY_FUNCTION ? a->name_count : a->module_count;
    uint32_t *numbers = need_memory(*count, sizeof *numbers);
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = by == BY_FUNCTION ? runs_name_function(a, &a->names[i], &names) : runs_name_module(a, i, &names);
    intern_drop(&names);
    return numbers;
}

/* Whether the sums do not suffice. Functions of one name have an inclusive time together that is not the sum of theirs,
 * as one can call the other. The sums of a module do not tell how many of its functions were only counted. The answer
 * can then be read from its beginning. */
static bool runs_need_paths(const struct answer *a, enum rollup_by by, FILE *answer)
{
    size_t count;
    uint32_t *names = runs_number_names(a, by, &count);
    uint64_t *last = need_memory(count, sizeof *last); /* by name: the last run that has it */
    struct binary_reader r = { .in = answer };
    bool needed = false;
    while (!needed && binary_has_row(&r)) {
        const uint64_t place = binary_get(&r, 8);
        const struct answer_sum sum = answer_get_sum(&r, by);
        const uint32_t known =
            by == BY_FUNCTION ? answer_find(a->functions, sum.function) : answer_find(a->module_places, sum.module);
        needed = by == BY_MODULE && sum.amounts.counted;
        if (known >= count || !sum.module || !place)
            continue;
        needed |= last[names[known]] == place;
        last[names[known]] = place;
    }
    free(names);
    free(last);
    rewind(answer);
    return needed;
}

static bool runs_read_run_sums(const struct runs_question *q, struct answer *a, struct runs_answers *answers,
                               size_t run)
{
    const enum rollup_by by = runs_by(q);
    struct analysis analysis;
    struct times session = times_of_nothing();
    answer_open(a, &analysis, &q->runs[run], 1);
    while (runs_has_row(&answers->sums, run + 1)) {
        const struct answer_sum sum = answer_get_sum(&answers->sums.r, by);
        answer_add_sum(a, &sum, by, &session);
    }
    while (runs_has_row(&answers->durations, run + 1))
        answer_read_function_duration(a, &answers->durations.r);
    if (runs_are_broken(answers)) {
        analysis_drop(&analysis);
        return false;
    }
    answer_close_sums(&analysis, &session);
    return runs_pass(q, &analysis, run);
}

/* Sets *paths and passes nothing if the sums do not suffice. */
static bool runs_read_sums(const struct runs_question *q, struct answer *a, bool *paths)
{
    const enum rollup_by by = runs_by(q);
    FILE *answer = answer_ask_sums(a, by);
    if (!answer)
        return false;
    answer_want_rows(a, answer, 8, ANSWER_SUMS_BYTES);
    const bool named = answer_read_modules(a) && (by == BY_MODULE || answer_read_functions(a));
    *paths = named && runs_need_paths(a, by, answer);
    if (!named || *paths) {
        fclose(answer);
        return named;
    }
    struct runs_answers answers;
    if (!runs_begin(q, a, answer, false, &answers))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < q->count; i++)
        good = runs_read_run_sums(q, a, &answers, i);
    return runs_end(a, &answers) && good;
}

static bool runs_have_samples(const struct runs_question *q)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->runs[i].stack_samples)
            return true;
    return false;
}

/* Estimated times of paths are rounded before they are added, so their sums do not suffice either. */
static bool runs_ask_sums(const struct runs_question *q)
{
    bool paths = runs_have_samples(q), good = true;
    if (!paths) {
        struct answer a = answer_begin(q->store, q->runs, q->count, true, q->error);
        good = runs_read_sums(q, &a, &paths);
        answer_forget(&a);
    }
    return good && (!paths || runs_ask(*q, PATHS_AT_ONCE, runs_ask_paths));
}

bool fleet_answer_runs(const struct fleet_store *store, const struct fleet_run *runs, size_t count,
                       enum fleet_rows rows, const struct analysis_options *options, fleet_run_taker *take,
                       void *context, struct error *error)
{
    const struct runs_question q = { store, runs, count, rows, options, take, context, error };
    return rows == FLEET_CALL_PATHS ? runs_ask(q, PATHS_AT_ONCE, runs_ask_paths)
                                    : runs_ask(q, SUMMED_AT_ONCE, runs_ask_sums);
}
