/* Chooses the levels of functions under an overhead budget. */
#include "profile/budget_levels.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/wide.h"

enum {
    COUNTED_PART = 14, /* a counted call costs such a part of a timed one */
    QUIET = 20,        /* looks until a rare function is timed again; twice as many each time */
    MAX_DOUBLINGS = 8,
    RARE_PART = 50,          /* of the budget: a function that costs less is rare */
    STUBBORN = 10,           /* looks in which a function is timed that should be counted: it cannot be changed */
    MIN_CALLS = 32,          /* in a look: fewer are not worth a change */
    WHOLE = 1 << 16,         /* of the budget of a look, in shares */
    USUAL_PROBES = 50 * 256, /* 1/256 ticks of a call, before the runtime has measured it */
};

uint64_t budget_probes(const struct session_file *file)
{
    uint64_t probes = 0;
    for (size_t i = 0; i < file->process_count; i++) {
        const struct dwell_rec_probes *p = &file->processes[i].probes;
        const uint64_t sum = (uint64_t)p->in_callee + p->in_caller;
        if (sum && (!probes || sum < probes))
            probes = sum;
    }
    return probes ? probes : USUAL_PROBES;
}

uint64_t budget_cost(uint64_t calls, const struct budget_look *look)
{
    return calls * look->probes / 256;
}

uint64_t budget_cost_counted(uint64_t calls, const struct budget_look *look)
{
    return budget_cost(calls, look) / COUNTED_PART;
}

uint64_t budget_pays(const struct budget_look *look)
{
    return smaller(look->changes, multiply_divide(look->cpu, look->permille, 4000));
}

bool budget_is_too_short(const struct budget_function *f, const struct budget_look *look)
{
    const uint64_t probes = budget_cost(f->all.timed, look);
    return f->all.timed >= MIN_CALLS && probes > multiply_divide(less(f->all.inclusive, probes), look->permille, 1000);
}

/* What the calls of all functions have cost since the last look, or since the last one that was not brief. */
static uint64_t budget_total(const struct budget_function *functions, size_t count, const struct budget_look *look,
                             bool row)
{
    uint64_t timed = 0, counted = 0;
    for (size_t i = 0; i < count; i++) {
        timed += row ? functions[i].row.timed : functions[i].calls;
        counted += row ? functions[i].row.counted : functions[i].counted;
    }
    return budget_cost(timed, look) + budget_cost_counted(counted, look);
}

/* A cost as a share of what a look allows, as looks differ in length. */
static uint32_t budget_share(uint64_t cost, uint64_t allowed)
{
    const uint64_t share = allowed ? multiply_divide(cost, WHOLE, allowed) : 0;
    return share < UINT32_MAX / 4 ? (uint32_t)share : UINT32_MAX / 4;
}

