/* Drops kept calls of processes that have ended. A living process drops its own. */
#include "recorder/keep_drop.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "trace/metadata_record.h"

static bool keep_drop_takes(const struct keep_drop *d, const struct trace_kept *call)
{
    return less(call->enter_time, kept_around(call, d->keep)) <= d->until;
}

static void keep_drop_record(const struct keep_drop *d, const struct trace_kept *call, uint64_t offset)
{
    struct dwell_file_more *more = session_more(d->session);
    const uint16_t nothing = DWELL_REC_VOID;
    const off_t place = (off_t)(offset + offsetof(struct dwell_record, type));
    if (pwrite(d->fd, &nothing, sizeof nothing, place) != sizeof nothing)
        return;
    __atomic_fetch_sub(call->usual ? &more->usual_calls : &more->kept_calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(call->usual ? &more->dropped_usual : &more->dropped_calls, 1, __ATOMIC_RELAXED);
}

static void keep_drop_chunk(const struct keep_drop *d, const struct trace_chunk *chunk)
{
    uint8_t *bytes = need_memory(1, chunk->size);
    const bool read = pread(d->fd, bytes, chunk->size, (off_t)chunk->offset) == (ssize_t)chunk->size;
    uint32_t at = sizeof(struct dwell_chunk_header);
    for (struct dwell_record head; read && metadata_record_at(bytes, at, chunk->size, &head); at += head.size) {
        struct trace_kept call;
        if (head.type == DWELL_REC_KEPT && kept_call_read(&call, chunk->process, bytes + at, head.size) &&
            keep_drop_takes(d, &call))
            keep_drop_record(d, &call, chunk->offset + at);
    }
    free(bytes);
}

void keep_drop_calls(const struct keep_drop *d, struct session_file *file)
{
    struct kept_calls *kept = &file->kept;
    uint32_t *processes = need_memory(kept->count + 1, sizeof *processes);
    size_t left = 0, count = 0;
    for (size_t i = 0; i < kept->count; i++)
        if (keep_drop_takes(d, &kept->calls[i]) && d->has_ended(d->of, kept->calls[i].process))
            processes[count++] = kept->calls[i].process;
        else
            kept->calls[left++] = kept->calls[i];
    kept->count = left;
    if (count)
        qsort(processes, count, sizeof *processes, compare_numbers_32);
    for (size_t i = 0; i < file->chunk_count && count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_METADATA &&
            bsearch(&file->chunks[i].process, processes, count, sizeof *processes, compare_numbers_32))
            keep_drop_chunk(d, &file->chunks[i]);
    free(processes);
}
