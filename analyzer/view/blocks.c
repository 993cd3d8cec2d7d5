#include "view/blocks.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SPAN_COLUMNS = 8, AWAY_COLUMNS = 7, TAG_LENGTH = 100, MIN_ROW = 2 };

/* A span, as far as a stretch shows it. */
struct row {
    uint32_t thread, depth;
    int32_t function;
    uint32_t kind;
    uint64_t start, length, before, after;
    uint32_t count;
};

/* The stretches of a level that show more than those of the level before. */
struct stretches {
    uint64_t *list; /* their numbers, ascending */
    size_t count, room;
    size_t *ends;    /* by stretch: where its spans end among */
    uint32_t *spans; /* these, which are numbers */
};

struct making {
    const struct levels *levels;
    const struct level_span *spans;
    size_t span_count;
    uint64_t begin;
    unsigned level;
    struct row *rows;
    size_t row_room;
};

static bool is_shown(const struct level_span *span, unsigned level)
{
    return span->coarsest <= level && level <= span->finest;
}

static uint64_t last_tick(const struct level_span *span)
{
    return span->length ? span->start + span->length - 1 : span->start;
}

/* ---- which stretches ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What is new at a level is shorter than a stretch: it lies in two at most. */
static void find_stretches(const struct making *m, struct stretches *s)
{
    const unsigned bits = levels_stretch_bits(m->levels, m->level);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct level_span *span = &m->spans[i];
        if (span->coarsest != m->level)
            continue;
        for (uint64_t n = span->start >> bits; n <= last_tick(span) >> bits; n++) {
            if (s->count && s->list[s->count - 1] == n)
                continue;
            GROW(s->list, s->count, s->room);
            s->list[s->count++] = n;
        }
    }
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->list[i] != s->list[kept - 1])
            s->list[kept++] = s->list[i];
    s->count = kept;
}

/* The first of the stretches that is not before that number. */
static size_t find_stretch(const struct stretches *s, uint64_t number)
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
static void deal_spans(const struct making *m, struct stretches *s)
{
    const unsigned bits = levels_stretch_bits(m->levels, m->level);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct level_span *span = &m->spans[i];
        if (!is_shown(span, m->level))
            continue;
        const uint64_t last = last_tick(span) >> bits;
        for (size_t at = find_stretch(s, span->start >> bits); at < s->count && s->list[at] <= last; at++) {
            if (s->spans)
                s->spans[s->ends[at]] = (uint32_t)i;
            s->ends[at]++;
        }
    }
}

/* False: they are more than could find room. */
static bool find_spans(const struct making *m, struct stretches *s, size_t most)
{
    s->ends = need_memory(s->count + 1, sizeof *s->ends);
    deal_spans(m, s);
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) { /* from numbers of them to where they begin */
        const size_t count = s->ends[i];
        s->ends[i] = all;
        all += count;
    }
    if (all > most)
        return false;
    s->spans = need_memory(all + 1, sizeof *s->spans);
    deal_spans(m, s);
    return true;
}

static void drop_stretches(struct stretches *s)
{
    free(s->list);
    free(s->ends);
    free(s->spans);
}

/* ---- a block ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->before != y->before)
        return x->before > y->before ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static struct row row_of(const struct level_span *span, uint64_t begin, uint64_t stretch)
{
    const uint64_t end = span->start + span->length;
    struct row row = { .thread = span->lane, .function = span->function, .count = span->count };
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

static struct packed pack_rows(const struct row *calls, size_t call_count, const struct row *away, size_t away_count,
                               struct json_object *header)
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
    return container_pack(header, tables, sizeof tables / sizeof *tables);
}

static struct packed pack_stretch(struct making *m, uint64_t number, const uint32_t *spans, size_t count)
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
        m->rows[span->row < ROW_CALLS ? --away : calls++] = row_of(span, begin, stretch);
    }
    if (calls)
        qsort(m->rows, calls, sizeof *m->rows, compare_rows);
    if (away < count)
        qsort(m->rows + away, count - away, sizeof *m->rows, compare_rows);
    return pack_rows(m->rows, calls, m->rows + away, count - away, header);
}

/* ---- levels ---- */

static size_t in_page(const struct packed *packed)
{
    return (packed->length + 2) / 3 * 4 + TAG_LENGTH;
}

static void drop_blocks(struct blocks *b, size_t count)
{
    while (b->count > count)
        packed_drop(&b->list[--b->count]);
}

/* False: there is no room for it. */
static bool make_level(struct blocks *b, struct making *m, size_t most)
{
    struct stretches s = { 0 };
    const size_t count_before = b->count, bytes_before = b->bytes;
    find_stretches(m, &s);
    bool fits = find_spans(m, &s, most / MIN_ROW);
    struct json_object *numbers = json_object_new_object();
    for (size_t i = 0; fits && i < s.count; i++) {
        const size_t first = i ? s.ends[i - 1] : 0;
        char segment[24];
        GROW(b->list, b->count, b->room);
        b->list[b->count] = pack_stretch(m, s.list[i], s.spans + first, s.ends[i] - first);
        b->bytes += in_page(&b->list[b->count]);
        snprintf(segment, sizeof segment, "%" PRIu64, s.list[i]);
        json_object_object_add(numbers, segment, json_object_new_uint64(b->count++));
        fits = b->bytes <= most;
    }
    drop_stretches(&s);
    if (!fits) {
        drop_blocks(b, count_before);
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
static unsigned last_level(const struct making *m)
{
    unsigned last = 0;
    for (size_t i = 0; i < m->span_count; i++)
        if (m->spans[i].coarsest > last)
            last = m->spans[i].coarsest;
    return last;
}

void blocks_make(struct blocks *b, const struct levels *levels, uint64_t begin, size_t most)
{
    struct making m = { .levels = levels, .begin = begin };
    m.spans = levels_spans(levels, &m.span_count);
    *b = (struct blocks){ .levels = json_object_new_array() };
    const unsigned last = last_level(&m);
    bool fits = true;
    for (; fits && m.level <= last; m.level += fits)
        fits = make_level(b, &m, most);
    b->whole = fits && levels_are_whole(levels, last);
    free(m.rows);
}
