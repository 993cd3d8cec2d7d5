/* Limits of slow calls that a process learns: what share of the calls they find, and that they follow the calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "keep_learn.h"

/* Durations that look random, evenly from `least` to `least` + `spread`. */
static uint64_t random_ticks(uint64_t *state, uint64_t least, uint64_t spread)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return least + (*state >> 33) % spread;
}

static void learn_one(struct keep_learnt *l, const struct dwell_watch *rule, uint64_t ticks)
{
    keep_learn(l, rule, 1, ticks, keep_is_longer(l, ticks));
}

/* Returns how many of so many calls were slow. */
static double share_of_slow(struct keep_learnt *l, const struct dwell_watch *rule, uint64_t *state, uint64_t least)
{
    enum { CALLS = 200000 };
    unsigned slow = 0;
    for (int i = 0; i < CALLS; i++) {
        const uint64_t ticks = random_ticks(state, least, 10 * least);
        slow += ticks > keep_limit_of(l, rule);
        learn_one(l, rule, ticks);
    }
    return (double)slow / CALLS;
}

Test(unit_keep_learn, a_share_of_the_calls)
{
    static const uint32_t amounts[] = { 5000, 1000, 100, 10 };
    uint64_t state = 1;
    for (int i = 0; i < 4; i++) {
        const struct dwell_watch rule = { .rule = DWELL_KEEP_SHARE, .amount = amounts[i] };
        struct keep_learnt l = { 0, 0 };
        const double wanted = amounts[i] / 10000.0;
        share_of_slow(&l, &rule, &state, 1000);
        cr_assert(epsilon_eq(dbl, share_of_slow(&l, &rule, &state, 1000), wanted, wanted / 5));
        /* Calls that are 50 times as long, and then as short as before. */
        share_of_slow(&l, &rule, &state, 50000);
        cr_assert(epsilon_eq(dbl, share_of_slow(&l, &rule, &state, 50000), wanted, wanted / 5));
        for (int j = 0; j < 10; j++)
            share_of_slow(&l, &rule, &state, 1000);
        cr_assert(epsilon_eq(dbl, share_of_slow(&l, &rule, &state, 1000), wanted, wanted / 5));
    }
}

/* The first calls are only learnt from. */
Test(unit_keep_learn, the_first_calls)
{
    const struct dwell_watch share = { .rule = DWELL_KEEP_SHARE, .amount = 100 };
    const struct dwell_watch mean = { .rule = DWELL_KEEP_MEAN, .amount = 5 * DWELL_KEEP_ONCE };
    struct keep_learnt l = { 0, 0 };
    for (int i = 0; i < 200; i++) {
        cr_assert(eq(u64, keep_limit_of(&l, &share), UINT64_MAX));
        learn_one(&l, &share, 1000);
    }
    cr_assert(lt(u64, keep_limit_of(&l, &share), 2000));
    l = (struct keep_learnt){ 0, 0 };
    for (int i = 0; i < 100; i++) {
        cr_assert(eq(u64, keep_limit_of(&l, &mean), UINT64_MAX));
        learn_one(&l, &mean, 1000);
    }
    cr_assert(eq(u64, keep_limit_of(&l, &mean), 5000));
}

/* Calls that are added together, and a mean of all. */
Test(unit_keep_learn, the_mean)
{
    const struct dwell_watch rule = { .rule = DWELL_KEEP_MEAN, .amount = 3 * DWELL_KEEP_ONCE / 2 };
    struct keep_learnt l = { 0, 0 };
    keep_learn(&l, &rule, 16, 1000, false);
    for (int i = 0; i < 100; i++)
        keep_learn(&l, &rule, 16, i % 2 ? 1000 : 3000, false);
    cr_assert(epsilon_eq(dbl, (double)keep_limit_of(&l, &rule), 1.5 * 2000, 30));
    for (int i = 0; i < 100000; i++)
        keep_learn(&l, &rule, 1, 100, false);
    cr_assert(epsilon_eq(dbl, (double)keep_limit_of(&l, &rule), 150, 2));
}

/* No duration is too long. */
Test(unit_keep_learn, extremes)
{
    const struct dwell_watch share = { .rule = DWELL_KEEP_SHARE, .amount = 1 };
    const struct dwell_watch mean = { .rule = DWELL_KEEP_MEAN, .amount = 2 * DWELL_KEEP_ONCE };
    struct keep_learnt l = { 0, 0 }, m = { 0, 0 };
    for (int i = 0; i < 30000; i++) {
        learn_one(&l, &share, i % 2 ? 0 : UINT64_MAX);
        learn_one(&m, &mean, UINT64_MAX);
    }
    cr_assert(gt(u64, keep_limit_of(&l, &share), 0));
    cr_assert(eq(u64, keep_limit_of(&m, &mean), UINT64_C(2) << KEEP_LONGEST_BITS));
}
