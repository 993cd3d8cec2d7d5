/* Chooses how many frames of a stack an export writes, so that the whole file stays within bounds. */
#include "export/stack_limit.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    MIN_FRAMES = 64,
    MAX_BYTES = 64 << 20,     /* of all stacks together, or */
    MAX_BYTES_A_STACK = 1024, /* on average, whichever is more */
};

/* Adds up what the stacks take with a limit. */
struct stack_sum {
    struct order_visitor visitor;
    const struct profile *profile;
    const size_t *costs;
    struct stack_limit limit;
    uint64_t *taken; /* by depth: the costs of the frames up to there */
    size_t room;
    size_t deepest;
    uint64_t stacks, sum;
};

static void stack_limit_enter(struct order_visitor *visitor, uint32_t node)
{
    struct stack_sum *s = (struct stack_sum *)visitor;
    const size_t depth = visitor->depth;
    while (depth >= s->room)
        GROW(s->taken, s->room, s->room);
    s->taken[0] = 0;
    s->taken[depth] = s->taken[depth - 1] + s->costs[s->profile->nodes[node].function];
    s->sum += s->taken[depth];
    if (depth > s->limit.outer + s->limit.inner)
        s->sum -= s->taken[depth - s->limit.inner] - s->taken[s->limit.outer];
    s->stacks++;
    s->deepest = depth > s->deepest ? depth : s->deepest;
}

static void stack_limit_add_up(struct stack_sum *s, const struct order *order, size_t frames)
{
    s->limit = (struct stack_limit){ frames / 2, frames - frames / 2 };
    s->stacks = s->sum = 0;
    for (size_t i = 0; i < s->profile->thread_count; i++)
        order_walk(order, &s->profile->threads[i], &s->visitor);
}

struct stack_limit stack_limit_choose(const struct order *order, const size_t *costs, bool *cuts)
{
    struct stack_sum s = { .visitor = { .enter = stack_limit_enter }, .profile = order->profile, .costs = costs };
    stack_limit_add_up(&s, order, SIZE_MAX / 2);
    uint64_t most = s.stacks * MAX_BYTES_A_STACK;
    most = most > MAX_BYTES ? most : MAX_BYTES;
    const bool fits = s.sum <= most;
    size_t low = MIN_FRAMES, high = s.deepest; /* the highest limit that fits is between them */
    while (!fits && low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        stack_limit_add_up(&s, order, middle);
        if (s.sum <= most)
            low = middle;
        else
            high = middle - 1;
    }
    if (!fits)
        s.limit = (struct stack_limit){ low / 2, low - low / 2 };
    *cuts = !fits && low < s.deepest;
    free(s.taken);
    return s.limit;
}
