/* Makes the lines of a comparison: rows of equal names are one line, and the means of a call add up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "causes/why.h"
#include "tables/cause_paths.h"

enum { MAX_PATH_BYTES = 4096 };

/* A line while it is made. */
struct why_draft {
    char *path;
    enum why_kind kind;
    const struct why_wait *wait; /* NULL for none */
    struct why_sum sets[WHY_SETS];
};

struct why_drafts {
    struct why_draft *list;
    size_t count;
    struct why_share *shares; /* of drafts */
    size_t share_count;
    struct intern known_shares;
};

static void why_add_draft(struct why_draft *into, const struct why_row *row)
{
    for (int set = 0; set < WHY_SETS; set++) {
        into->sets[set].ticks += row->sets[set].ticks;
        into->sets[set].count += row->sets[set].count;
        into->sets[set].charge += row->sets[set].charge;
        into->sets[set].squares += row->sets[set].squares;
    }
}

/* What lines of several sessions have in common. */
struct why_known {
    struct cause_path_numbers paths;
    struct intern drafts;
};

static uint32_t why_find_draft(struct why_drafts *drafts, struct why_known *known, const struct why_row *row,
                               const struct why_wait *wait, const struct cause_paths *paths)
{
    const uint32_t path = row->node == PROFILE_NONE ? PROFILE_NONE : paths->ids[row->node];
    const uint32_t key[] = { path, row->kind, wait ? 1 + wait->number : 0 };
    const uint32_t number = intern(&known->drafts, key, sizeof key);
    if (number == drafts->count) {
        char *text = cause_path_text(paths, row->node == PROFILE_NONE ? 1 : row->node, MAX_PATH_BYTES);
        drafts->list[drafts->count++] = (struct why_draft){ .path = text, .kind = row->kind, .wait = wait };
    }
    return number;
}

/* The samples of a path: its time is in the row of the innermost call above it that was recorded. */
static void why_draft_stacks(struct why_drafts *drafts, struct why_known *known, const struct why_part *part,
                             const struct why_stacks *stacks, const struct cause_paths *paths)
{
    const struct profile_node *nodes = part->paths->nodes;
    struct why_row row = { .node = stacks->node, .kind = WHY_CPU };
    struct why_share share = { .to = why_find_draft(drafts, known, &row, NULL, paths) };
    while (nodes[row.node].site == PROFILE_SAMPLED)
        row.node = nodes[row.node].parent;
    share.from = why_find_draft(drafts, known, &row, NULL, paths);
    if (stacks->counting)
        share.to =
            why_find_draft(drafts, known, &(struct why_row){ .node = PROFILE_NONE, .kind = WHY_PROBE }, NULL, paths);
    const uint32_t key[] = { share.from, share.to }, number = intern(&drafts->known_shares, key, sizeof key);
    if (number == drafts->share_count)
        drafts->shares[drafts->share_count++] = share;
    for (int set = 0; set < WHY_SETS; set++)
        sample_sum_join(&drafts->shares[number].sets[set], &stacks->sets[set]);
}

/* Sets the drafts' numbers of the rows of a session. If no call of it is in a set, its rows have none. */
static void why_draft_part(struct why_drafts *drafts, struct why_known *known, const struct why *why,
                           const struct why_part *part, uint32_t *numbers)
{
    const struct profile *p = part->paths;
    struct function_name *names = names_find(part->session.analysis->file, p);
    struct cause_paths paths = cause_paths_of(&known->paths, p, names);
    for (size_t i = part->first_row; i < part->first_row + part->row_count; i++) {
        const struct why_row *row = &why->scan.rows[i];
        numbers[i] = PROFILE_NONE;
        if (p->node_count < 2)
            continue;
        numbers[i] = why_find_draft(drafts, known, row, row->wait ? &part->waits.list[row->wait - 1] : NULL, &paths);
        why_add_draft(&drafts->list[numbers[i]], row);
    }
    for (size_t i = part->first_stack; i < part->first_stack + part->stack_count; i++)
        why_draft_stacks(drafts, known, part, &why->scan.stacks[i], &paths);
    names_free(names, p->function_count);
    cause_paths_drop(&paths);
}

/* Returns the drafts' numbers, by row. */
static uint32_t *why_draft_rows(struct why_drafts *drafts, const struct why *why)
{
    struct why_known known = { .drafts = { 0 } };
    uint32_t *numbers = need_memory(why->scan.row_count + 1, sizeof *numbers);
    drafts->list = need_memory(why->scan.row_count + why->scan.stack_count + 2, sizeof *drafts->list);
    drafts->shares = need_memory(why->scan.stack_count + 1, sizeof *drafts->shares);
    for (size_t i = 0; i < why->part_count; i++)
        why_draft_part(drafts, &known, why, &why->parts[i], numbers);
    intern_drop(&known.drafts);
    cause_path_numbers_drop(&known.paths);
    return numbers;
}

