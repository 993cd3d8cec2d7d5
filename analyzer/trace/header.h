/* Counters of the file's header that hold a largest value rather than begin again at zero. */
#ifndef DWELL_TRACE_HEADER_H
#define DWELL_TRACE_HEADER_H

#include <stdint.h>

#include "base/numbers.h"
#include "dwell/format.h"

/* Adds lost samples. One thread at a time may do so; others may read the number meanwhile. */
static inline void header_lose_samples(struct dwell_file_header *h, uint64_t samples)
{
    const uint64_t room = UINT32_MAX - h->lost_samples;
    __atomic_store_n(&h->lost_samples, h->lost_samples + (uint32_t)smaller(samples, room), __ATOMIC_RELAXED);
}

#endif
