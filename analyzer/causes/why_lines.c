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
    uint32_t node; /* PROFILE_NONE for the whole function */
    enum why_kind kind;
    uint32_t wait; /* 1 + number; zero for none */
    struct why_sum sets[WHY_SETS];
};

struct why_drafts {
    struct why_draft *list;
    size_t count;
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

/* Returns the drafts' numbers, by row. */
static uint32_t *why_draft_rows(struct why_drafts *drafts, const struct why_found *found,
                                const struct cause_paths *paths)
{
    struct intern keys = { 0 };
    uint32_t *numbers = need_memory(found->row_count + 1, sizeof *numbers);
    drafts->list = need_memory(found->row_count + 1, sizeof *drafts->list);
    for (size_t i = 0; i < found->row_count; i++) {
        const struct why_row *row = &found->rows[i];
        const uint32_t path = row->node == PROFILE_NONE ? PROFILE_NONE : paths->ids[row->node];
        const uint32_t key[] = { path, row->kind, row->wait };
        numbers[i] = intern(&keys, key, sizeof key);
        if (numbers[i] == drafts->count) {
            drafts->list[drafts->count++] =
                (struct why_draft){ .node = row->node, .kind = row->kind, .wait = row->wait };
        }
        why_add_draft(&drafts->list[numbers[i]], row);
    }
    intern_drop(&keys);
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
    size_t line;
};

static int why_compare_rests(const void *a, const void *b)
{
    const struct why_rest *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

/* The means are whole nanoseconds that add up to the set's: the largest remainders are rounded up. */
static void why_find_means(struct why *why, const struct analysis *analysis, int set)
{
    struct why_set *s = &why->sets[set];
    const uint128 divisor = (uint128)analysis->summary.ticks_per_second * s->calls;
    struct why_rest *rests = need_memory(why->line_count + 1, sizeof *rests);
    s->ns = (uint64_t)((uint128)s->ticks * 1000000000 / divisor);
    uint64_t missing = s->ns;
    for (size_t i = 0; i < why->line_count; i++) {
        const uint128 amount = (uint128)why->lines[i].ticks[set] * 1000000000;
        why->lines[i].ns[set] = (uint64_t)(amount / divisor);
        missing -= why->lines[i].ns[set];
        rests[i] = (struct why_rest){ (uint64_t)((amount % divisor << 32) / divisor), i };
    }
    if (why->line_count)
        qsort(rests, why->line_count, sizeof *rests, why_compare_rests);
    for (size_t i = 0; i < missing && i < why->line_count; i++)
        why->lines[rests[i].line].ns[set]++;
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

static void why_add_line(struct why *why, const struct why_draft *draft, const struct cause_paths *paths,
                         const struct analysis *analysis)
{
    static const double normal_95 = 1.96;
    struct why_line *line = &why->lines[why->line_count++];
    *line = (struct why_line){ .kind = draft->kind, .probability = NAN };
    line->path = cause_path_text(paths, draft->node == PROFILE_NONE ? 1 : draft->node, MAX_PATH_BYTES);
    line->wait = draft->wait ? &why->waits.list[draft->wait - 1] : NULL;
    double variance = 0;
    for (int set = 0; set < WHY_SETS; set++) {
        line->ticks[set] = draft->sets[set].ticks;
        line->count[set] = draft->sets[set].count;
        variance += why_variance(&draft->sets[set], why->sets[set].calls);
    }
    line->ci95 = normal_95 * sqrt(variance) * 1e9 / (double)analysis->summary.ticks_per_second;
}

static int why_compare_lines(const void *a, const void *b, void *context)
{
    const struct why_line *x = a, *y = b;
    const bool more = *(const bool *)context;
    if (x->difference != y->difference)
        return (x->difference < y->difference) == more ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    const int paths = strcmp(x->path, y->path);
    if (paths || !x->wait || !y->wait)
        return paths;
    const int names = strcmp(x->wait->text, y->wait->text);
    return names ? names : strcmp(x->wait->path, y->wait->path);
}

static void why_mark_found(struct why *why)
{
    static const double significant = 0.05;
    for (size_t i = 0; i < why->line_count; i++) {
        why->lines[i].found = why->lines[i].probability <= significant;
        why->found += why->lines[i].found;
    }
}

void why_make_lines(struct why *why, const struct analysis *analysis)
{
    struct cause_path_numbers numbers = { 0 };
    struct function_name *names = names_find(analysis->file, why->scan.paths);
    struct cause_paths paths = cause_paths_of(&numbers, why->scan.paths, names);
    struct why_drafts drafts = { 0 };
    uint32_t *rows = why_draft_rows(&drafts, &why->scan, &paths);
    uint32_t *lines = need_memory(drafts.count + 1, sizeof *lines);
    why_move_charges(&drafts);
    why->lines = need_memory(drafts.count + 1, sizeof *why->lines);
    for (size_t i = 0; i < drafts.count; i++) {
        lines[i] = PROFILE_NONE;
        if (!drafts.list[i].sets[WHY_SLOW].ticks && !drafts.list[i].sets[WHY_USUAL].ticks)
            continue;
        lines[i] = (uint32_t)why->line_count;
        why_add_line(why, &drafts.list[i], &paths, analysis);
    }
    for (size_t i = 0; i < why->scan.row_count; i++)
        rows[i] = lines[rows[i]];
    for (int set = 0; set < WHY_SETS; set++)
        why_find_means(why, analysis, set);
    for (size_t i = 0; i < why->line_count; i++)
        why->lines[i].difference = (int64_t)(why->lines[i].ns[WHY_SLOW] - why->lines[i].ns[WHY_USUAL]);
    why_find_chance(why, rows);
    bool more = why_is_more(why);
    if (why->line_count)
        qsort_r(why->lines, why->line_count, sizeof *why->lines, why_compare_lines, &more);
    why_mark_found(why);
    free(lines);
    free(rows);
    free(drafts.list);
    names_free(names, why->scan.paths->function_count);
    cause_paths_drop(&paths);
    cause_path_numbers_drop(&numbers);
}
