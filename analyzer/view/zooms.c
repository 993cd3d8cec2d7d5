/* Merges short neighbouring spans for each zoom while spans are added. */
#include "view/zooms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_BITS = 62 };

#define NO_SPAN ZOOM_NO_SPAN

struct zooms *zooms_new(uint64_t length, uint32_t lanes, size_t max_spans)
{
    struct zooms *l = need_memory(1, sizeof *l);
    l->bits = ZOOM_COLUMNS_SHIFT;
    while (l->bits < MAX_BITS && 1ull << l->bits < length)
        l->bits++;
    l->finest = (l->bits - ZOOM_COLUMNS_SHIFT) / ZOOM_STEP_SHIFT + 1;
    l->most = max_spans < NO_SPAN / 2 ? max_spans : NO_SPAN / 2;
    l->lanes = need_memory(lanes, sizeof *l->lanes);
    l->lane_count = lanes;
    l->least = zooms_resolution(l, l->finest);
    return l;
}

static void zooms_free_lane(struct zoom_lane *lane)
{
    for (size_t i = 0; i < lane->row_room; i++)
        free(lane->rows[i]);
    free(lane->rows);
    *lane = (struct zoom_lane){ NULL, 0 };
}

void zooms_free(struct zooms *l)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        zooms_free_lane(&l->lanes[i]);
    free(l->lanes);
    free(l->spans);
    free(l);
}

const struct zoom_span *zooms_spans(const struct zooms *l, size_t *count)
{
    *count = l->count;
    return l->spans;
}

unsigned zooms_stretch_bits(const struct zooms *l, unsigned zoom)
{
    return l->bits - ZOOM_STEP_SHIFT * zoom;
}

uint64_t zooms_resolution(const struct zooms *l, unsigned zoom)
{
    const unsigned bits = zooms_stretch_bits(l, zoom);
    return bits < ZOOM_COLUMNS_SHIFT ? 0 : 1ull << (bits - ZOOM_COLUMNS_SHIFT);
}

/* Spans that finer zooms merged are merged here, too. */
bool zooms_are_whole(const struct zooms *l, unsigned zoom)
{
    for (; zoom < MAX_ZOOMS; zoom++)
        if (l->merged[zoom])
            return false;
    return true;
}

/* ---- from zoom to zoom ---- */

static struct zoom_run *zooms_lane_runs(struct zooms *l, uint32_t lane_number, uint16_t row)
{
    struct zoom_lane *lane = &l->lanes[lane_number];
    if (row >= lane->row_room) {
        const size_t room = row + 8u;
        lane->rows = need_more(lane->rows, room, sizeof *lane->rows);
        memset(lane->rows + lane->row_room, 0, (room - lane->row_room) * sizeof *lane->rows);
        lane->row_room = room;
    }
    if (!lane->rows[row])
        lane->rows[row] = need_memory(l->finest + 1u, sizeof **lane->rows);
    return lane->rows[row];
}

/* Makes a zoom show a span. `number` is the span's number, or NO_SPAN if it has none yet. */
static uint32_t zooms_show_span(struct zooms *l, unsigned zoom, const struct zoom_span *span, uint32_t number)
{
    if (number == NO_SPAN) {
        number = (uint32_t)l->count;
        GROW(l->spans, l->count, l->room);
        l->spans[l->count++] = *span;
        l->spans[number].finest = (uint8_t)zoom;
        if (l->count > l->most)
            l->least = 0;
    } else {
        l->shown[l->spans[number].coarsest]--;
    }
    l->shown[zoom]++;
    l->spans[number].coarsest = (uint8_t)zoom;
    return number;
}

static void zooms_offer_span(struct zooms *l, struct zoom_run *runs, unsigned zoom, const struct zoom_span *span,
                             uint32_t number);

/* Shows the zoom's run, and offers it to the next coarser one. */
static void zooms_flush_run(struct zooms *l, struct zoom_run *runs, unsigned zoom, uint32_t lane, uint16_t row)
{
    struct zoom_run run = runs[zoom];
    if (!run.parts)
        return;
    runs[zoom].parts = 0;
    const struct zoom_span span = {
        .start = run.start,
        .length = run.end - run.start,
        .lane = lane,
        .row = row,
        .function = run.function,
        .count = run.count,
    };
    l->merged[zoom] += run.parts > 1;
    run.span = zooms_show_span(l, zoom, &span, run.span);
    if (zoom > 0)
        zooms_offer_span(l, runs, zoom - 1, &span, run.span);
}

