/*
 * Copies chunks one behind the other. A thread may write to a chunk meanwhile, from its start to its end. It is read
 * from its end to its start, so the copy has all of it up to some moment, and zeros after that. Events of a window are
 * older than that moment.
 */
#include "recorder/keep_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "clock.h"
#include "recorder/keep_rings.h"
#include "session.h"
#include "trace/metadata_record.h"
#include "trace/session_seal.h"

struct keep_copying {
    const struct session_file *file;
    const struct kept_calls *chosen;
    int fd, error;
    uint64_t end;  /* of the copy so far */
    uint64_t keep; /* where its settings are */
    struct chunk_buffer buffer;
};

/* ---- which chunks ---- */

static void keep_copy_find(const struct keep_copying *c, bool live, bool *wanted)
{
    const struct session_file *file = c->file;
    struct dwell_keep keep = { .around = 0 };
    size_t count;
    kept_settings_read(file, &keep);
    struct kept_window *windows = kept_windows(c->chosen, &keep, &count);
    struct keep_rings r = keep_rings_find(file, live);
    for (size_t i = 0; i < r.count; i++) {
        const struct trace_chunk *chunk = r.list[i];
        const struct kept_window range = { chunk->process, chunk->start_time, keep_rings_end(file, &r, i) };
        wanted[chunk - file->chunks] = kept_windows_cover(windows, count, &range);
    }
    keep_rings_free(&r);
    free(windows);
}

/* What is not of a single time. Processes of the copy take no commands and no filters. */
static bool keep_copy_always(uint16_t kind)
{
    return kind == DWELL_CHUNK_METADATA || kind == DWELL_CHUNK_SYMBOLS || kind == DWELL_CHUNK_KEEP;
}

/* ---- reading ---- */

static bool keep_copy_read(struct keep_copying *c, const struct trace_chunk *chunk, uint32_t size)
{
    struct trace_chunk now;
    uint64_t next;
    if (!c->buffer.bytes || size + TRACE_PADDING > c->buffer.room) {
        c->buffer.bytes = need_more(c->buffer.bytes, size + TRACE_PADDING, 1);
        c->buffer.room = size + TRACE_PADDING;
    }
    for (uint32_t at = size; at > 0;) {
        at -= DWELL_UNIT;
        uint8_t unit[DWELL_UNIT + TRACE_PADDING];
        session_file_read_part(c->file, chunk, at, unit, DWELL_UNIT);
        memcpy(c->buffer.bytes + at, unit, DWELL_UNIT);
    }
    return session_file_look(c->file, chunk->offset, &now, &next) == PLACE_CHUNK && now.kind == chunk->kind &&
           now.process == chunk->process && now.thread == chunk->thread && now.sequence == chunk->sequence &&
           now.used == chunk->used && now.sealed == chunk->sealed;
}

