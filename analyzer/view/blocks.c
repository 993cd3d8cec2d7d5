#include "view/blocks.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SPAN_COLUMNS = 8, AWAY_COLUMNS = 7, TAG_LENGTH = 100, MIN_ROW = 2 };

/* A span, as far as a stretch shows it. */
struct blocks_row {
    uint32_t thread, depth;
    int32_t function;
    uint32_t kind;
    uint64_t start, length, before, after;
    uint32_t count;
};

/* The stretches of a level that show more than those of the level before. */
struct blocks_stretches {
    uint64_t *list; /* their numbers, ascending */
    size_t count, room;
    size_t *ends;    /* by stretch: where its spans end among */
    uint32_t *spans; /* these, which are numbers */
};

struct blocks_maker {
    const struct levels *levels;
    const struct level_span *spans;
    size_t span_count;
    uint64_t begin;
    unsigned level;
    struct blocks_row *rows;
    size_t row_room;
};

static bool blocks_span_is_shown(const struct level_span *span, unsigned level)
{
    return span->coarsest <= level && level <= span->finest;
}

static uint64_t blocks_span_last_tick(const struct level_span *span)
{
    return span->length ? span->start + span->length - 1 : span->start;
}

/* ---- which stretches ---- */

static int blocks_compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What is new at a level is shorter than a stretch: it lies in two at most. */
static void blocks_find_stretches(const struct blocks_maker *m, struct blocks_stretches *s)
{
    const unsigned bits = levels_stretch_bits(m->levels, m->level);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct level_span *span = &m->spans[i];
        if (span->coarsest != m->level)
            continue;
        for (uint64_t n = span->start >> bits; n <= blocks_span_last_tick(span) >> bits; n++) {
            if (s->count && s->list[s->count - 1] == n)
                continue;
            GROW(s->list, s->count, s->room);
            s->list[s->count++] = n;
        }
    }
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, blocks_compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->list[i] != s->list[kept - 1])
            s->list[kept++] = s->list[i];
    s->count = kept;
}

/* The first of the stretches that is not before that number. */
static size_t blocks_find_stretch(const struct blocks_stretches *s, uint64_t number)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->list[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- which spans ---- */

/* Counts them, and notes their numbers if there is room. */
static void blocks_deal_spans(const struct blocks_maker *m, struct blocks_stretches *s)
{
    const unsigned bits = levels_stretch_bits(m->levels, m->level);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct level_span *span = &m->spans[i];
        if (!blocks_span_is_shown(span, m->level))
            continue;
        const uint64_t last = blocks_span_last_tick(span) >> bits;
        for (size_t at = blocks_find_stretch(s, span->start >> bits); at < s->count && s->list[at] <= last; at++) {
            if (s->spans)
                s->spans[s->ends[at]] = (uint32_t)i;
            s->ends[at]++;
        }
    }
}

/* False: they are more than could find room. */
static bool blocks_find_spans(const struct blocks_maker *m, struct blocks_stretches *s, size_t most)
{
    s->ends = need_memory(s->count + 1, sizeof *s->ends);
    blocks_deal_spans(m, s);
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) { /* from numbers of them to where they begin */
        const size_t count = s->ends[i];
        s->ends[i] = all;
        all += count;
    }
    if (all > most)
        return false;
    s->spans = need_memory(all + 1, sizeof *s->spans);
    blocks_deal_spans(m, s);
    return true;
}

static void blocks_free_stretches(struct blocks_stretches *s)
{
    free(s->list);
    free(s->ends);
    free(s->spans);
}

/* ---- a block ---- */

static int blocks_compare_rows(const void *a, const void *b)
{
    const struct blocks_row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->before != y->before)
        return x->before > y->before ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static struct blocks_row blocks_make_row(const struct level_span *span, uint64_t begin, uint64_t stretch)
{
    const uint64_t end = span->start + span->length;
    struct blocks_row row = { .thread = span->lane, .function = span->function, .count = span->count };
    if (span->row < ROW_CALLS)
        row.kind = span->row;
    else
        row.depth = span->row - ROW_CALLS;
    row.before = span->start < begin ? begin - span->start : 0;
    row.start = span->start < begin ? 0 : span->start - begin;
    row.after = end > begin + stretch ? end - begin - stretch : 0;
    row.length = span->length - row.before - row.after;
    return row;
}

#define ROW_COLUMN(rows, member, number)                                                                               \
    {                                                                                                                  \
#member, &(rows)->member, sizeof *(rows), number, NULL                                                         \
    }

