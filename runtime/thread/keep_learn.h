/*
 * Limits that the process learns from its calls: a share of them that is slow, or a multiple of their mean. A limit is
 * two numbers, so it costs the same after any number of calls, and follows a program whose calls become slower.
 *
 * That of a share goes up a little with each call that is longer, and down by less with each other one. Both even out
 * where the wanted share is longer. Threads change it without a lock: what one of them overwrites is one step.
 */
#ifndef DWELL_KEEP_LEARN_H
#define DWELL_KEEP_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/format_keep.h"

struct keep_learnt {
    uint64_t calls;
    uint64_t level; /* of the limit, or the mean; in 1/65536 ticks */
};

enum { KEEP_LEVEL_BITS = 16, KEEP_ALL = 10000, KEEP_LONGEST_BITS = 46 /* of a duration that counts as it is */ };

/* So many calls are only learnt from. */
static inline uint64_t keep_first_calls(const struct dwell_watch *rule)
{
    return rule->rule == DWELL_KEEP_SHARE ? 2 * KEEP_ALL / rule->amount : 100;
}

static inline void keep_learn_share(struct keep_learnt *l, const struct dwell_watch *rule, uint64_t calls,
                                    uint64_t level, bool longer)
{
    const uint64_t now = __atomic_load_n(&l->level, __ATOMIC_RELAXED);
    const uint64_t step = now >> (l->calls < keep_first_calls(rule) ? 2 : 5), down = step / KEEP_ALL * rule->amount;
    const uint64_t all_down = down * calls < now / 2 ? down * calls : now / 2;
    const uint64_t next = !now ? level : longer ? now + (step - down) : now - all_down;
    const uint64_t most = UINT64_C(1) << (KEEP_LONGEST_BITS + KEEP_LEVEL_BITS);
    __atomic_store_n(&l->level, next > most ? most : next > 0 ? next : 1, __ATOMIC_RELAXED);
}

/* Of the last calls, some thousand, the mean is that of all. */
static inline void keep_learn_mean(struct keep_learnt *l, uint64_t calls, uint64_t level)
{
    const uint64_t now = __atomic_load_n(&l->level, __ATOMIC_RELAXED), most = UINT64_C(1) << 13;
    const uint64_t known = l->calls + calls < most ? l->calls + calls : most;
    const uint64_t next = level > now ? now + (level - now) / known * calls : now - (now - level) / known * calls;
    __atomic_store_n(&l->level, l->calls ? next : level, __ATOMIC_RELAXED);
}

/* Learns from calls of one watch that took `ticks` in the mean, all longer than the limit, or none. */
static inline void keep_learn(struct keep_learnt *l, const struct dwell_watch *rule, uint64_t calls, uint64_t ticks,
                              bool longer)
{
    const uint64_t most = UINT64_C(1) << KEEP_LONGEST_BITS, level = (ticks < most ? ticks : most) << KEEP_LEVEL_BITS;
    if (rule->rule == DWELL_KEEP_SHARE)
        keep_learn_share(l, rule, calls, level, longer);
    else
        keep_learn_mean(l, calls, level);
    __atomic_store_n(&l->calls, l->calls + calls, __ATOMIC_RELAXED);
}

/* Whether a call is longer than what was learnt so far. */
static inline bool keep_is_longer(const struct keep_learnt *l, uint64_t ticks)
{
    return ticks > __atomic_load_n(&l->level, __ATOMIC_RELAXED) >> KEEP_LEVEL_BITS;
}

/* In ticks; none while there are too few calls. */
static inline uint64_t keep_limit_of(const struct keep_learnt *l, const struct dwell_watch *rule)
{
    const uint64_t ticks = l->level >> KEEP_LEVEL_BITS;
    if (l->calls < keep_first_calls(rule))
        return UINT64_MAX;
    return rule->rule == DWELL_KEEP_SHARE ? ticks : ticks * rule->amount / DWELL_KEEP_ONCE;
}

#endif
