/* Chooses the rate of samples under an overhead budget. It is one rate for the whole run, so all samples have the same
 * weight. */
#include "commands/sample_rate.h"

#include "base/numbers.h"

/* Two digits: recordings of one machine have the same rate, although its cost is measured each time. */
static unsigned sample_rate_round_down(unsigned rate)
{
    unsigned step = 1;
    while (rate / step >= 100)
        step *= 10;
    return rate - rate % step;
}

unsigned sample_rate_within(uint32_t permille, uint64_t cost)
{
    if (!cost)
        return SAMPLE_USUAL_RATE;
    const uint64_t half = (uint64_t)permille * 1000000 / 2; /* nanoseconds of a second */
    return sample_rate_round_down((unsigned)larger(smaller(half / cost, SAMPLE_MAX_RATE), 1));
}

uint32_t sample_rate_rest(uint32_t permille, uint64_t cost, unsigned rate)
{
    return (uint32_t)larger(less(permille, cost * rate / 1000000), 1);
}
