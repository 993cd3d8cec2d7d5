/* Finds how often a function's callers have waited for a condition, and compares that with its calls. */
#include "comparison/diff_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "comparison/diff_names.h"
#include "symbols/os_calls.h"

static bool waits_is_condition(const struct diff *d, const struct profile *p, uint32_t function)
{
    static const char *const names[] = { "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                                         "cnd_wait", "cnd_timedwait" };
    const char *name = d->names.pieces[p->functions[function].offset].bytes;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return os_calls_is_library(p->modules[p->functions[function].module].path);
    return false;
}

/* By node: the waits that it makes itself. */
static uint64_t *waits_find_own(const struct diff *d, const struct profile *p)
{
    bool *conditions = need_memory(p->function_count + 1, sizeof *conditions);
    uint64_t *own = need_memory(p->node_count + 1, sizeof *own);
    for (uint32_t i = 0; i < p->function_count; i++)
        conditions[i] = waits_is_condition(d, p, i);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent != PROFILE_NONE && conditions[node->function])
            own[node->parent] = add_saturated(own[node->parent], node->calls);
    }
    free(conditions);
    return own;
}

/* By node: its own waits, and those of functions that do little else than to wait for it. */
static uint64_t *waits_find_all(const struct diff *d, const struct profile *p)
{
    uint64_t *own = waits_find_own(d, p), *all = need_memory(p->node_count + 1, sizeof *all);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        all[i] = add_saturated(all[i], own[i]);
        if (node->parent != PROFILE_NONE && own[i] && own[i] >= less(node->calls, own[i]))
            all[node->parent] = add_saturated(all[node->parent], own[i]);
    }
    free(own);
    return all;
}

/* What a function calls is called again as often as the function itself is. Parents come before their children. */
static uint64_t waits_below(const struct profile *p, const uint64_t *waits, uint32_t node)
{
    const struct profile_node *parent = &p->nodes[p->nodes[node].parent];
    const uint64_t above = waits[p->nodes[node].parent], calls = p->nodes[node].calls;
    if (!above || !parent->calls)
        return 0;
    const uint64_t each = (calls + parent->calls - 1) / parent->calls;
    return above > UINT64_MAX / larger(each, 1) ? UINT64_MAX : above * each;
}

void diff_waits_fill(const struct diff *d, struct diff_run *run, const struct profile *p, const uint32_t *keys)
{
    uint64_t *all = waits_find_all(d, p), *waits = need_memory(p->node_count + 1, sizeof *waits);
    run->waits = need_memory(run->row_count + 1, sizeof *run->waits);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        if (node->parent == PROFILE_NONE)
            continue;
        waits[i] = larger(all[node->parent], waits_below(p, waits, i));
        const uint32_t key = keys[d->by == DIFF_PATHS     ? i
                                  : d->by == DIFF_MODULES ? p->functions[node->function].module
                                                          : node->function];
        run->waits[key] = add_saturated(run->waits[key], waits[i]);
    }
    free(waits);
    free(all);
}

/* ---- the change ---- */

static bool waits_explain(const struct diff_row *row, const uint64_t least[DIFF_SIDES], const uint64_t most[DIFF_SIDES],
                          enum diff_side few, enum diff_side many)
{
    return row->least_calls[many] > row->most_calls[few] &&
           row->least_calls[many] - row->most_calls[few] <= less(most[many], least[few]);
}

bool diff_waits_explain(const struct diff *d, const struct diff_row *row)
{
    uint64_t least[DIFF_SIDES] = { UINT64_MAX, UINT64_MAX }, most[DIFF_SIDES] = { 0 };
    for (size_t i = 0; i < d->run_count; i++) {
        const struct diff_run *run = &d->runs[i];
        const uint64_t waits = row->key < run->row_count ? run->waits[row->key] : 0;
        least[run->side] = smaller(least[run->side], waits);
        most[run->side] = larger(most[run->side], waits);
    }
    return waits_explain(row, least, most, DIFF_BEFORE, DIFF_AFTER) ||
           waits_explain(row, least, most, DIFF_AFTER, DIFF_BEFORE);
}
