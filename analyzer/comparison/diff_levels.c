/* Finds the rows that differ between sessions because calls were only counted. */
#include "comparison/diff_levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "profile/counted.h"

/* ---- the sessions' functions ---- */

static void diff_levels_note(struct diff *d, uint32_t function, uint8_t unknown)
{
    if (function >= d->level_count) {
        const size_t count = larger(function + 1, 2 * d->level_count);
        d->levels = need_more(d->levels, count, sizeof *d->levels);
        memset(d->levels + d->level_count, 0, count - d->level_count);
        d->level_count = count;
    }
    d->levels[function] |= unknown;
}

static void diff_levels_note_all(struct diff *d, const struct profile *named, bool has_samples)
{
    const uint8_t unknown = has_samples ? DIFF_UNKNOWN_CALLS : DIFF_UNKNOWN_CALLS | DIFF_UNKNOWN_TIMES;
    for (size_t i = 0; i < named->counted_count; i++)
        diff_levels_note(d, diff_common_function(d, named, named->counted[i].function), unknown);
}

/* A range of time has no counted calls, as it is unknown when they were made. Returns the number of functions that have
 * any in the whole session. */
static size_t diff_levels_note_ranged(struct diff *d, const struct analysis *analysis,
                                      const struct diff_renaming *renaming)
{
    struct analysis whole = *analysis;
    whole.profile = profile_new();
    counted_collect(whole.profile, analysis->file, NULL);
    const size_t count = counted_functions(whole.profile);
    whole.names = names_find(analysis->file, whole.profile);
    struct profile *named = diff_name_profile(d, &whole, renaming);
    diff_levels_note_all(d, named, analysis->summary.stack_samples > 0);
    names_free(whole.names, whole.profile->function_count);
    profile_free(whole.profile);
    profile_free(named);
    d->ranged |= count > 0;
    return count;
}

void diff_levels_add(struct diff *d, const struct analysis *analysis, const struct diff_renaming *renaming,
                     const struct profile *named)
{
    const struct summary *summary = &analysis->summary;
    const bool ranged = selection_has_ranges(analysis->selection);
    const size_t count = ranged ? diff_levels_note_ranged(d, analysis, renaming) : summary->counted;
    const char *what = ranged ? "it is unknown which were in the selected range of time, so they are not compared"
                       : d->by == DIFF_PATHS    ? "their calls, and those below them, have no call paths to compare"
                       : summary->stack_samples ? "their times are estimates, or in the times of their callers"
                                                : "their time is in the times of their callers";
    if (!ranged)
        diff_levels_note_all(d, named, summary->stack_samples > 0);
    const bool usual = !ranged && d->by != DIFF_PATHS && summary->stack_samples;
    char *text = need_text("%s: calls of %s were only counted (dwell info lists them): %s", summary->path,
                           COUNTED(count, "function"), what);
    if (count && usual) /* as the budget of recordings has it */
        diff_add_remark(d, "counted-estimated", text);
    else if (count)
        diff_add_remark(d, "only-counted", text);
    else
        free(text);
}

/* ---- rows ---- */

static uint8_t diff_levels_of(const struct diff *d, uint32_t function)
{
    return function < d->level_count ? d->levels[function] : 0;
}

/* A path with a counted function misses calls. A call below one is on the path without that function, which so has the
 * calls of two paths. A path without some of its counted functions still has the others. */
static void diff_levels_judge_paths(const struct diff *d, uint8_t *unknown)
{
    enum { BOTH = DIFF_UNKNOWN_CALLS | DIFF_UNKNOWN_TIMES };
    const struct profile *p = d->keys;
    bool *below = need_memory(p->node_count, sizeof *below);         /* a counted function */
    uint32_t *without = need_memory(p->node_count, sizeof *without); /* the path without counted ones, or NONE */
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        without[i] = i;
        if (node->parent == PROFILE_NONE)
            continue;
        const uint8_t own = diff_levels_of(d, node->function);
        below[i] = below[node->parent] || diff_levels_of(d, p->nodes[node->parent].function);
        unknown[i] |= below[i] ? BOTH : own;
        const uint32_t parent = without[node->parent];
        without[i] = own || parent == PROFILE_NONE ? parent : profile_find_child(p, parent, node->function);
        if (below[i] && !own && without[i] != PROFILE_NONE)
            unknown[without[i]] = BOTH;
    }
    free(without);
    free(below);
}

static void diff_levels_judge_ranged(const struct diff *d, uint8_t *unknown)
{
    for (uint32_t i = 0; i < d->keys->function_count; i++)
        unknown[d->by == DIFF_MODULES ? d->keys->functions[i].module : i] |= diff_levels_of(d, i);
}

uint8_t *diff_levels_judge(const struct diff *d)
{
    if (!d->level_count || (d->by != DIFF_PATHS && !d->ranged))
        return NULL;
    uint8_t *unknown = need_memory(diff_key_count(d), sizeof *unknown);
    if (d->by == DIFF_PATHS)
        diff_levels_judge_paths(d, unknown);
    else
        diff_levels_judge_ranged(d, unknown);
    return unknown;
}
