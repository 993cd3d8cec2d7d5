/* The distribution of numbers: adds them to steps that widen as they become many, and computes percentiles and sums. */
#include "base/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

enum {
    SIGNIFICANT_BITS = 8, /* of a range: its width is at most 1/128 of its smallest number */
};

void histogram_drop(struct histogram *h)
{
    free(h->steps);
    *h = (struct histogram){ 0 };
}

uint64_t histogram_round(uint64_t value)
{
    if (value >> SIGNIFICANT_BITS == 0)
        return value;
    const int dropped = 64 - __builtin_clzll(value) - SIGNIFICANT_BITS;
    return (value >> dropped << dropped) + (1ull << dropped) / 2;
}

/* The first step whose value is not smaller. */
static size_t histogram_find_step(const struct histogram *h, uint64_t value)
{
    return LOWER_BOUND(step, h->steps, h->step_count, step->value < value);
}

static void histogram_round_steps(struct histogram *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->step_count; i++) {
        const struct histogram_step step = { histogram_round(h->steps[i].value), h->steps[i].count };
        if (kept && h->steps[kept - 1].value == step.value)
            h->steps[kept - 1].count += step.count;
        else
            h->steps[kept++] = step;
    }
    h->step_count = kept;
    h->rounded = true;
}

static void histogram_add_step(struct histogram *h, uint64_t value, uint64_t times)
{
    if (h->rounded)
        value = histogram_round(value);
    size_t at = histogram_find_step(h, value);
    if (at < h->step_count && h->steps[at].value == value) {
        h->steps[at].count += times;
        return;
    }
    if (!h->rounded && h->step_count == HISTOGRAM_EXACT) {
        histogram_round_steps(h);
        histogram_add_step(h, value, times);
        return;
    }
    if (h->step_count == h->step_room) {
        h->step_room = h->step_room ? h->step_room * 2 : 2;
        h->steps = need_more(h->steps, h->step_room, sizeof *h->steps);
    }
    memmove(&h->steps[at + 1], &h->steps[at], (h->step_count - at) * sizeof *h->steps);
    h->steps[at] = (struct histogram_step){ value, times };
    h->step_count++;
}

/* Adds a number of 128 bits to the sum of squares, `times` times. */
static void histogram_add_squares(struct histogram *h, uint128 square, uint64_t times)
{
    const uint128 low = (uint128)(uint64_t)square * times;
    const uint128 high = (square >> 64) * times + (low >> 64);
    const uint128 more = high << 64 | (uint64_t)low;
    h->squares += more;
    h->squares_above += (uint64_t)(high >> 64) + (h->squares < more);
}

void histogram_add(struct histogram *h, uint64_t value, uint64_t times)
{
    if (times == 0)
        return;
    if (h->count == 0 || value < h->least)
        h->least = value;
    if (h->count == 0 || value > h->greatest)
        h->greatest = value;
    h->count += times;
    h->sum += (uint128)value * times;
    histogram_add_squares(h, (uint128)value * value, times);
    histogram_add_step(h, value, times);
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
    if (h->count == 0)
        return 0;
    const double wanted = ceil((double)h->count * percent / 100);
    if (wanted >= (double)h->count)
        return h->greatest;
    uint64_t passed = 0, value = h->greatest;
    for (size_t i = 0; i < h->step_count; i++) {
        passed += h->steps[i].count;
        if ((double)passed >= wanted) {
            value = h->steps[i].value;
            break;
        }
    }
    return value < h->least ? h->least : value > h->greatest ? h->greatest : value;
}

double histogram_mean(const struct histogram *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

double histogram_deviation_squares(const struct histogram *h)
{
    if (h->count == 0)
        return 0;
    /* With the whole part q of the mean, sum = count * q + r. The sum of squared distances from q is
     * squares - q * (sum + r). It is computed in integers, so that close numbers far from zero lose no digits. The
     * distances from the mean are smaller by r * r / count. */
    const uint64_t q = (uint64_t)(h->sum / h->count), r = (uint64_t)(h->sum % h->count);
    const uint128 factor = h->sum + r;
    const uint128 low = (uint128)(uint64_t)factor * q;
    const uint128 high = (factor >> 64) * q + (low >> 64);
    const uint128 taken = high << 64 | (uint64_t)low;
    const uint64_t above = h->squares_above - (uint64_t)(high >> 64) - (h->squares < taken);
    const double around = ldexp((double)above, 128) + (double)(h->squares - taken);
    const double squares = around - (double)r * (double)r / (double)h->count;
    return squares > 0 ? squares : 0;
}
