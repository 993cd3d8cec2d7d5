/*
 * Reads a growing session step by step. Settled parts of the file are never read again. The rest is a list of areas
 * that are free, claimed or still written to. A reader can see a store before an earlier one. So an area that is
 * written to is read twice, and only records that were there before the second reading count.
 */
#include "trace/growth.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "trace/chunk_order.h"
#include "trace/decode.h"
#include "trace/metadata.h"
#include "trace/session_seal.h"
#include "trace/thread_ends.h"

enum {
    BLOCK = 16 << 10,
    SLACK = 512, /* more than the zeros at the end of any record */
    BYTES_OF_A_CALL = 8,
};

struct growth_area {
    uint64_t begin, end;
};

/* An events chunk that was read in part; in mode ring, any events chunk. */
struct growth_part {
    uint64_t offset;
    uint32_t process, thread, sequence;
    uint32_t at;   /* bytes that have been read */
    uint32_t seen; /* end of the written bytes at the last look */
    uint32_t hole; /* offset of a record that was missing then, or zero */
    struct open_stack stack;
};

struct growth_index {
    struct growth_area *areas, *next; /* ascending; `next` is that of the current walk */
    size_t area_count, area_room, next_count, next_room;
    uint64_t walked;           /* end of the part of the file that has been walked */
    struct growth_part *parts; /* by offset */
    size_t part_count, part_room;
    struct trace_chunk *found; /* events chunks of the current walk */
    size_t found_count, found_room;
    struct trace_chunk *kept; /* metadata, symbols and call trees */
    size_t kept_count, kept_room;
    uint8_t **buffers; /* of the chunks whose bytes are in memory */
    size_t buffer_count, buffer_room;
    struct number_index *threads; /* (thread, process) to an index into those of the growth */
    uint64_t damaged_chunks, damaged_bytes;
    bool ring, ended; /* the mode is ring; the recording has ended */
};

/* ---- areas ---- */

static void growth_leave_open(struct growth_index *x, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return;
    if (x->next_count && x->next[x->next_count - 1].end == begin) {
        x->next[x->next_count - 1].end = end;
        return;
    }
    GROW(x->next, x->next_count, x->next_room);
    x->next[x->next_count++] = (struct growth_area){ begin, end };
}

