/* Merges short neighbouring spans for each level while spans are added. */
#include "view/zooms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_LEVELS = 32, MAX_BITS = 62 };

#define NO_SPAN UINT32_MAX

/* The open run of a level: short neighbours that become one span. */
struct levels_run {
    uint64_t start, end;
    uint32_t span;  /* the span's number if the run is a single span that finer levels show, too; or NO_SPAN */
    uint32_t parts; /* 0 if there is no run, 2 for more than one */
    uint32_t count;
    int32_t function;
};

struct levels_lane {
    struct levels_run **rows; /* a run for each level */
    size_t row_room;
};

struct levels {
    unsigned bits; /* logarithm of level 0's length */
    unsigned finest;
    struct level_span *spans;
    size_t count, room, most;
    struct levels_lane *lanes;
    uint32_t lane_count;
    uint64_t merged[MAX_LEVELS]; /* by level, the number of runs of more than one span */
};

struct levels *levels_new(uint64_t length, uint32_t lanes, size_t max_spans)
{
    struct levels *l = need_memory(1, sizeof *l);
    l->bits = LEVEL_COLUMNS_SHIFT;
    while (l->bits < MAX_BITS && 1ull << l->bits < length)
        l->bits++;
    l->finest = (l->bits - LEVEL_COLUMNS_SHIFT) / LEVEL_STEP_SHIFT + 1;
    l->most = max_spans < NO_SPAN / 2 ? max_spans : NO_SPAN / 2;
    l->lanes = need_memory(lanes, sizeof *l->lanes);
    l->lane_count = lanes;
    return l;
}

static void levels_free_lane(struct levels_lane *lane)
{
    for (size_t i = 0; i < lane->row_room; i++)
        free(lane->rows[i]);
    free(lane->rows);
    *lane = (struct levels_lane){ NULL, 0 };
}

void levels_free(struct levels *l)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        levels_free_lane(&l->lanes[i]);
    free(l->lanes);
    free(l->spans);
    free(l);
}

const struct level_span *levels_spans(const struct levels *l, size_t *count)
{
    *count = l->count;
    return l->spans;
}

unsigned levels_stretch_bits(const struct levels *l, unsigned level)
{
    return l->bits - LEVEL_STEP_SHIFT * level;
}

uint64_t levels_resolution(const struct levels *l, unsigned level)
{
    const unsigned bits = levels_stretch_bits(l, level);
    return bits < LEVEL_COLUMNS_SHIFT ? 0 : 1ull << (bits - LEVEL_COLUMNS_SHIFT);
}

/* Spans that finer levels merged are merged here, too. */
bool levels_are_whole(const struct levels *l, unsigned level)
{
    for (; level < MAX_LEVELS; level++)
        if (l->merged[level])
            return false;
    return true;
}

/* ---- from level to level ---- */