static struct packed blocks_pack_rows(const struct blocks_row *calls, size_t call_count, const struct blocks_row *away,
                                      size_t away_count, struct json_object *header)
{
    const struct container_column span_columns[SPAN_COLUMNS] = {
        ROW_COLUMN(calls, thread, CONTAINER_U32),   ROW_COLUMN(calls, depth, CONTAINER_U32),
        ROW_COLUMN(calls, function, CONTAINER_I32), ROW_COLUMN(calls, start, CONTAINER_U64),
        ROW_COLUMN(calls, length, CONTAINER_U64),   ROW_COLUMN(calls, before, CONTAINER_U64),
        ROW_COLUMN(calls, after, CONTAINER_U64),    ROW_COLUMN(calls, count, CONTAINER_U32),
    };
    const struct container_column away_columns[AWAY_COLUMNS] = {
        ROW_COLUMN(away, thread, CONTAINER_U32), ROW_COLUMN(away, start, CONTAINER_U64),
        ROW_COLUMN(away, length, CONTAINER_U64), ROW_COLUMN(away, before, CONTAINER_U64),
        ROW_COLUMN(away, after, CONTAINER_U64),  ROW_COLUMN(away, kind, CONTAINER_U32),
        ROW_COLUMN(away, count, CONTAINER_U32),
    };
    const struct container_table tables[] = {
        { "spans", call_count, span_columns, SPAN_COLUMNS },
        { "away", away_count, away_columns, AWAY_COLUMNS },
    };
    struct packed packed;
    container_pack(header, tables, sizeof tables / sizeof *tables, &packed); /* the header is small */
    return packed;
}

static struct packed blocks_pack_stretch(struct blocks_maker *m, uint64_t number, const uint32_t *spans, size_t count)
{
    const uint64_t stretch = 1ull << levels_stretch_bits(m->levels, m->level), begin = number * stretch;
    struct json_object *header = json_object_new_object();
    json_object_object_add(header, "level", json_object_new_int64(m->level));
    json_object_object_add(header, "segment", json_object_new_uint64(number));
    json_object_object_add(header, "begin", json_object_new_uint64(m->begin + begin));
    json_object_object_add(header, "stretch", json_object_new_uint64(stretch));
    if (count > m->row_room) {
        m->row_room = count * 2;
        m->rows = need_more(m->rows, m->row_room, sizeof *m->rows);
    }
    size_t calls = 0, away = count; /* calls from the front, the others from the back */
    for (size_t i = 0; i < count; i++) {
        const struct level_span *span = &m->spans[spans[i]];
        m->rows[span->row < ROW_CALLS ? --away : calls++] = blocks_make_row(span, begin, stretch);
    }
    if (calls)
        qsort(m->rows, calls, sizeof *m->rows, blocks_compare_rows);
    if (away < count)
        qsort(m->rows + away, count - away, sizeof *m->rows, blocks_compare_rows);
    return blocks_pack_rows(m->rows, calls, m->rows + away, count - away, header);
}

/* ---- levels ---- */

static size_t blocks_page_size(const struct packed *packed)
{
    return (packed->length + 2) / 3 * 4 + TAG_LENGTH;
}

static void blocks_free_levels(struct blocks *b, size_t count)
{
    while (b->count > count)
        packed_drop(&b->list[--b->count]);
}

/* False: there is no room for it. */
static bool blocks_make_level(struct blocks *b, struct blocks_maker *m, size_t most)
{
    struct blocks_stretches s = { 0 };
    const size_t count_before = b->count, bytes_before = b->bytes;
    blocks_find_stretches(m, &s);
    bool fits = blocks_find_spans(m, &s, most / MIN_ROW);
    struct json_object *numbers = json_object_new_object();
    for (size_t i = 0; fits && i < s.count; i++) {
        const size_t first = i ? s.ends[i - 1] : 0;
        char segment[24];
        GROW(b->list, b->count, b->room);
        b->list[b->count] = blocks_pack_stretch(m, s.list[i], s.spans + first, s.ends[i] - first);
        b->bytes += blocks_page_size(&b->list[b->count]);
        snprintf(segment, sizeof segment, "%" PRIu64, s.list[i]);
        json_object_object_add(numbers, segment, json_object_new_uint64(b->count++));
        fits = b->bytes <= most;
    }
    blocks_free_stretches(&s);
    if (!fits) {
        blocks_free_levels(b, count_before);
        b->bytes = bytes_before;
        json_object_put(numbers);
        return false;
    }
    struct json_object *level = json_object_new_object();
    json_object_object_add(level, "stretch", json_object_new_uint64(1ull << levels_stretch_bits(m->levels, m->level)));
    json_object_object_add(level, "resolution", json_object_new_uint64(levels_resolution(m->levels, m->level)));
    json_object_object_add(level, "segments", json_object_new_uint64(1ull << LEVEL_STEP_SHIFT * m->level));
    json_object_object_add(level, "blocks", numbers);
    json_object_array_add(b->levels, level);
    return true;
}

/* Levels that say nothing new are left out at the end. */
static unsigned blocks_last_level(const struct blocks_maker *m)
{
    unsigned last = 0;
    for (size_t i = 0; i < m->span_count; i++)
        if (m->spans[i].coarsest > last)
            last = m->spans[i].coarsest;
    return last;
}

void blocks_make(struct blocks *b, const struct levels *levels, uint64_t begin, size_t most)
{
    struct blocks_maker m = { .levels = levels, .begin = begin };
    m.spans = levels_spans(levels, &m.span_count);
    *b = (struct blocks){ .levels = json_object_new_array() };
    const unsigned last = blocks_last_level(&m);
    bool fits = true;
    for (; fits && m.level <= last; m.level += fits)
        fits = blocks_make_level(b, &m, most);
    b->whole = fits && levels_are_whole(levels, last);
    free(m.rows);
}
