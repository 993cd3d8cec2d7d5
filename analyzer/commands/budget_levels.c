/* Chooses the levels of functions under an overhead budget. */
#include "commands/budget_levels.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/wide.h"

enum {
    COUNTED_PART = 14, /* a counted call costs such a part of a timed one */
    SETTLING = 3,      /* looks */
    QUIET = 20,        /* looks until a rare function is timed again; twice as many each time */
    MAX_DOUBLINGS = 8,
    RARE_PART = 50, /* of the budget: a function that costs less is rare */
    MIN_CALLS = 32, /* in a look: fewer are not worth a change */
};

static uint64_t budget_cost(uint64_t calls, const struct budget_look *look)
{
    return calls * look->probes / 256;
}

static uint64_t budget_total(const struct budget_function *functions, size_t count, const struct budget_look *look)
{
    uint64_t timed = 0, counted = 0;
    for (size_t i = 0; i < count; i++) {
        timed += functions[i].calls;
        counted += functions[i].counted;
    }
    return budget_cost(timed, look) + budget_cost(counted, look) / COUNTED_PART;
}

/* Shorter calls first. */
static int budget_compare(const void *a, const void *b, void *list)
{
    const struct budget_function *functions = list, *x = &functions[*(const uint32_t *)a],
                                 *y = &functions[*(const uint32_t *)b];
    const uint64_t left = x->inclusive / x->calls, right = y->inclusive / y->calls;
    if (left != right)
        return left < right ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

void budget_begin_counted(struct budget_function *f)
{
    f->is_counted = true;
    f->settling = SETTLING;
    f->lowered++;
    f->quiet = 0;
}

static size_t budget_lower(struct budget_function *functions, size_t count, const struct budget_look *look,
                           uint64_t total, uint64_t allowed, uint32_t *changed)
{
    size_t candidates = 0, used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct budget_function *f = &functions[i];
        if (!f->is_counted && !f->is_fixed && !f->settling && f->calls >= MIN_CALLS)
            changed[candidates++] = i;
    }
    qsort_r(changed, candidates, sizeof *changed, budget_compare, functions);
    for (; used < candidates && total > allowed; used++) {
        struct budget_function *f = &functions[changed[used]];
        const uint64_t cost = budget_cost(f->calls, look);
        total = less(total, cost - cost / COUNTED_PART);
        budget_begin_counted(f);
    }
    return used;
}

static size_t budget_raise(struct budget_function *functions, size_t count, const struct budget_look *look,
                           uint64_t total, uint64_t allowed, uint32_t *changed)
{
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct budget_function *f = &functions[i];
        if (!f->is_counted || f->is_fixed || f->settling ||
            !look->cpu) /* a look at a program that waited says nothing */
            continue;
        const uint64_t cost = budget_cost(f->counted, look);
        f->quiet = cost < allowed / RARE_PART ? f->quiet + 1 : 0;
        const uint32_t doublings = f->lowered - 1 < MAX_DOUBLINGS ? f->lowered - 1 : MAX_DOUBLINGS;
        if (f->quiet < (uint32_t)QUIET << doublings || total + cost > allowed / 2)
            continue;
        total += cost;
        f->is_counted = false;
        f->settling = SETTLING;
        changed[used++] = i;
    }
    return used;
}

/* A function that is still timed some time after the change cannot be changed: its code is not known well enough. */
static void budget_settle(struct budget_function *f)
{
    if (f->settling)
        f->settling--;
    else if (f->is_counted && f->calls >= MIN_CALLS && f->calls > f->counted) {
        f->is_counted = false;
        f->is_fixed = true;
    }
}

size_t budget_decide(struct budget_function *functions, size_t count, const struct budget_look *look, uint32_t *changed)
{
    const uint64_t total = budget_total(functions, count, look), own = less(look->cpu, total),
                   allowed = multiply_divide(own, look->permille, 1000);
    for (size_t i = 0; i < count; i++)
        budget_settle(&functions[i]);
    if (total > allowed) /* somewhat below the budget, as the next look may have more calls */
        return budget_lower(functions, count, look, total, allowed - allowed / 4, changed);
    return budget_raise(functions, count, look, total, allowed, changed);
}
