/* The checksum of a chunk in memory. docs/format.md describes it. */
#ifndef DWELL_CHUNK_SUM_H
#define DWELL_CHUNK_SUM_H

#include <stdint.h>

/* Of a chunk whose data ends at its byte `end`, which is behind its header. The chunk need not be aligned. */
uint64_t chunk_sum(const char *chunk, uint32_t end);

#endif
