/*
 * The spans of a timeline at several levels of detail. A level has no more spans in a stretch of time than a screen has
 * columns, so a page draws any range fast.
 *
 * Level 0 is one stretch of the whole length. The stretches of each further level are a quarter as long. The resolution
 * of a level is a 2,048th of a stretch: neighbours on a row that are shorter than that, and less than that apart, are
 * merged into one span. The last level merges nothing. Memory is bounded: if there are too many spans, the finest level
 * is dropped.
 */
#ifndef DWELL_VIEW_ZOOMS_H
#define DWELL_VIEW_ZOOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEVEL_MERGED = -1, LEVEL_COLUMNS_SHIFT = 11, LEVEL_STEP_SHIFT = 2 };

/* A span, and the levels that show it. */
struct level_span {
    uint64_t start, length; /* ticks */
    uint32_t lane;
    uint16_t row;
    uint8_t coarsest, finest;
    int32_t function; /* LEVEL_MERGED if several functions were merged */
    uint32_t count;   /* number of merged spans */
};

struct levels;

/* Makes levels for spans that lie in 0 to `length` ticks. */
struct levels *levels_new(uint64_t length, uint32_t lanes, size_t max_spans);
void levels_free(struct levels *levels);

/* Adds a span. Spans of one lane and row must come in order of time and must not overlap. */
void levels_add(struct levels *levels, const struct level_span *span);

/* Ends a lane after its last span, which frees its memory. Optional: levels_end ends all lanes. */
void levels_end_lane(struct levels *levels, uint32_t lane);

/* Must be called after the last span of all lanes. */
void levels_end(struct levels *levels);

/* The results, valid after levels_end. */
const struct level_span *levels_spans(const struct levels *levels, size_t *count);

/* The binary logarithm of the length of a level's stretches in ticks. */
unsigned levels_stretch_bits(const struct levels *levels, unsigned level);

/* Shorter neighbours are merged; 0 if the level merges nothing. */
uint64_t levels_resolution(const struct levels *levels, unsigned level);

/* True if the level shows every added span by itself. */
bool levels_are_whole(const struct levels *levels, unsigned level);

#endif