/* Offers an added span, or a finer zoom's, to a zoom: the zoom shows it or adds it to its run. */
static void zooms_offer_span(struct zooms *l, struct zoom_run *runs, unsigned zoom, const struct zoom_span *span,
                             uint32_t number)
{
    for (;; zoom--) {
        const uint64_t resolution = zooms_resolution(l, zoom);
        if (span->length < resolution) {
            if (zoom_run_extend(&runs[zoom], span, resolution))
                return;
            zooms_flush_run(l, runs, zoom, span->lane, span->row);
            runs[zoom] =
                (struct zoom_run){ span->start, span->start + span->length, number, 1, span->count, span->function };
            return;
        }
        zooms_flush_run(l, runs, zoom, span->lane, span->row);
        number = zooms_show_span(l, zoom, span, number);
        if (zoom == 0)
            return;
    }
}

/* ---- dropping the finest zooms ---- */

static void zooms_flush_zoom(struct zooms *l, unsigned zoom)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        for (size_t row = 0; row < l->lanes[i].row_room; row++)
            if (l->lanes[i].rows[row])
                zooms_flush_run(l, l->lanes[i].rows[row], zoom, i, (uint16_t)row);
}

/* Updates the numbers of spans in open runs. */
static void zooms_renumber_runs(struct zooms *l, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        for (size_t row = 0; row < l->lanes[i].row_room; row++)
            for (unsigned zoom = 0; l->lanes[i].rows[row] && zoom <= l->finest; zoom++) {
                struct zoom_run *run = &l->lanes[i].rows[row][zoom];
                if (run->parts && run->span != NO_SPAN)
                    run->span = numbers[run->span];
            }
}

/* Forgets the spans that only dropped zooms show. */
static void zooms_forget_spans(struct zooms *l)
{
    uint32_t *numbers = need_memory(l->count + 1, sizeof *numbers);
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct zoom_span *span = &l->spans[i];
        const bool goes = span->coarsest > l->finest;
        numbers[i] = goes ? NO_SPAN : (uint32_t)kept;
        if (goes)
            continue;
        l->spans[kept] = *span;
        if (span->finest > l->finest)
            l->spans[kept].finest = (uint8_t)l->finest;
        kept++;
    }
    l->count = kept;
    zooms_renumber_runs(l, numbers);
    free(numbers);
}

/* Drops zooms until there are few enough spans. All of them are dropped before the spans are moved, which takes as
 * long for one. */
static void zooms_drop_finest(struct zooms *l)
{
    size_t left = l->count;
    l->least = zooms_resolution(l, l->finest);
    if (left <= l->most || l->finest == 0)
        return;
    while (left > l->most && l->finest > 0) {
        zooms_flush_zoom(l, l->finest);
        left = l->count;
        for (unsigned zoom = l->finest--; zoom < MAX_ZOOMS; zoom++)
            left -= l->shown[zoom];
    }
    zooms_forget_spans(l);
    memset(&l->shown[l->finest + 1], 0, (MAX_ZOOMS - l->finest - 1) * sizeof *l->shown);
    l->least = zooms_resolution(l, l->finest);
}

void zooms_add_long(struct zooms *l, const struct zoom_span *span)
{
    if (l->count > l->most)
        zooms_drop_finest(l);
    zooms_offer_span(l, zooms_lane_runs(l, span->lane, span->row), l->finest, span, NO_SPAN);
}

void zooms_end_lane(struct zooms *l, uint32_t number)
{
    struct zoom_lane *lane = &l->lanes[number];
    for (size_t row = 0; row < lane->row_room; row++)
        for (unsigned zoom = l->finest + 1; lane->rows[row] && zoom-- > 0;)
            zooms_flush_run(l, lane->rows[row], zoom, number, (uint16_t)row);
    zooms_free_lane(lane);
}

void zooms_end(struct zooms *l)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        zooms_end_lane(l, i);
    zooms_drop_finest(l);
}
