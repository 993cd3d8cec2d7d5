/*
 * The interval of a share is Wilson's, for as many samples of equal weight as would be as certain. With weights, the
 * variance of a share s is ((1 - s)^2 * S + s^2 * R) / T^2: S and R are the sums of squares of the weights of the
 * part's samples and of the others, and T is the sum of all weights. That of n equal samples is s * (1 - s) / n.
 */
#include "profile/sample_sums.h"

#include <math.h>

void sample_sum_add(struct sample_sum *sum, uint64_t samples, uint64_t time)
{
    sum->is_uneven |= sum->samples && (uint128)time * sum->samples != (uint128)sum->time * samples;
    sum->samples += samples;
    sum->time += time;
    sum->squares += (uint128)time * time / samples;
}

void sample_sum_join(struct sample_sum *sum, const struct sample_sum *other)
{
    const uint128 squares = sum->squares + other->squares;
    if (other->samples)
        sample_sum_add(sum, other->samples, other->time);
    sum->squares = squares;
    sum->is_uneven |= other->is_uneven;
}

/* Wilson's interval: the larger distance from the share to one of its bounds. */
static double sample_sum_wilson(double share, double n)
{
    const double z = 1.959964;
    const double center = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double width = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    return fmax(share - (center - width), center + width - share);
}

double sampling_half_width(uint64_t count, uint64_t all)
{
    return sample_sum_wilson((double)count / (double)all, (double)all);
}

uint64_t sample_sum_divide(uint64_t ticks, const struct sample_sum *part, const struct sample_sum *all)
{
    if (!all->samples || !all->time)
        return 0;
    return all->is_uneven ? multiply_divide(ticks, part->time, all->time)
                          : multiply_divide(ticks, part->samples, all->samples);
}

double sample_sum_half_width(const struct sample_sum *part, const struct sample_sum *all)
{
    if (!all->is_uneven)
        return sampling_half_width(part->samples, all->samples);
    const double time = (double)all->time, share = (double)part->time / time;
    const double squares = (double)part->squares, others = fmax((double)all->squares - squares, 0);
    const double variance = (1 - share) * (1 - share) * squares + share * share * others;
    const bool whole = part->samples == all->samples || !part->samples;
    const double n = whole ? time * time / (double)all->squares : share * (1 - share) * time * time / variance;
    return fmin(fmax(sample_sum_wilson(share, n), 0), 1); /* no number in a damaged file */
}
