/*
 * values ROUNDS: what it costs to record values, such as `dwell record --values two:a,b`. Calls functions that do the
 * same, in turn: `plain`, and one for each kind of value. Prints for each the median of the ticks that a call takes,
 * and that of its ratios to `plain` in the same round.
 */
#include "kinds.h"

static volatile unsigned long sum;
static char *t;
static long *item;

NOT_INLINED static void plain(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void two(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void text(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

NOT_INLINED static void member(long a, long b, const char *t, const long *i)
{
    sum += (unsigned long)a + (unsigned char)*t;
    sum ^= (unsigned long)b + (unsigned long)*i;
}

typedef void watched(long a, long b, const char *t, const long *i);

PLAIN static double ticks_of_a_call(int kind)
{
    static watched *const functions[KINDS] = { plain, two, text, member };
    watched *const function = functions[kind];
    const uint64_t begin = read_ticks();
    for (long i = 0; i < CALLS; i++)
        function(i, -i, t, item);
    return (double)(read_ticks() - begin) / CALLS;
}

PLAIN int main(int argc, char **argv)
{
    static const char *const names[KINDS] = { "plain", "two", "text", "member" };
    const int rounds = rounds_wanted(argc, argv);
    t = (char *)malloc(17);
    item = (long *)malloc(sizeof *item);
    if (!t || !item || rounds < 1)
        return 1;
    snprintf(t, 17, "a text of 16 byt");
    *item = 1;
    print_kinds(names, rounds, ticks_of_a_call);
    free(item);
    free(t);
    return 0;
}
