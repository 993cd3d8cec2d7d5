/* Functions without probes take known parts of the time of one that has them: heavy three times as much as light. Both
 * are called by way of others: light from inner from outer, heavy as the comparison of qsort. */
#include <stdio.h>
#include <stdlib.h>

#define WITHOUT_PROBES __attribute__((no_instrument_function, noinline))

enum { STEPS = 2000, ITEMS = 4 };

static volatile unsigned long light_sum, heavy_sum;
static unsigned long light_steps, heavy_steps;

WITHOUT_PROBES static void light(unsigned long steps)
{
    for (unsigned long i = 0; i < steps; i++)
        light_sum = light_sum + i;
    light_steps += steps;
}

WITHOUT_PROBES static void inner(unsigned long steps)
{
    light(steps);
    light_sum++;
}

WITHOUT_PROBES static void outer(unsigned long steps)
{
    inner(steps);
    light_sum++;
}

WITHOUT_PROBES static int heavy(const void *a, const void *b)
{
    for (unsigned long i = 0; i < STEPS; i++)
        heavy_sum = heavy_sum + i;
    heavy_steps += STEPS;
    return *(const int *)a - *(const int *)b;
}

static void part(void)
{
    int items[ITEMS] = { 4, 2, 3, 1 };
    qsort(items, ITEMS, sizeof *items, heavy);
    outer((heavy_steps - 3 * light_steps) / 3);
}

int main(int count, char **arguments)
{
    const int parts = count > 1 ? atoi(arguments[1]) : 1000;
    for (int i = 0; i < parts; i++)
        part();
    printf("steps %lu %lu\n", light_steps, heavy_steps);
    return 0;
}