/* The units after a chunk's last record can become another chunk. */
static uint64_t growth_end_of_used(const struct trace_chunk *chunk)
{
    const uint32_t used = chunk->used < chunk->size ? chunk->used : chunk->size;
    return chunk->offset + ((uint64_t)used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
}

static size_t growth_find_part(const struct growth_index *x, uint64_t offset)
{
    return LOWER_BOUND(part, x->parts, x->part_count, part->offset < offset);
}

static bool growth_part_is_of(const struct growth_part *part, const struct trace_chunk *chunk)
{
    return part->process == chunk->process && part->thread == chunk->thread && part->sequence == chunk->sequence;
}

/* In mode ring, a full chunk stays until it is used again. Whether all of it has been read. */
static bool growth_has_read(const struct growth_index *x, const struct trace_chunk *chunk)
{
    const size_t at = growth_find_part(x, chunk->offset);
    return x->ring && chunk->used && at < x->part_count && x->parts[at].offset == chunk->offset &&
           growth_part_is_of(&x->parts[at], chunk) && x->parts[at].at >= trace_chunk_end(chunk);
}

static void growth_keep_chunk(struct growth_index *x, const struct trace_chunk *chunk)
{
    GROW(x->kept, x->kept_count, x->kept_room);
    x->kept[x->kept_count++] = *chunk;
}

/* Visits a chunk in a walk. Returns true if it is settled. */
enum walk { WALK_EVENTS, WALK_METADATA };

static bool growth_visit_chunk(struct growth *g, enum walk walk, struct trace_chunk *chunk, uint64_t *most)
{
    struct growth_index *x = g->index;
    if (chunk->used > chunk->size)
        chunk->used = 0; /* the file ends before it does */
    switch (chunk->kind) {
    case DWELL_CHUNK_FREE:
        return false;
    case DWELL_CHUNK_TRACE_EVENTS:
        return !x->ring;
    case DWELL_CHUNK_EVENTS:
        break;
    case DWELL_CHUNK_METADATA:
    case DWELL_CHUNK_SYMBOLS:
    case DWELL_CHUNK_CALL_TREE:
    case DWELL_CHUNK_COUNTS:
        growth_keep_chunk(x, chunk);
        return true;
    default:
        return true;
    }
    if (walk == WALK_METADATA || growth_has_read(x, chunk))
        return false;
    if (*most == 0) {
        g->left += chunk->size;
        return false;
    }
    GROW(x->found, x->found_count, x->found_room);
    x->found[x->found_count++] = *chunk;
    *most -= *most < chunk->size ? *most : chunk->size;
    return chunk->used && !x->ring;
}

/* Another program may have cut the file, so that it ends before the area does. */
static void growth_walk_area(struct growth *g, enum walk walk, struct growth_area area, uint64_t *most)
{
    struct growth_index *x = g->index;
    area.end = smaller(area.end, g->file->size);
    for (uint64_t offset = area.begin, next; offset < area.end; offset = next) {
        struct trace_chunk chunk;
        const enum session_place place = session_file_look(g->file, offset, &chunk, &next);
        if (next > area.end)
            next = area.end;
        const bool checked = place == PLACE_CHUNK && chunk.kind != DWELL_CHUNK_FREE &&
                             chunk.kind != DWELL_CHUNK_EVENTS; /* these are when they are read */
        const bool broken = checked && !seal_holds(g->file, &chunk);
        const bool bad = place == PLACE_BAD_CHUNK || place == PLACE_BAD_UNIT || broken;
        if (place == PLACE_EMPTY || (bad && !x->ended)) /* its header may be written a moment later */
            growth_leave_open(x, offset, next);
        else if (place == PLACE_CHUNK && !broken && !growth_visit_chunk(g, walk, &chunk, most))
            growth_leave_open(x, offset, next);
        else if (place == PLACE_CHUNK && !broken && chunk.kind == DWELL_CHUNK_EVENTS)
            growth_leave_open(x, growth_end_of_used(&chunk), next);
        x->damaged_chunks += x->ended && (place == PLACE_BAD_CHUNK || broken);
        x->damaged_bytes += x->ended && place == PLACE_BAD_UNIT ? DWELL_UNIT : 0;
    }
}

static void growth_walk_areas(struct growth *g, enum walk walk, uint64_t most)
{
    struct growth_index *x = g->index;
    x->next_count = 0;
    g->left = walk == WALK_EVENTS ? 0 : g->left;
    for (size_t i = 0; i < x->area_count; i++)
        growth_walk_area(g, walk, x->areas[i], &most);
    if (x->walked < g->file->size)
        growth_walk_area(g, walk, (struct growth_area){ x->walked, g->file->size }, &most);
    x->walked = x->walked < g->file->size ? g->file->size : x->walked;
    struct growth_area *areas = x->areas;
    const size_t room = x->area_room;
    x->areas = x->next;
    x->area_count = x->next_count;
    x->area_room = x->next_room;
    x->next = areas;
    x->next_room = room;
}

/* ---- written bytes ---- */

static void growth_add_fresh(struct growth *g, const struct trace_chunk *chunk)
{
    GROW(g->fresh, g->fresh_count, g->fresh_room);
    g->fresh[g->fresh_count++] = *chunk;
}

/* The end of the written bytes of the chunk, judged by its last byte that is not zero. */
static uint32_t growth_find_written(const struct session_file *file, const struct trace_chunk *chunk, uint32_t from)
{
    uint8_t block[BLOCK];
    uint32_t end = from;
    for (uint32_t at = from; at < chunk->size; at += BLOCK) {
        const uint32_t size = chunk->size - at < BLOCK ? chunk->size - at : BLOCK;
        const long got = session_file_read_some(file, chunk->offset + at, block, size);
        uint32_t last = got > 0 ? (uint32_t)got : 0;
        while (last > 0 && block[last - 1] == 0)
            last--;
        if (last == 0)
            break;
        end = at + last;
    }
    return end;
}

/* In mode ring, another chunk can be at the same offset by now. */
static bool growth_chunk_is_same(const struct session_file *file, const struct trace_chunk *chunk)
{
    struct trace_chunk now;
    uint64_t next;
    return session_file_look(file, chunk->offset, &now, &next) == PLACE_CHUNK && now.kind == chunk->kind &&
           now.process == chunk->process && now.thread == chunk->thread && now.sequence == chunk->sequence;
}

/* Skips a missing record. The records after it count. */
static uint32_t growth_skip_missing(const uint8_t *records, uint32_t at, uint32_t size)
{
    while (at + 2 <= size && records[at] == 0 && records[at + 1] == 0)
        at += 2;
    return at < size ? at : size;
}

/* Returns how many of the bytes from part->at on count now. */
static uint32_t growth_readable_length(struct growth_part *part, const uint8_t *records, uint32_t written,
                                       uint32_t room, bool ended)
{
    const bool quiet = ended || part->at + written == part->seen;
    const uint32_t size = quiet ? room : written;
    uint32_t stop, length = unfinished_length(records, size, quiet, &stop);
    while (stop + 2 <= written && decode_word(records + stop) == 0) {
        if (!ended && part->hole != part->at + stop) {
            part->hole = part->at + stop;
            break;
        }
        const uint32_t behind = growth_skip_missing(records, stop, size);
        const uint32_t more = unfinished_length(records + behind, size - behind, quiet, &stop);
        stop += behind;
        if (more == 0)
            break;
        length = behind + more;
    }
    part->seen = part->at + written;
    return length;
}

/* ---- threads ---- */

static struct growth_thread *growth_thread_of(struct growth *g, const struct trace_chunk *chunk)
{
    struct index_slot *slot = index_find(g->index->threads, chunk->thread, chunk->process);
    if (slot->value_plus_1)
        return &g->threads[slot->value_plus_1 - 1];
    GROW(g->threads, g->thread_count, g->thread_room);
    g->threads[g->thread_count] = (struct growth_thread){ .process = chunk->process, .thread = chunk->thread };
    index_set(g->index->threads, slot, chunk->thread, chunk->process, (uint32_t)g->thread_count);
    return &g->threads[g->thread_count++];
}

static void growth_record_stack(struct growth *g, const struct trace_chunk *chunk, const struct open_stack *stack)
{
    struct growth_thread *t = growth_thread_of(g, chunk);
    if (chunk->sequence < t->sequence)
        return;
    t->sequence = chunk->sequence;
    open_stack_copy(&t->stack, stack);
}

/* ---- chunks ---- */

static struct growth_part *growth_need_part(struct growth_index *x, const struct trace_chunk *chunk)
{
    const size_t at = growth_find_part(x, chunk->offset);
    const struct growth_part fresh = {
        .offset = chunk->offset,
        .process = chunk->process,
        .thread = chunk->thread,
        .sequence = chunk->sequence,
    };
    if (at == x->part_count || x->parts[at].offset != chunk->offset) {
        GROW(x->parts, x->part_count, x->part_room);
        memmove(x->parts + at + 1, x->parts + at, (x->part_count++ - at) * sizeof *x->parts);
        x->parts[at] = fresh;
    } else if (!growth_part_is_of(&x->parts[at], chunk)) {
        open_stack_free(&x->parts[at].stack);
        x->parts[at] = fresh;
    }
    return &x->parts[at];
}

static void growth_drop_part(struct growth_index *x, const struct trace_chunk *chunk)
{
    const size_t at = growth_find_part(x, chunk->offset);
    if (at == x->part_count || x->parts[at].offset != chunk->offset)
        return;
    open_stack_free(&x->parts[at].stack);
    memmove(x->parts + at, x->parts + at + 1, (--x->part_count - at) * sizeof *x->parts);
}

static uint32_t growth_frames_end(const struct trace_chunk *chunk)
{
    return (uint32_t)(sizeof(struct dwell_chunk_header) + (uint64_t)chunk->depth * sizeof(struct dwell_frame));
}

/* Reads the frames, once. Returns false if they are not in the file. */
static bool growth_begin_part(struct growth *g, struct growth_part *part, const struct trace_chunk *chunk)
{
    if (part->at)
        return true;
    const uint32_t size = decode_has_frames(chunk) ? growth_frames_end(chunk) : 0;
    uint8_t *bytes = need_memory(size + TRACE_PADDING, 1);
    const bool there = size && session_file_read_some(g->file, chunk->offset, bytes, size) == (long)size;
    if (there)
        open_stack_begin(&part->stack, chunk, bytes);
    else
        g->index->damaged_chunks++;
    part->at = there ? size : UINT32_MAX;
    free(bytes);
    return there;
}

static void growth_read_part(struct growth *g, const struct trace_chunk *chunk, bool ended)
{
    struct growth_index *x = g->index;
    struct growth_part *part = growth_need_part(x, chunk);
    if (!growth_begin_part(g, part, chunk) || part->at >= trace_chunk_end(chunk))
        return;
    const uint32_t end = chunk->used ? trace_chunk_end(chunk) : growth_find_written(g->file, chunk, part->at);
    const uint32_t written = end - part->at;
    uint8_t *records = need_memory((size_t)written + SLACK + TRACE_PADDING, 1);
    const bool whole = session_file_read_some(g->file, chunk->offset + part->at, records, written) == (long)written;
    const uint32_t room = written + SLACK < chunk->size - part->at ? written + SLACK : chunk->size - part->at;
    uint32_t length = 0;
    if (whole && (!x->ring || growth_chunk_is_same(g->file, chunk)))
        length = chunk->used ? written : growth_readable_length(part, records, written, room, ended);
    if (length) {
        struct trace_chunk piece = *chunk;
        GROW(x->buffers, x->buffer_count, x->buffer_room);
        x->buffers[x->buffer_count++] = unfinished_part(&part->stack, records, length, &piece);
        growth_add_fresh(g, &piece);
        part->at = open_stack_follow(&part->stack, records, length) ? part->at + length : UINT32_MAX;
        growth_record_stack(g, chunk, &part->stack);
    }
    if (growth_thread_of(g, chunk)->sequence <= chunk->sequence)
        growth_thread_of(g, chunk)->behind = part->at < end;
    free(records);
}

/* The thread's open calls after a chunk that is read as a whole. */
static void growth_follow_whole(struct growth *g, const struct trace_chunk *chunk)
{
    struct open_stack stack = { 0 };
    uint8_t *bytes = need_memory(chunk->size + TRACE_PADDING, 1);
    if (decode_has_frames(chunk) && session_file_read_chunk(g->file, chunk, bytes)) {
        const uint32_t begin = growth_frames_end(chunk), end = trace_chunk_end(chunk);
        open_stack_begin(&stack, chunk, bytes);
        if (end > begin)
            open_stack_follow(&stack, bytes + begin, end - begin);
        growth_record_stack(g, chunk, &stack);
    }
    free(bytes);
    open_stack_free(&stack);
}

static int growth_compare_places(const void *a, const void *b)
{
    const struct trace_chunk *x = a, *y = b;
    return ORDER_BY(x, y, offset);
}

/* Reads no more of the chunk. In mode ring, it is looked at again in each walk. */
static void growth_forget(struct growth_index *x, const struct trace_chunk *chunk)
{
    if (x->ring)
        growth_need_part(x, chunk)->at = UINT32_MAX;
    else
        growth_drop_part(x, chunk);
}

/* The calls of what was not read of a full chunk: by the writer's count, or an estimate. */
static uint64_t growth_unread_calls(const struct growth_index *x, const struct trace_chunk *chunk)
{
    const size_t at = growth_find_part(x, chunk->offset);
    const bool begun = at < x->part_count && growth_part_is_of(&x->parts[at], chunk);
    const uint64_t unread = less(chunk->used, begun ? x->parts[at].at : 0);
    return chunk->enters != DWELL_NOT_COUNTED ? multiply_divide(chunk->enters, unread, chunk->used)
                                              : unread / BYTES_OF_A_CALL;
}

/* Leaves out the chunks that were made first, until those that stay have at most about `most` bytes. A chunk that is
 * still written to stays. */
static void growth_leave_out(struct growth *g, uint64_t most)
{
    struct growth_index *x = g->index;
    uint64_t all = 0;
    size_t kept = 0;
    for (size_t i = 0; i < x->found_count; i++)
        all += x->found[i].size;
    if (x->found_count)
        qsort(x->found, x->found_count, sizeof *x->found, growth_compare_places);
    for (size_t i = 0; i < x->found_count; i++) {
        const struct trace_chunk chunk = x->found[i];
        if (all <= most || !chunk.used) {
            x->found[kept++] = chunk;
            continue;
        }
        all -= chunk.size;
        growth_thread_of(g, &chunk)->calls_left_out += growth_unread_calls(x, &chunk);
        growth_forget(x, &chunk);
    }
    x->found_count = kept;
}

static void growth_read_found(struct growth *g, bool ended)
{
    struct growth_index *x = g->index;
    if (x->found_count)
        qsort(x->found, x->found_count, sizeof *x->found, chunk_order_compare);
    for (size_t i = 0; i < x->found_count; i++) {
        const struct trace_chunk *chunk = &x->found[i], *next = chunk + 1;
        const size_t at = growth_find_part(x, chunk->offset);
        const bool begun = at < x->part_count && x->parts[at].offset == chunk->offset;
        const bool settled = chunk->used && !x->ring;
        if (!seal_holds(g->file, chunk)) {
            x->damaged_chunks++;
            growth_forget(x, chunk);
            continue;
        }
        if (begun || !settled) {
            growth_read_part(g, chunk, ended);
            if (settled)
                growth_drop_part(x, chunk);
            continue;
        }
        growth_add_fresh(g, chunk);
        if (i + 1 == x->found_count || next->thread != chunk->thread || next->process != chunk->process)
            growth_follow_whole(g, chunk);
    }
    x->found_count = 0;
}

/* ---- steps ---- */

/* Gives each thread an events chunk while the metadata is read, so that each gets an entry. */
static void growth_read_metadata(struct growth *g)
{
    struct session_file *file = g->file;
    struct growth_index *x = g->index;
    for (size_t i = 0; i < x->kept_count + g->thread_count; i++) {
        GROW(file->chunks, file->chunk_count, file->chunk_room);
        file->chunks[file->chunk_count++] =
            i < x->kept_count ? x->kept[i]
                              : (struct trace_chunk){ .kind = DWELL_CHUNK_EVENTS,
                                                      .process = g->threads[i - x->kept_count].process,
                                                      .thread = g->threads[i - x->kept_count].thread };
    }
    metadata_read(file);
    file->chunk_count = x->kept_count;
    thread_ends_find(file); /* chunks of samples are not kept, so the kernel's count has to do */
    for (size_t i = 0; i < file->thread_count; i++)
        file->threads[i].last_chunk = 0;
    file->health.damaged_chunks += x->damaged_chunks;
    file->health.damaged_bytes += x->damaged_bytes;
}

static const char *growth_reopen_file(struct growth *g)
{
    const char *error;
    struct session_file *file = session_file_again(g->file, &error);
    if (!file)
        return error;
    session_file_close(g->file);
    g->file = file;
    g->index->ring = file->header.mode == DWELL_MODE_RING;
    return NULL;
}

static void growth_drop_buffers(struct growth *g)
{
    for (size_t i = 0; i < g->index->buffer_count; i++)
        free(g->index->buffers[i]);
    g->index->buffer_count = g->fresh_count = 0;
}

const char *growth_step(struct growth *g, uint64_t most, bool ended)
{
    const char *error = growth_reopen_file(g);
    if (error)
        return error;
    growth_drop_buffers(g);
    for (size_t i = 0; i < g->thread_count; i++) {
        g->threads[i].behind = false;
        g->threads[i].calls_left_out = 0;
    }
    g->index->ended = ended;
    growth_walk_areas(g, WALK_EVENTS, g->newest_only ? UINT64_MAX : most);
    if (g->newest_only)
        growth_leave_out(g, most);
    growth_read_found(g, ended);
    growth_reopen_file(g); /* the metadata of the new events was written before them, perhaps in new chunks */
    growth_walk_areas(g, WALK_METADATA, 0);
    growth_read_metadata(g);
    return NULL;
}

struct growth *growth_open(const char *path, const char **error)
{
    struct session_file *file = session_file_begin(path, error);
    if (!file)
        return NULL;
    struct growth *g = need_memory(1, sizeof *g);
    g->file = file;
    g->index = need_memory(1, sizeof *g->index);
    g->index->walked = DWELL_UNIT;
    g->index->threads = index_new();
    return g;
}

void growth_close(struct growth *g)
{
    struct growth_index *x = g->index;
    growth_drop_buffers(g);
    for (size_t i = 0; i < x->part_count; i++)
        open_stack_free(&x->parts[i].stack);
    for (size_t i = 0; i < g->thread_count; i++)
        open_stack_free(&g->threads[i].stack);
    index_free(x->threads);
    free(x->areas);
    free(x->next);
    free(x->parts);
    free(x->found);
    free(x->kept);
    free(x->buffers);
    free(x);
    free(g->fresh);
    free(g->threads);
    session_file_close(g->file);
    free(g);
}
