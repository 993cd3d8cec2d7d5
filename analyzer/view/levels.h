/*
 * What happened on rows of a timeline, at several levels of detail at once: whoever looks at a stretch of time wants
 * neither more spans than its screen has columns, nor to wait for them to be counted.
 *
 * Level 0 is one stretch, as long as the whole; the stretches of each further level are a quarter of those before. At
 * each level, neighbours on a row that are shorter than a part in 2,048 of a stretch, and not further apart than that,
 * are one span. The last level merges nothing. Memory is bounded: when there are too many spans, the finest level goes.
 */
#ifndef DWELL_VIEW_LEVELS_H
#define DWELL_VIEW_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEVEL_MERGED = -1, LEVEL_COLUMNS_SHIFT = 11, LEVEL_STEP_SHIFT = 2 };

/* A span, at all levels that show it. */
struct level_span {
    uint64_t start, length; /* ticks */
    uint32_t lane;
    uint16_t row;
    uint8_t coarsest, finest;
    int32_t function; /* LEVEL_MERGED: of several */
    uint32_t count;   /* how many were merged */
};

struct levels;

/* For spans within `length` ticks, from zero on. */
struct levels *levels_new(uint64_t length, uint32_t lanes, size_t max_spans);
void levels_free(struct levels *levels);

/* Of the same lane and row, in the order of time, and not overlapping. */
void levels_add(struct levels *levels, const struct level_span *span);

/* Nothing more comes of a lane; of any lane. */
void levels_end_lane(struct levels *levels, uint32_t lane);
void levels_end(struct levels *levels);

/* After the end: */
const struct level_span *levels_spans(const struct levels *levels, size_t *count);

/* The binary logarithm of the stretch's ticks. */
unsigned levels_stretch_bits(const struct levels *levels, unsigned level);

/* Below that, neighbours are merged; zero: none are. */
uint64_t levels_resolution(const struct levels *levels, unsigned level);

/* Whether each span that was added stands for itself there. */
bool levels_are_whole(const struct levels *levels, unsigned level);

#endif