static struct levels_run *levels_lane_runs(struct levels *l, uint32_t lane_number, uint16_t row)
{
    struct levels_lane *lane = &l->lanes[lane_number];
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

/* Makes a level show a span. `number` is the span's number, or NO_SPAN if it has none yet. */
static uint32_t levels_show_span(struct levels *l, unsigned level, const struct level_span *span, uint32_t number)
{
    if (number == NO_SPAN) {
        number = (uint32_t)l->count;
        GROW(l->spans, l->count, l->room);
        l->spans[l->count++] = *span;
        l->spans[number].finest = (uint8_t)level;
    }
    l->spans[number].coarsest = (uint8_t)level;
    return number;
}

static void levels_offer_span(struct levels *l, struct levels_run *runs, unsigned level, const struct level_span *span,
                              uint32_t number);

/* Shows the level's run, and offers it to the next coarser one. */
static void levels_flush_run(struct levels *l, struct levels_run *runs, unsigned level, uint32_t lane, uint16_t row)
{
    struct levels_run run = runs[level];
    if (!run.parts)
        return;
    runs[level].parts = 0;
    const struct level_span span = {
        .start = run.start,
        .length = run.end - run.start,
        .lane = lane,
        .row = row,
        .function = run.function,
        .count = run.count,
    };
    l->merged[level] += run.parts > 1;
    run.span = levels_show_span(l, level, &span, run.span);
    if (level > 0)
        levels_offer_span(l, runs, level - 1, &span, run.span);
}

static bool levels_extend_run(struct levels_run *run, const struct level_span *span, uint64_t resolution)
{
    const uint64_t gap = span->start > run->end ? span->start - run->end : 0;
    if (!run->parts || gap >= resolution)
        return false;
    if (span->start + span->length > run->end)
        run->end = span->start + span->length;
    run->count = run->count > UINT32_MAX - span->count ? UINT32_MAX : run->count + span->count;
    run->parts = 2;
    run->span = NO_SPAN;
    if (run->function != span->function)
        run->function = LEVEL_MERGED;
    return true;
}

/* Offers an added span, or a finer level's, to a level: the level shows it or adds it to its run. */
static void levels_offer_span(struct levels *l, struct levels_run *runs, unsigned level, const struct level_span *span,
                              uint32_t number)
{
    for (;; level--) {
        const uint64_t resolution = levels_resolution(l, level);
        if (span->length < resolution) {
            if (levels_extend_run(&runs[level], span, resolution))
                return;
            levels_flush_run(l, runs, level, span->lane, span->row);
            runs[level] =
                (struct levels_run){ span->start, span->start + span->length, number, 1, span->count, span->function };
            return;
        }
        levels_flush_run(l, runs, level, span->lane, span->row);
        number = levels_show_span(l, level, span, number);
        if (level == 0)
            return;
    }
}

/* ---- dropping the finest level ---- */

static void levels_flush_level(struct levels *l, unsigned level)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        for (size_t row = 0; row < l->lanes[i].row_room; row++)
            if (l->lanes[i].rows[row])
                levels_flush_run(l, l->lanes[i].rows[row], level, i, (uint16_t)row);
}

/* Updates the numbers of spans in open runs. */
static void levels_renumber_runs(struct levels *l, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        for (size_t row = 0; row < l->lanes[i].row_room; row++)
            for (unsigned level = 0; l->lanes[i].rows[row] && level < l->finest; level++) {
                struct levels_run *run = &l->lanes[i].rows[row][level];
                if (run->parts && run->span != NO_SPAN)
                    run->span = numbers[run->span];
            }
}

static void levels_drop_finest(struct levels *l)
{
    const unsigned level = l->finest;
    levels_flush_level(l, level);
    uint32_t *numbers = need_memory(l->count + 1, sizeof *numbers);
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct level_span *span = &l->spans[i];
        const bool goes = span->finest == level && span->coarsest == level;
        numbers[i] = goes ? NO_SPAN : (uint32_t)kept;
        if (goes)
            continue;
        l->spans[kept] = *span;
        if (span->finest == level)
            l->spans[kept].finest--;
        kept++;
    }
    l->count = kept;
    levels_renumber_runs(l, numbers);
    free(numbers);
    l->finest--;
}

void levels_add(struct levels *l, const struct level_span *span)
{
    while (l->count > l->most && l->finest > 0)
        levels_drop_finest(l);
    levels_offer_span(l, levels_lane_runs(l, span->lane, span->row), l->finest, span, NO_SPAN);
}

void levels_end_lane(struct levels *l, uint32_t number)
{
    struct levels_lane *lane = &l->lanes[number];
    for (size_t row = 0; row < lane->row_room; row++)
        for (unsigned level = l->finest + 1; lane->rows[row] && level-- > 0;)
            levels_flush_run(l, lane->rows[row], level, number, (uint16_t)row);
    levels_free_lane(lane);
}

void levels_end(struct levels *l)
{
    for (uint32_t i = 0; i < l->lane_count; i++)
        levels_end_lane(l, i);
    while (l->count > l->most && l->finest > 0)
        levels_drop_finest(l);
}
