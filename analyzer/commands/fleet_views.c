/* dwell fleet report, tree, callers and diff: the views of sessions, of what the store answers. */
#include "commands/fleet.h"
#include "fleet/answer.h"
#include "report/first_screen.h"
#include "report/row_probes.h"
#include "report/views.h"

enum { TEXT_LIMIT = 40 };

static size_t fleet_limit(const struct fleet_settings *s)
{
    const bool usual = !shared_is_set(&s->shared, SHARED_LIMIT) && s->shared.print == table_print_text;
    return usual ? TEXT_LIMIT : s->shared.limit;
}

/* ---- views of sums ---- */

static void fleet_load_paths(struct fleet_settings *s, struct analysis *l, size_t first)
{
    struct error error = { NULL };
    struct fleet_runs runs = fleet_choose_runs(s, first, s->argument_count);
    if (!fleet_answer_paths(l, &s->store, runs.list, runs.count, &s->shared.load, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
}

int fleet_report(struct fleet_settings *s)
{
    struct error error = { NULL };
    struct analysis l;
    const enum rollup_by by = s->by && option_choice("--by", s->by, "function, module") == 1 ? BY_MODULE : BY_FUNCTION;
    const struct sorting sorting = { .key = s->shared.sort ? s->shared.sort : "elapsed_exclusive",
                                     .limit = fleet_limit(s),
                                     .filters = &s->shared.filters };
    struct fleet_runs runs = fleet_choose_runs(s, 0, s->argument_count);
    if (!fleet_answer_sums(&l, &s->store, runs.list, runs.count, by, &error))
        die_of(&error);
    fleet_runs_drop(&runs);
    struct table table = view_rows(&l, by, &sorting);
    option_order(&table, &sorting);
    row_probes_remark(&l.summary, &table);
    if (s->shared.columns)
        option_choose(&table, s->shared.columns);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
    return status;
}

int fleet_tree(struct fleet_settings *s)
{
    struct analysis l;
    struct tree_options tree = { .depth = s->depth, .min = s->shared.min, .unfolded = s->shared.filters.count > 0 };
    if (!shared_is_set(&s->shared, SHARED_MIN) && !tree.unfolded)
        tree.min = (struct amount){ .percent = 1 };
    fleet_load_paths(s, &l, 0);
    tree.by_cpu = s->shared.print == table_print_text && first_screen_is_known(&l.summary);
    struct table table = view_tree(&l, &tree);
    option_filter(&table, &s->shared.filters);
    option_arrange(&table, s->shared.sort, s->shared.columns, false);
    row_probes_remark(&l.summary, &table);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
    return status;
}

int fleet_callers(struct fleet_settings *s)
{
    struct analysis l;
    if (!s->argument_count)
        die(STATUS_ERROR, "fleet callers: which FUNCTION? dwell fleet report lists them");
    fleet_load_paths(s, &l, 1);
    const bool by_cpu = s->shared.print == table_print_text && !s->shared.columns && first_screen_is_known(&l.summary);
    struct table table = view_callers(&l, option_function(&l, s->arguments[0]), by_cpu);
    option_filter(&table, &s->shared.filters);
    option_arrange(&table, s->shared.sort, s->shared.columns, false);
    row_probes_remark(&l.summary, &table);
    const int status = fleet_print(s, &table);
    analysis_drop(&l);
    return status;
}

/* ---- diff ---- */

/* The comparison, and the side that runs are added to. */
struct fleet_diff_side {
    struct diff *diff;
    struct diff_result *result;
    enum diff_side side;
};

/* Each run is a session of its own, so that the test of significance sees how runs vary. */
static bool fleet_diff_take(void *context, const struct analysis *run, struct error *error)
{
    const struct fleet_diff_side *to = context;
    if (!diff_add(to->diff, to->side, run, error))
        return false;
    diff_result_add_sources(to->result, to->diff, run);
    return true;
}

static void fleet_diff_add(struct fleet_settings *s, struct diff *d, enum diff_side side, size_t first, size_t end)
{
    static const enum fleet_rows rows[] = {
        [DIFF_FUNCTIONS] = FLEET_FUNCTIONS, [DIFF_MODULES] = FLEET_MODULES, [DIFF_PATHS] = FLEET_CALL_PATHS
    };
    struct fleet_runs runs = fleet_choose_runs(s, first, end);
    struct fleet_diff_side to = { d, &s->diff, side };
    struct error error = { NULL };
    if (!fleet_answer_runs(&s->store, runs.list, runs.count, rows[d->by], &s->shared.load, fleet_diff_take, &to,
                           &error))
        die_of(&error);
    fleet_runs_drop(&runs);
}

int fleet_diff(struct fleet_settings *s)
{
    const enum diff_by by =
        s->by ? (enum diff_by)option_choice("--by", s->by, "function, module, path") : DIFF_FUNCTIONS;
    const size_t middle = s->middle == SIZE_MAX ? 1 : s->middle;
    if (s->argument_count < 2 || (s->middle == SIZE_MAX && s->argument_count > 2) || !middle ||
        middle == s->argument_count)
        die(STATUS_ERROR, "fleet diff: give a condition for the runs of before and one for those of after, or several "
                          "of each with -- between them");
    diff_result_check(&s->diff);
    struct diff *d = diff_new(by);
    fleet_diff_add(s, d, DIFF_BEFORE, 0, middle);
    fleet_diff_add(s, d, DIFF_AFTER, middle, s->argument_count);
    const int status = diff_result_finish(&s->diff, d, s->arguments[0]);
    diff_free(d);
    return status;
}
