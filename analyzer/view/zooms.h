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

enum { ZOOM_MERGED = -1, ZOOM_COLUMNS_SHIFT = 11, ZOOM_STEP_SHIFT = 2, MAX_ZOOMS = 32 };

/* A span, and the zooms that show it. */
struct zoom_span {
    uint64_t start, length; /* ticks */
    uint32_t lane;
    uint16_t row;
    uint8_t coarsest, finest;
    int32_t function; /* ZOOM_MERGED if several functions were merged */
    uint32_t count;   /* number of merged spans */
};

/* The open run of a zoom: short neighbours that become one span. */
struct zoom_run {
    uint64_t start, end;
    uint32_t span;  /* the span's number if the run is a single span that finer zooms show, too; or ZOOM_NO_SPAN */
    uint32_t parts; /* 0 if there is no run, 2 for more than one */
    uint32_t count;
    int32_t function;
};

#define ZOOM_NO_SPAN UINT32_MAX

struct zoom_lane {
    struct zoom_run **rows; /* a run for each zoom */
    size_t row_room;
};

/* Its members are of this module alone. */
struct zooms {
    unsigned bits; /* logarithm of zoom 0's length */
    unsigned finest;
    uint64_t least; /* shorter spans can be added to the finest zoom's runs; zero while there are too many spans */
    struct zoom_span *spans;
    size_t count, room, most;
    struct zoom_lane *lanes;
    uint32_t lane_count;
    uint64_t merged[MAX_ZOOMS]; /* by zoom, the number of runs of more than one span */
    size_t shown[MAX_ZOOMS];    /* by zoom, the number of spans that no coarser zoom shows */
};

/* Makes zooms for spans that lie in 0 to `length` ticks. */
struct zooms *zooms_new(uint64_t length, uint32_t lanes, size_t max_spans);
void zooms_free(struct zooms *zooms);

/* Makes a span that is shorter than the resolution a part of the run. Returns false if it is too far away. */
static inline bool zoom_run_extend(struct zoom_run *run, const struct zoom_span *span, uint64_t resolution)
{
    const uint64_t gap = span->start > run->end ? span->start - run->end : 0;
    if (!run->parts || gap >= resolution)
        return false;
    if (span->start + span->length > run->end)
        run->end = span->start + span->length;
    run->count = run->count > UINT32_MAX - span->count ? UINT32_MAX : run->count + span->count;
    run->parts = 2;
    run->span = ZOOM_NO_SPAN;
    if (run->function != span->function)
        run->function = ZOOM_MERGED;
    return true;
}

/* For zooms_add: a span that does not become a part of a run at once. */
void zooms_add_long(struct zooms *zooms, const struct zoom_span *span);

/* Adds a span. Spans of one lane and row must come in order of time and must not overlap. */
static inline void zooms_add(struct zooms *zooms, const struct zoom_span *span)
{
    const struct zoom_lane *lane = &zooms->lanes[span->lane];
    if (span->length >= zooms->least || span->row >= lane->row_room || !lane->rows[span->row] ||
        !zoom_run_extend(&lane->rows[span->row][zooms->finest], span, zooms->least))
        zooms_add_long(zooms, span);
}

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