static uint32_t budget_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Shorter calls first. */
static int budget_compare(const void *a, const void *b, void *list)
{
    const struct budget_function *functions = list, *x = &functions[*(const uint32_t *)a],
                                 *y = &functions[*(const uint32_t *)b];
    const uint64_t left = x->inclusive / x->calls, right = y->inclusive / y->calls;
    if (left != right)
        return left < right ? -1 : 1;
    const int places = ORDER_BY(x, y, offset, module);
    return places ? places : ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static bool budget_is_rare(uint32_t share)
{
    return share < WHOLE / RARE_PART;
}

/* The looks in a row begin again. */
static void budget_begin_row(struct budget_function *f)
{
    f->quiet = f->peak = f->busiest = 0;
}

void budget_begin_counted(struct budget_function *f)
{
    f->is_counted = true;
    f->settling = BUDGET_SETTLING;
    f->lowered++;
    budget_begin_row(f);
}

/* Functions that are known to be too short, by their code or by their calls, are counted the first time that the budget
 * is exceeded, also those that are not called now. One that was timed again because it is rare stays so. */
static bool budget_goes_together(const struct budget_function *f, const struct budget_look *look)
{
    if (f->is_counted || f->is_fixed || f->settling || f->lowered || f->all.counted) /* the last one: by hand */
        return false;
    return f->is_short ? !f->if_called || f->all.timed : budget_is_too_short(f, look);
}

static size_t budget_lower_short(struct budget_function *functions, size_t count, const struct budget_look *look,
                                 uint64_t *total, uint32_t *changed)
{
    size_t used = 0;
    for (uint32_t i = 0; i < count && look->together; i++) {
        struct budget_function *f = &functions[i];
        if (!budget_goes_together(f, look))
            continue;
        *total = less(*total, budget_cost(f->calls, look) - budget_cost_counted(f->calls, look));
        budget_begin_counted(f);
        changed[used++] = i;
    }
    return used;
}

/* What functions cost that are counted as soon as the processes have changed them. To count others does not help. */
static uint64_t budget_still_timed(const struct budget_function *functions, size_t count,
                                   const struct budget_look *look)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < count; i++)
        calls += functions[i].is_counted && functions[i].settling ? functions[i].calls : 0;
    return budget_cost(calls, look);
}

static bool budget_may_be_lowered(const struct budget_function *f)
{
    return !f->is_counted && !f->is_fixed && !f->settling && f->calls >= MIN_CALLS;
}

/* Lists the functions that may be counted. Rare ones are among them only if many of them together are not rare. */
static size_t budget_candidates(const struct budget_function *functions, size_t count, const struct budget_look *look,
                                uint64_t allowed, uint32_t *list)
{
    uint64_t rare = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t cost = budget_may_be_lowered(&functions[i]) ? budget_cost(functions[i].calls, look) : 0;
        rare += budget_is_rare(budget_share(cost, allowed)) ? cost : 0;
    }
    const bool with_rare = rare > allowed / 4;
    size_t candidates = 0;
    for (uint32_t i = 0; i < count; i++)
        if (budget_may_be_lowered(&functions[i]) &&
            (with_rare || !budget_is_rare(budget_share(budget_cost(functions[i].calls, look), allowed))))
            list[candidates++] = i;
    return candidates;
}

static size_t budget_lower(struct budget_function *functions, size_t count, const struct budget_look *look,
                           uint64_t total, uint64_t allowed, uint32_t *changed)
{
    for (size_t i = 0; i < count; i++)
        if (functions[i].is_counted)
            budget_begin_row(&functions[i]);
    total = less(total, budget_still_timed(functions, count, look));
    const size_t together = budget_lower_short(functions, count, look, &total, changed);
    changed += together;
    const size_t candidates = budget_candidates(functions, count, look, allowed, changed);
    size_t used = 0;
    qsort_r(changed, candidates, sizeof *changed, budget_compare, functions);
    for (; used < candidates && total > allowed; used++) {
        struct budget_function *f = &functions[changed[used]];
        total = less(total, budget_cost(f->calls, look) - budget_cost_counted(f->calls, look));
        budget_begin_counted(f);
    }
    return together + used;
}

/* The share of the budget that is in use. A function that is timed again keeps the share of its peak, also in looks in
 * which it is not called. */
static uint64_t budget_used_share(const struct budget_function *functions, size_t count, const struct budget_look *look,
                                  uint64_t total, uint64_t allowed)
{
    uint64_t share = budget_share(total, allowed);
    for (size_t i = 0; i < count; i++) {
        const struct budget_function *f = &functions[i];
        if (!f->is_counted && f->lowered)
            share += less(f->peak, budget_share(budget_cost(f->row.timed, look), allowed));
    }
    return share;
}