/* What the probes take on a path is theirs, as far as it is there. */
static void why_move_charges(struct why_drafts *drafts)
{
    struct why_draft *probe = NULL;
    for (size_t i = 0; i < drafts->count; i++)
        probe = drafts->list[i].kind == WHY_PROBE ? &drafts->list[i] : probe;
    for (size_t i = 0; i < drafts->count && probe; i++)
        for (int set = 0; set < WHY_SETS; set++) {
            struct why_sum *sum = &drafts->list[i].sets[set];
            const uint64_t moved = smaller(sum->charge / DWELL_PROBE_FRACTION, sum->ticks);
            sum->ticks -= moved;
            probe->sets[set].ticks += moved;
        }
}

/* ---- means ---- */

struct why_rest {
    uint64_t rest;
    struct why_line *line;
};

static int why_compare_waits(const struct why_wait *x, const struct why_wait *y)
{
    const char *const of_x[] = { x->text, x->path, x->cause, x->function, x->thread, x->name };
    const char *const of_y[] = { y->text, y->path, y->cause, y->function, y->thread, y->name };
    for (size_t i = 0; i < sizeof of_x / sizeof *of_x; i++) {
        const int order = strcmp(of_x[i], of_y[i]);
        if (order)
            return order;
    }
    return 0;
}

/* By what tells lines apart, as their order depends on how the threads were divided. */
static int why_compare_keys(const struct why_line *x, const struct why_line *y)
{
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    const int paths = strcmp(x->path, y->path);
    if (paths || !x->wait || !y->wait)
        return paths ? paths : (x->wait != NULL) - (y->wait != NULL);
    return why_compare_waits(x->wait, y->wait);
}

static int why_compare_rests(const void *a, const void *b)
{
    const struct why_rest *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return why_compare_keys(x->line, y->line);
}

/* The means are whole nanoseconds that add up to the set's: the largest remainders are rounded up. */
static void why_find_means(struct why *why, int set)
{
    struct why_set *s = &why->sets[set];
    const uint128 divisor = (uint128)why->rate * s->calls;
    struct why_rest *rests = need_memory(why->line_count + 1, sizeof *rests);
    s->ns = (uint64_t)((uint128)s->ticks * 1000000000 / divisor);
    uint64_t missing = s->ns;
    for (size_t i = 0; i < why->line_count; i++) {
        const uint128 amount = (uint128)why->lines[i].ticks[set] * 1000000000;
        why->lines[i].ns[set] = (uint64_t)(amount / divisor);
        missing -= why->lines[i].ns[set];
        rests[i] = (struct why_rest){ (uint64_t)((amount % divisor << 32) / divisor), &why->lines[i] };
    }
    if (why->line_count)
        qsort(rests, why->line_count, sizeof *rests, why_compare_rests);
    for (size_t i = 0; i < missing && i < why->line_count; i++)
        rests[i].line->ns[set]++;
    free(rests);
}

/* The variance of the mean of a line's time in the calls of a set, in ticks. */
static double why_variance(const struct why_sum *sum, uint64_t calls)
{
    if (calls < 2)
        return NAN;
    const double ticks = (double)sum->ticks, count = (double)calls;
    const double squares = (double)sum->squares - ticks * ticks / count;
    return (squares > 0 ? squares : 0) / (count - 1) / count;
}

/* ---- lines ---- */

/* The line has the draft's path from now on. */
static void why_add_line(struct why *why, const struct why_draft *draft)
{
    struct why_line *line = &why->lines[why->line_count++];
    *line = (struct why_line){ .path = draft->path, .kind = draft->kind, .wait = draft->wait, .probability = NAN };
    for (int set = 0; set < WHY_SETS; set++) {
        line->ticks[set] = draft->sets[set].ticks;
        line->count[set] = draft->sets[set].count;
        line->variance[set] = why_variance(&draft->sets[set], why->sets[set].calls);
    }
}

/* Estimates add their errors. */
static void why_find_intervals(struct why *why)
{
    static const double normal_95 = 1.96;
    for (size_t i = 0; i < why->line_count; i++) {
        struct why_line *line = &why->lines[i];
        const double spread = normal_95 * sqrt(line->variance[WHY_SLOW] + line->variance[WHY_USUAL]);
        line->ci95 = hypot(spread * 1e9 / (double)why->rate, hypot(line->error[WHY_SLOW], line->error[WHY_USUAL]));
    }
}

static int why_compare_lines(const void *a, const void *b, void *context)
{
    const struct why_line *x = a, *y = b;
    const bool more = *(const bool *)context;
    if (x->place != y->place)
        return (x->place < y->place) == more ? 1 : -1;
    if (x->behind != y->behind)
        return x->behind ? 1 : -1;
    return why_compare_keys(x, y);
}

/* ---- preempted time ---- */

static bool why_is_on_cpu(const struct why_line *line)
{
    return line->kind == WHY_CPU || line->kind == WHY_FAULT || line->kind == WHY_PROBE;
}

/*
 * A thread that needs the processor for longer is preempted more often. So preempted time follows from CPU time if it
 * grows about as much: in relation to the usual calls, at most twice as much, as single calls vary. Then the cause is
 * what takes CPU time.
 */