/* Reads the chunk as it is now, which may be finished meanwhile. False if it is another one. */
static bool keep_copy_take(struct keep_copying *c, struct trace_chunk *chunk)
{
    enum { TRIES = 8 };
    const uint32_t size = (chunk->size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    for (int i = 0; i < TRIES; i++) {
        struct trace_chunk now;
        uint64_t next;
        if (keep_copy_read(c, chunk, size))
            return true;
        if (session_file_look(c->file, chunk->offset, &now, &next) != PLACE_CHUNK || now.kind != chunk->kind ||
            now.thread != chunk->thread || now.sequence != chunk->sequence || now.size < size)
            return false;
        *chunk = now;
        if (now.size != size)
            return keep_copy_take(c, chunk);
    }
    return false;
}

/* ---- writing ---- */

static void keep_copy_write(struct keep_copying *c, const void *bytes, size_t size, uint64_t offset)
{
    const ssize_t wrote = c->error ? -1 : pwrite(c->fd, bytes, size, (off_t)offset);
    if (!c->error && wrote != (ssize_t)size)
        c->error = wrote < 0 ? errno : ENOSPC;
}

static bool keep_copy_has_call(const struct keep_copying *c, const struct trace_kept *kept)
{
    for (size_t i = 0; i < c->chosen->count; i++) {
        const struct trace_kept *call = &c->chosen->calls[i];
        if (call->process == kept->process && call->thread == kept->thread && call->enter_time == kept->enter_time &&
            call->exit_time == kept->exit_time)
            return true;
    }
    return false;
}

/* Leaves out the records of other kept calls. Returns how many bytes of the chunk are left. */
static uint32_t keep_copy_choose(const struct keep_copying *c, const struct trace_chunk *chunk)
{
    uint8_t *bytes = c->buffer.bytes;
    const uint32_t end = trace_chunk_end(chunk);
    uint32_t from = sizeof(struct dwell_chunk_header), to = from;
    for (struct dwell_record head; metadata_record_at(bytes, from, end, &head); from += head.size) {
        struct trace_kept call;
        if (head.type == DWELL_REC_KEPT && kept_call_read(&call, chunk->process, bytes + from, head.size) &&
            !keep_copy_has_call(c, &call))
            continue;
        memmove(bytes + to, bytes + from, head.size);
        to += head.size;
    }
    return to;
}

static void keep_copy_chunk(struct keep_copying *c, struct trace_chunk chunk)
{
    if (!keep_copy_take(c, &chunk))
        return;
    struct dwell_chunk_header head;
    memcpy(&head, c->buffer.bytes, sizeof head);
    uint32_t length = trace_chunk_end(&chunk);
    head.size = (chunk.size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    if (chunk.kind == DWELL_CHUNK_METADATA) {
        head.used = length = keep_copy_choose(c, &chunk);
        head.size = (length + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
        head.sealed = 0;
    }
    if (!head.sealed)
        head.checksum = 0;
    if (chunk.kind == DWELL_CHUNK_KEEP)
        c->keep = c->end;
    memcpy(c->buffer.bytes, &head, sizeof head);
    keep_copy_write(c, c->buffer.bytes, length, c->end);
    c->end += head.size;
}

static void keep_copy_header(struct keep_copying *c)
{
    struct {
        struct dwell_file_header header;
        struct dwell_file_more more;
    } page = { c->file->header, c->file->more };
    struct dwell_file_header *h = &page.header;
    h->cursor = c->end;
    h->state = DWELL_COMPLETE;
    h->first_control = h->first_filters = h->max_size = h->limit_time = h->warn_size = 0;
    h->recorder_pid = h->filter_server = h->warned = 0;
    h->end_ticks = h->end_ticks ? h->end_ticks : clock_now(h->clock);
    h->end_monotonic = h->end_monotonic ? h->end_monotonic : clock_monotonic();
    page.more.levels = page.more.sites = page.more.filled = 0;
    page.more.keep = c->keep;
    page.more.kept_calls = page.more.usual_calls = page.more.limited_calls = page.more.unkept_calls = 0;
    page.more.dropped_calls = page.more.dropped_usual = page.more.forgotten = page.more.dropped_processes = 0;
    page.more.room_until = page.more.free_bytes = page.more.kept_until = 0;
    page.more.shared_count = page.more.shared_forgotten = 0;
    memset(page.more.offers, 0, sizeof page.more.offers);
    memset(page.more.shared, 0, sizeof page.more.shared);
    for (size_t i = 0; i < c->chosen->count; i++)
        (*(c->chosen->calls[i].usual ? &page.more.usual_calls : &page.more.kept_calls))++;
    keep_copy_write(c, &page, sizeof page, 0);
    if (!c->error && ftruncate(c->fd, (off_t)c->end) < 0)
        c->error = errno;
    if (!c->error && !seal_session(&(struct session){ .header = h }, c->fd))
        c->error = errno;
}

int keep_copy(const struct session_file *file, const struct kept_calls *chosen, bool live, int fd)
{
    struct keep_copying c = { .file = file, .chosen = chosen, .fd = fd, .end = DWELL_UNIT };
    bool *wanted = need_memory(file->chunk_count, sizeof *wanted);
    keep_copy_find(&c, live, wanted);
    for (size_t i = 0; i < file->chunk_count; i++)
        if (wanted[i] || keep_copy_always(file->chunks[i].kind))
            keep_copy_chunk(&c, file->chunks[i]);
    keep_copy_header(&c);
    free(wanted);
    free(c.buffer.bytes);
    return c.error;
}
