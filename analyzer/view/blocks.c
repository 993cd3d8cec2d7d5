/* Packs the spans of each zoom, one block a stretch, until the size limit is reached. */
#include "view/blocks.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

enum { SPAN_COLUMNS = 8, OFF_CPU_COLUMNS = 7, TAG_LENGTH = 100, MIN_ROW = 2 };

/* The part of a span that lies in a stretch. */
struct blocks_row {
    uint32_t thread, depth;
    int32_t function;
    uint32_t kind;
    uint64_t start, length, before, after;
    uint32_t count;
};

/* The stretches of a zoom that show more detail than the next coarser zoom. */
struct blocks_stretches {
    uint64_t *list; /* their numbers, ascending */
    size_t count, room;
    size_t *ends;    /* by stretch, the end of its part of `spans` */
    uint32_t *spans; /* numbers of spans */
};

struct blocks_maker {
    const struct zooms *zooms;
    const struct zoom_span *spans;
    size_t span_count;
    uint64_t begin;
    unsigned zoom;
    struct blocks_row *rows;
    size_t row_room;
};

static bool blocks_span_is_shown(const struct zoom_span *span, unsigned zoom)
{
    return span->coarsest <= zoom && zoom <= span->finest;
}

static uint64_t blocks_span_last_tick(const struct zoom_span *span)
{
    return span->length ? span->start + span->length - 1 : span->start;
}

/* ---- which stretches ---- */

