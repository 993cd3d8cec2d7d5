/*
 * The spans of a timeline at several zooms. A zoom has no more spans in a stretch of time than a screen has
 * columns, so a page draws any range fast.
 *
 * Zoom 0 is one stretch of the whole length. The stretches of each further zoom are a quarter as long. The resolution
 * of a zoom is a 2,048th of a stretch: neighbours on a row that are shorter than that, and less than that apart, are
 * merged into one span. The last zoom merges nothing. Memory is bounded: if there are too many spans, the finest zoom
 * is dropped.
 */
#ifndef DWELL_VIEW_ZOOMS_H
#define DWELL_VIEW_ZOOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZOOM_MERGED = -1, ZOOM_COLUMNS_SHIFT = 11, ZOOM_STEP_SHIFT = 2 };

/* A span, and the zooms that show it. */
struct zoom_span {
    uint64_t start, length; /* ticks */
    uint32_t lane;
    uint16_t row;
    uint8_t coarsest, finest;
    int32_t function; /* ZOOM_MERGED if several functions were merged */
    uint32_t count;   /* number of merged spans */
};

struct zooms;

/* Makes zooms for spans that lie in 0 to `length` ticks. */
struct zooms *zooms_new(uint64_t length, uint32_t lanes, size_t max_spans);
void zooms_free(struct zooms *zooms);

/* Adds a span. Spans of one lane and row must come in order of time and must not overlap. */
void zooms_add(struct zooms *zooms, const struct zoom_span *span);

/* Ends a lane after its last span, which frees its memory. Optional: zooms_end ends all lanes. */
void zooms_end_lane(struct zooms *zooms, uint32_t lane);

/* Must be called after the last span of all lanes. */
void zooms_end(struct zooms *zooms);

/* The results, valid after zooms_end. */
const struct zoom_span *zooms_spans(const struct zooms *zooms, size_t *count);

/* The binary logarithm of the length of a zoom's stretches in ticks. */
unsigned zooms_stretch_bits(const struct zooms *zooms, unsigned zoom);

/* Shorter neighbours are merged; 0 if the zoom merges nothing. */
uint64_t zooms_resolution(const struct zooms *zooms, unsigned zoom);

/* True if the zoom shows every added span by itself. */
bool zooms_are_whole(const struct zooms *zooms, unsigned zoom);

#endif