/* Adds a look to the function's row. Returns whether the row is complete. */
static bool budget_add_to_row(struct budget_function *f, uint32_t share, uint64_t used)
{
    if (!budget_is_rare(share)) {
        budget_begin_row(f);
        return false;
    }
    const uint32_t doublings = f->lowered - 1 < MAX_DOUBLINGS ? f->lowered - 1 : MAX_DOUBLINGS;
    f->quiet++;
    f->peak = budget_larger(f->peak, share);
    f->busiest = budget_larger(f->busiest, used < WHOLE ? (uint32_t)used : WHOLE);
    return f->quiet >= (uint32_t)QUIET << doublings;
}

/* Functions become timed again if that would have kept half of the budget free in each look of their rows. So they do
 * not have to be counted again at once. */
static size_t budget_raise(struct budget_function *functions, size_t count, const struct budget_look *look,
                           uint64_t total, uint64_t allowed, uint32_t *changed)
{
    const uint64_t used_share = budget_used_share(functions, count, look, total, allowed);
    uint64_t raised = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct budget_function *f = &functions[i];
        if (!f->is_counted || f->is_fixed || f->settling || !allowed) /* a look at a program that waited says nothing */
            continue;
        if (f->is_short && !f->all.counted)
            continue; /* it has not been called yet */
        if (!budget_add_to_row(f, budget_share(budget_cost(f->row.counted, look), allowed), used_share))
            continue;
        if (f->busiest + raised + f->peak > WHOLE / 2) {
            budget_begin_row(f);
            continue;
        }
        raised += f->peak;
        f->is_counted = false;
        f->settling = BUDGET_SETTLING;
        changed[used++] = i;
    }
    return used;
}

/* A function that is still timed some time after the change cannot be changed: its code is not known well enough. But
 * processes that have just begun may not have read theirs yet. */
static void budget_settle(struct budget_function *f)
{
    if (f->settling) {
        f->settling--;
        return;
    }
    if (!f->is_counted || f->row.counted >= f->row.timed) {
        f->stubborn = f->row.counted ? 0 : f->stubborn;
        return;
    }
    f->stubborn += f->row.timed >= MIN_CALLS;
    f->is_fixed = f->stubborn >= STUBBORN;
    f->is_counted = !f->is_fixed;
}

static void budget_add_to_sums(struct budget_function *f)
{
    struct budget_calls *const sums[] = { &f->all, &f->row };
    for (int i = 0; i < 2; i++) {
        sums[i]->timed += f->calls;
        sums[i]->inclusive += f->inclusive;
        sums[i]->counted += f->counted;
    }
}

static uint64_t budget_allowed(uint64_t cpu, uint64_t total, const struct budget_look *look)
{
    return multiply_divide(less(cpu, total), look->permille, 1000);
}

/* Looks that are not brief are far enough from one another to tell whether a function is rare. */
static size_t budget_end_row(struct budget_function *functions, size_t count, const struct budget_look *look,
                             uint32_t *changed)
{
    const uint64_t cpu = look->cpu + look->brief_cpu, total = budget_total(functions, count, look, true);
    const uint64_t allowed = budget_allowed(cpu, total, look);
    return total > allowed ? 0 : budget_raise(functions, count, look, total + look->changes, allowed, changed);
}

size_t budget_decide(struct budget_function *functions, size_t count, const struct budget_look *look, uint32_t *changed)
{
    for (size_t i = 0; i < count; i++)
        budget_add_to_sums(&functions[i]);
    const uint64_t probes = budget_total(functions, count, look, false), total = probes + budget_pays(look),
                   allowed = budget_allowed(look->cpu, probes, look);
    size_t used = 0;
    for (size_t i = 0; i < count && !look->brief; i++)
        budget_settle(&functions[i]);
    if (total > allowed) /* somewhat below the budget, as the next look may have more calls */
        used = budget_lower(functions, count, look, total, allowed - allowed / 4, changed);
    else if (!look->brief)
        used = budget_end_row(functions, count, look, changed);
    for (size_t i = 0; i < count && !look->brief; i++)
        functions[i].row = (struct budget_calls){ 0 };
    return used;
}