/* A span that is new at a zoom is shorter than a stretch, so it lies in two stretches at most. */
static void blocks_find_stretches(const struct blocks_maker *m, struct blocks_stretches *s)
{
    const unsigned bits = zooms_stretch_bits(m->zooms, m->zoom);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct zoom_span *span = &m->spans[i];
        if (span->coarsest != m->zoom)
            continue;
        for (uint64_t n = span->start >> bits; n <= blocks_span_last_tick(span) >> bits; n++) {
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

/* The index of the first stretch whose number is not smaller than `number`. */
static size_t blocks_find_stretch(const struct blocks_stretches *s, uint64_t number)
{
    return LOWER_BOUND(stretch, s->list, s->count, *stretch < number);
}

/* ---- which spans ---- */

/* Counts the spans of each stretch, and stores their numbers once `spans` is allocated. */
static void blocks_assign_spans(const struct blocks_maker *m, struct blocks_stretches *s)
{
    const unsigned bits = zooms_stretch_bits(m->zooms, m->zoom);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct zoom_span *span = &m->spans[i];
        if (!blocks_span_is_shown(span, m->zoom))
            continue;
        const uint64_t last = blocks_span_last_tick(span) >> bits;
        for (size_t at = blocks_find_stretch(s, span->start >> bits); at < s->count && s->list[at] <= last; at++) {
            if (s->spans)
                s->spans[s->ends[at]] = (uint32_t)i;
            s->ends[at]++;
        }
    }
}

/* Returns false if there are more than `most` spans. */
static bool blocks_find_spans(const struct blocks_maker *m, struct blocks_stretches *s, size_t most)
{
    s->ends = need_memory(s->count + 1, sizeof *s->ends);
    blocks_assign_spans(m, s);
    size_t all = 0;
    for (size_t i = 0; i < s->count; i++) { /* turns counts into beginnings */
        const size_t count = s->ends[i];
        s->ends[i] = all;
        all += count;
    }
    if (all > most)
        return false;
    s->spans = need_memory(all + 1, sizeof *s->spans);
    blocks_assign_spans(m, s);
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
    return ORDER_BY(x, y, start);
}

static struct blocks_row blocks_make_row(const struct zoom_span *span, uint64_t begin, uint64_t stretch)
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

static struct packed blocks_pack_rows(const struct blocks_row *calls, size_t call_count,
                                      const struct blocks_row *off_cpu, size_t off_cpu_count,
                                      struct json_object *header)
{
    const struct container_column span_columns[SPAN_COLUMNS] = {
        ROW_COLUMN(calls, thread, CONTAINER_U32),   ROW_COLUMN(calls, depth, CONTAINER_U32),
        ROW_COLUMN(calls, function, CONTAINER_I32), ROW_COLUMN(calls, start, CONTAINER_U64),
        ROW_COLUMN(calls, length, CONTAINER_U64),   ROW_COLUMN(calls, before, CONTAINER_U64),
        ROW_COLUMN(calls, after, CONTAINER_U64),    ROW_COLUMN(calls, count, CONTAINER_U32),
    };
    const struct container_column off_cpu_columns[OFF_CPU_COLUMNS] = {
        ROW_COLUMN(off_cpu, thread, CONTAINER_U32), ROW_COLUMN(off_cpu, start, CONTAINER_U64),
        ROW_COLUMN(off_cpu, length, CONTAINER_U64), ROW_COLUMN(off_cpu, before, CONTAINER_U64),
        ROW_COLUMN(off_cpu, after, CONTAINER_U64),  ROW_COLUMN(off_cpu, kind, CONTAINER_U32),
        ROW_COLUMN(off_cpu, count, CONTAINER_U32),
    };
    const struct container_table tables[] = {
        { "spans", call_count, span_columns, SPAN_COLUMNS },
        { "off_cpu", off_cpu_count, off_cpu_columns, OFF_CPU_COLUMNS },
    };
    struct packed packed;
    container_pack(header, tables, sizeof tables / sizeof *tables, &packed); /* the header is small */
    return packed;
}

static struct packed blocks_pack_stretch(struct blocks_maker *m, uint64_t number, const uint32_t *spans, size_t count)
{
    const uint64_t stretch = 1ull << zooms_stretch_bits(m->zooms, m->zoom), begin = number * stretch;
    struct json_object *header = json_object_new_object();
    json_object_object_add(header, "level", json_object_new_int64(m->zoom));
    json_object_object_add(header, "segment", json_object_new_uint64(number));
    json_object_object_add(header, "begin", json_object_new_uint64(m->begin + begin));
    json_object_object_add(header, "stretch", json_object_new_uint64(stretch));
    if (count > m->row_room) {
        m->row_room = count * 2;
        m->rows = need_more(m->rows, m->row_room, sizeof *m->rows);
    }
    size_t calls = 0, off_cpu = count; /* calls are stored from the front, off-CPU times from the back */
    for (size_t i = 0; i < count; i++) {
        const struct zoom_span *span = &m->spans[spans[i]];
        m->rows[span->row < ROW_CALLS ? --off_cpu : calls++] = blocks_make_row(span, begin, stretch);
    }
    if (calls)
        qsort(m->rows, calls, sizeof *m->rows, blocks_compare_rows);
    if (off_cpu < count)
        qsort(m->rows + off_cpu, count - off_cpu, sizeof *m->rows, blocks_compare_rows);
    return blocks_pack_rows(m->rows, calls, m->rows + off_cpu, count - off_cpu, header);
}

/* ---- zooms ---- */

size_t blocks_page_size(const struct packed *packed)
{
    return (packed->length + 2) / 3 * 4 + TAG_LENGTH;
}

static void blocks_free_zooms(struct blocks *b, size_t count)
{
    while (b->count > count)
        packed_drop(&b->list[--b->count]);
}

/* Returns false if the zoom does not fit into `most` bytes. */
static bool blocks_make_zoom(struct blocks *b, struct blocks_maker *m, size_t most)
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
        blocks_free_zooms(b, count_before);
        b->bytes = bytes_before;
        json_object_put(numbers);
        return false;
    }
    struct json_object *zoom = json_object_new_object();
    json_object_object_add(zoom, "stretch", json_object_new_uint64(1ull << zooms_stretch_bits(m->zooms, m->zoom)));
    json_object_object_add(zoom, "resolution", json_object_new_uint64(zooms_resolution(m->zooms, m->zoom)));
    json_object_object_add(zoom, "segments", json_object_new_uint64(1ull << ZOOM_STEP_SHIFT * m->zoom));
    json_object_object_add(zoom, "blocks", numbers);
    json_object_array_add(b->zooms, zoom);
    return true;
}

/* The finest zoom that shows anything new; finer ones are left out. */
static unsigned blocks_last_zoom(const struct blocks_maker *m)
{
    unsigned last = 0;
    for (size_t i = 0; i < m->span_count; i++)
        if (m->spans[i].coarsest > last)
            last = m->spans[i].coarsest;
    return last;
}

void blocks_make(struct blocks *b, const struct zooms *zooms, uint64_t begin, size_t most)
{
    struct blocks_maker m = { .zooms = zooms, .begin = begin };
    m.spans = zooms_spans(zooms, &m.span_count);
    *b = (struct blocks){ .zooms = json_object_new_array() };
    const unsigned last = blocks_last_zoom(&m);
    bool fits = true;
    for (; fits && m.zoom <= last; m.zoom += fits)
        fits = blocks_make_zoom(b, &m, most);
    b->whole = fits && zooms_are_whole(zooms, last);
    free(m.rows);
}
