/* Computes the borders of histograms of durations. */
#include "base/duration_buckets.h"

uint64_t duration_bucket_begin(unsigned bucket)
{
    static const unsigned steps[] = { 1, 2, 5 };
    if (bucket == 0)
        return 0;
    uint64_t begin = steps[(bucket - 1) % 3];
    for (unsigned i = (bucket - 1) / 3; i > 0; i--)
        begin *= 10;
    return begin;
}

unsigned duration_bucket_of(uint64_t ns)
{
    unsigned low = 0, high = DURATION_BUCKETS;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (duration_bucket_begin(middle) <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}
