/* Asks for sums and names, and makes a profile of them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/load_part.h"
#include "base/counted_text.h"
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
void answer_open(struct answer *a, struct analysis *analysis, const struct fleet_run *runs, size_t count)
{
    char *name = count == 1 ? need_copy(runs->file, strlen(runs->file)) : need_text("%s", COUNTED(count, "run"));
    load_begin_several(analysis, name);
    free(name);
    analysis->names = need_memory(1, sizeof *analysis->names);
    a->analysis = analysis;
    for (size_t i = 0; i < a->module_count; i++)
        a->modules[i].number = PROFILE_NONE;
}

void answer_summarize(struct analysis *analysis, const struct fleet_run *runs, size_t count)
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
    load_summarize_several(analysis, parts, count);
    analysis->summary.imported = false;
    free(parts);
}

bool answer_finish(struct answer *a, bool good)
{
    if (!good)
        analysis_drop(a->analysis);
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

bool fleet_answer_sums(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                       size_t count, enum rollup_by by, bool durations, struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    struct times session = times_of_nothing();
    answer_open(&a, analysis, runs, count);
    if (!answer_read_sums(&a, by, &session) || (durations && !answer_read_function_durations(&a, runs, count)))
        return answer_finish(&a, false);
    answer_close_sums(analysis, &session);
    answer_summarize(analysis, runs, count);
    if (durations)
        answer_judge_durations(analysis, runs, count);
    return answer_finish(&a, true);
}

static bool answer_read_paths(struct answer *a, const struct fleet_run *runs, size_t count, bool durations)
{
    FILE *answer = answer_ask_paths(a);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    struct number_index *nodes = index_new();
    const uint32_t root = profile_root(a->analysis->profile, 0, 0);
    bool good = true;
    while (good && binary_has_row(&r))
        good = answer_read_path(a, &r, root, nodes);
    good = answer_end(a, &r) && good && (!durations || answer_read_path_durations(a, runs, count, nodes));
    index_free(nodes);
    return good;
}

bool fleet_answer_paths(struct analysis *analysis, const struct fleet_store *store, const struct fleet_run *runs,
                        size_t count, const struct analysis_options *options, struct error *error)
{
    struct answer a = answer_begin(store, runs, count, false, error);
    answer_open(&a, analysis, runs, count);
    answer_want_all(&a);
    if (!answer_read_modules(&a) || !answer_read_functions(&a) ||
        !answer_read_paths(&a, runs, count, options->durations))
        return answer_finish(&a, false);
    load_join(analysis, options);
    answer_summarize(analysis, runs, count);
    if (options->durations)
        answer_judge_durations(analysis, runs, count);
    return answer_finish(&a, true);
}
