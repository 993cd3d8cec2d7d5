/* A library whose calls of the probes rewriting.c changes while threads run it. */
#include "toggled.h"

#define KEPT __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
#define QUIET __attribute__((no_instrument_function))

typedef unsigned long *counts;

/* By one step, as handlers call the functions as well. */
#define CALLED(name) __atomic_fetch_add(&calls[TOGGLED_##name], 1, __ATOMIC_RELAXED)

KEPT static long leaf(counts calls, long n)
{
    CALLED(leaf);
    return n * 3 + 1;
}

KEPT static void tail(counts calls, long *n)
{
    CALLED(tail);
    *n += 7;
}

INLINED long inlined(counts calls, long n)
{
    CALLED(inlined);
    return n % 3 ? leaf(calls, n) : n + 2;
}

KEPT static long outer(counts calls, long n)
{
    CALLED(outer);
    return inlined(calls, n) + inlined(calls, n + 1);
}

KEPT static long deep(counts calls, long n)
{
    CALLED(deep);
    return n ? 1 + deep(calls, n - 1) : inlined(calls, n);
}

KEPT static long chosen(counts calls, long n)
{
    CALLED(chosen);
    switch (n % 6) {
    case 0:
        return leaf(calls, n);
    case 1:
        return outer(calls, n);
    case 2:
        tail(calls, &n);
        return n;
    case 3:
        return deep(calls, 3);
    case 4:
        n = inlined(calls, n);
        /* fall through */
    default:
        return n + inlined(calls, n);
    }
}

QUIET static long run(counts calls, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += chosen(calls, i);
        tail(calls, &sum);
    }
    return sum;
}

extern const struct toggled_library toggled_library;
const struct toggled_library toggled_library = {
    {
#define TOGGLED_FUNCTION(name) (void *)name,
        TOGGLED_FUNCTIONS(TOGGLED_FUNCTION)
#undef TOGGLED_FUNCTION
    },
    run,
};
