/* Drops kept calls of processes that have ended. A living process drops its own. */
#include "recorder/keep_drop.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sorted.h"

static bool keep_drop_takes(const struct keep_drop *d, uint64_t enter_time, uint64_t around)
{
    return (enter_time > around ? enter_time - around : 0) <= d->until;
}

static uint64_t keep_drop_around(const struct keep_drop *d, const struct dwell_rec_kept *kept)
{
    return kept->record.size < sizeof *kept ? d->keep->around : kept->around;
}

static void keep_drop_record(const struct keep_drop *d, const struct dwell_rec_kept *kept, uint64_t offset)
{
    struct dwell_file_more *more = session_more(d->session);
    const uint16_t nothing = DWELL_REC_VOID;
    const off_t place = (off_t)(offset + offsetof(struct dwell_record, type));
    if (pwrite(d->fd, &nothing, sizeof nothing, place) != sizeof nothing)
        return;
    __atomic_fetch_sub(kept->usual ? &more->usual_calls : &more->kept_calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(kept->usual ? &more->dropped_usual : &more->dropped_calls, 1, __ATOMIC_RELAXED);
}

static void keep_drop_chunk(const struct keep_drop *d, const struct trace_chunk *chunk)
{
    const size_t least = offsetof(struct dwell_rec_kept, around);
    struct dwell_rec_kept kept = { .around = 0 };
    uint8_t *bytes = need_memory(1, chunk->size);
    const bool read = pread(d->fd, bytes, chunk->size, (off_t)chunk->offset) == (ssize_t)chunk->size;
    for (uint32_t at = sizeof(struct dwell_chunk_header); read && at + least <= chunk->size;) {
        memcpy(&kept, bytes + at, chunk->size - at < sizeof kept ? least : sizeof kept);
        if (kept.record.type == 0 || kept.record.size < sizeof kept.record || kept.record.size > chunk->size - at)
            break;
        if (kept.record.type == DWELL_REC_KEPT && keep_drop_takes(d, kept.enter_time, keep_drop_around(d, &kept)))
            keep_drop_record(d, &kept, chunk->offset + at);
        at += kept.record.size;
    }
    free(bytes);
}

void keep_drop_calls(const struct keep_drop *d, struct session_file *file)
{
    struct kept_calls *kept = &file->kept;
    uint32_t *processes = need_memory(kept->count + 1, sizeof *processes);
    size_t left = 0, count = 0;
    for (size_t i = 0; i < kept->count; i++)
        if (keep_drop_takes(d, kept->calls[i].enter_time, kept_around(&kept->calls[i], d->keep)) &&
            d->has_ended(d->of, kept->calls[i].process))
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
