/* Chooses the rates of samples under an overhead budget. */
#include "recorder/sample_rate.h"

#include "base/numbers.h"
#include "base/wide.h"

/* A sample costs more than the time for which it stops the thread: what the thread uses next has left the caches. On a
 * virtual machine that stopped it for 20 us, LevelDB lost 60 to 80 us a sample, and a loop without memory up to 17. */
enum { SAMPLE_TIMES_STOP = 3 };

static uint64_t sample_rate_whole_cost(uint64_t stop)
{
    return smaller(stop, UINT64_MAX / SAMPLE_TIMES_STOP) * SAMPLE_TIMES_STOP;
}

/* Two digits: recordings of one machine have the same rate, although its cost is measured each time. */
static unsigned sample_rate_round_down(unsigned rate)
{
    unsigned step = 1;
    while (rate / step >= 100)
        step *= 10;
    return rate - rate % step;
}

unsigned sample_rate_within(uint32_t permille, uint64_t stop)
{
    if (!stop)
        return SAMPLE_USUAL_RATE;
    const uint64_t half = (uint64_t)permille * 1000000 / 2; /* nanoseconds of a second */
    return sample_rate_round_down((unsigned)larger(smaller(half / sample_rate_whole_cost(stop), SAMPLE_MAX_RATE), 1));
}

struct sample_periods sample_periods_of(unsigned rate)
{
    const uint32_t period = rate ? 1000000000 / rate : 0;
    return (struct sample_periods){ period, period };
}

struct sample_periods sample_periods_within(uint32_t permille, uint64_t stop)
{
    const unsigned rate = sample_rate_within(permille, stop);
    if (!stop || rate * 3 / 2 > SAMPLE_MAX_RATE)
        return sample_periods_of(rate);
    const uint32_t unit = 1000000000 / rate / 3;
    return (struct sample_periods){ 2 * unit, 3 * unit };
}

uint32_t sample_rate_rest(uint32_t permille, uint64_t stop, unsigned rate)
{
    return (uint32_t)larger(less(permille, multiply_divide(sample_rate_whole_cost(stop), rate, 1000000)), 1);
}