static bool why_preempted_follows(const struct why *why)
{
    enum { MOST = 2 };
    double cpu[WHY_SETS] = { 0 }, preempted[WHY_SETS] = { 0 };
    for (size_t i = 0; i < why->line_count; i++)
        for (int set = 0; set < WHY_SETS; set++) {
            cpu[set] += why_is_on_cpu(&why->lines[i]) ? (double)why->lines[i].ns[set] : 0;
            preempted[set] += why->lines[i].kind == WHY_RUNNABLE ? (double)why->lines[i].ns[set] : 0;
        }
    const double longer = cpu[WHY_SLOW] - cpu[WHY_USUAL];
    return longer > 0 &&
           (preempted[WHY_SLOW] - preempted[WHY_USUAL]) * cpu[WHY_USUAL] <= MOST * preempted[WHY_USUAL] * longer;
}

/* Puts preempted time behind the longest of some lines. */
static void why_put_behind(struct why_line *line, int64_t longest)
{
    line->behind = true;
    line->place = longest < line->place ? longest : line->place;
}

/* Lines come by their difference. Preempted time that follows from CPU time comes after the longest line of that. If
 * chance explains it, it comes after the longest line that is named. */
static void why_find_places(struct why *why)
{
    const bool follows = why_preempted_follows(why);
    int64_t longest = 0, named = 0;
    for (size_t i = 0; i < why->line_count; i++) {
        struct why_line *line = &why->lines[i];
        line->difference = (int64_t)(line->ns[WHY_SLOW] - line->ns[WHY_USUAL]);
        line->place = line->difference;
        longest = why_is_on_cpu(line) && line->difference > longest ? line->difference : longest;
        named = line->found && line->difference > named ? line->difference : named;
    }
    for (size_t i = 0; i < why->line_count; i++) {
        struct why_line *line = &why->lines[i];
        const bool is_longer = line->kind == WHY_RUNNABLE && line->difference > 0;
        line->follows = follows && is_longer;
        if (line->follows)
            why_put_behind(line, longest);
        if (is_longer && !line->found && named > 0)
            why_put_behind(line, named);
    }
}

static void why_mark_found(struct why *why)
{
    for (size_t i = 0; i < why->line_count; i++) {
        struct why_line *line = &why->lines[i];
        line->probability = why_split_is_certain(why, line) ? line->probability : 1;
        line->found = why_is_significant(line->probability);
        why->found += line->found;
    }
}

/* Makes lines of the drafts that have time, or of those that have none. Sets their numbers, by draft. */
static void why_add_lines(struct why *why, const struct why_drafts *drafts, bool with_time, uint32_t *lines)
{
    for (size_t i = 0; i < drafts->count; i++) {
        const struct why_draft *draft = &drafts->list[i];
        if ((draft->sets[WHY_SLOW].ticks || draft->sets[WHY_USUAL].ticks) != with_time)
            continue;
        lines[i] = (uint32_t)why->line_count;
        why_add_line(why, draft);
    }
}

static void why_drop_empty_lines(struct why *why)
{
    size_t kept = 0;
    for (size_t i = 0; i < why->line_count; i++) {
        if (why->lines[i].ticks[WHY_SLOW] || why->lines[i].ticks[WHY_USUAL])
            why->lines[kept++] = why->lines[i];
        else
            free(why->lines[i].path);
    }
    why->line_count = kept;
}

/* Chance is tested before lines are divided by samples, as it is unknown which calls have what was estimated. */
static void why_add_all_lines(struct why *why, const struct why_drafts *drafts, uint32_t *rows)
{
    uint32_t *lines = need_memory(drafts->count + 1, sizeof *lines);
    memset(lines, 0xff, drafts->count * sizeof *lines); /* PROFILE_NONE */
    why_add_lines(why, drafts, true, lines);
    for (size_t i = 0; i < why->scan.row_count; i++)
        rows[i] = rows[i] == PROFILE_NONE ? PROFILE_NONE : lines[rows[i]];
    for (int set = 0; set < WHY_SETS; set++)
        why_find_means(why, set);
    why_find_chance(why, rows);
    why_add_lines(why, drafts, false, lines);
    for (size_t i = 0; i < drafts->share_count; i++) {
        drafts->shares[i].from = lines[drafts->shares[i].from];
        drafts->shares[i].to = lines[drafts->shares[i].to];
    }
    why_split_lines(why, drafts->shares, drafts->share_count);
    why_drop_empty_lines(why);
    free(lines);
}

void why_make_lines(struct why *why)
{
    struct why_drafts drafts = { 0 };
    uint32_t *rows = why_draft_rows(&drafts, why);
    why_move_charges(&drafts);
    why->lines = need_memory(drafts.count + 1, sizeof *why->lines);
    why_add_all_lines(why, &drafts, rows);
    for (int set = 0; set < WHY_SETS; set++)
        why_find_means(why, set);
    why_find_intervals(why);
    why_mark_found(why);
    why_find_places(why);
    bool more = why_is_more(why);
    if (why->line_count)
        qsort_r(why->lines, why->line_count, sizeof *why->lines, why_compare_lines, &more);
    intern_drop(&drafts.known_shares);
    free(rows);
    free(drafts.shares);
    free(drafts.list);
}
