/* Copies a session many times into one larger session. */
#include "support/repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwell/format.h"

enum { TIME_BITS = 48 }; /* bits of a time in a chunk */

struct repeater {
    uint8_t *input; /* a private mapping, which may be changed */
    uint64_t size;
    int out;
    uint64_t end;     /* of the output so far */
    uint32_t *chunks; /* events chunks of each thread */
    uint32_t thread_room;
    const char *error;
};

static struct dwell_chunk_header *repeat_chunk_at(const struct repeater *r, uint64_t offset)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)(r->input + offset);
    const bool whole = chunk->magic == DWELL_CHUNK_MAGIC && chunk->size >= DWELL_UNIT &&
                       chunk->size % DWELL_UNIT == 0 && chunk->size <= r->size - offset;
    return whole ? chunk : NULL;
}

/* Returns the next chunk after *offset and moves *offset past it; NULL if there is none. */
static struct dwell_chunk_header *repeat_next_chunk(const struct repeater *r, uint64_t *offset)
{
    while (*offset + DWELL_UNIT <= r->size) {
        struct dwell_chunk_header *chunk = repeat_chunk_at(r, *offset);
        *offset += chunk ? chunk->size : DWELL_UNIT;
        if (chunk && chunk->kind != DWELL_CHUNK_FREE)
            return chunk;
    }
    return NULL;
}

static void repeat_write_bytes(struct repeater *r, const void *data, size_t size)
{
    for (size_t done = 0; done < size && !r->error;) {
        const ssize_t wrote = pwrite(r->out, (const char *)data + done, size - done, (off_t)(r->end + done));
        if (wrote < 0 && errno != EINTR)
            r->error = strerror(errno);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    r->end += size;
}

/* ---- times and numbers ---- */

static void repeat_count_chunks(struct repeater *r)
{
    const struct dwell_chunk_header *chunk;
    for (uint64_t offset = DWELL_UNIT; (chunk = repeat_next_chunk(r, &offset));) {
        if (chunk->kind != DWELL_CHUNK_EVENTS)
            continue;
        if (chunk->thread >= r->thread_room) {
            r->chunks = reallocarray(r->chunks, 2 * (size_t)chunk->thread + 1, sizeof *r->chunks);
            if (!r->chunks)
                abort();
            memset(r->chunks + r->thread_room, 0, (2 * (size_t)chunk->thread + 1 - r->thread_room) * sizeof *r->chunks);
            r->thread_room = 2 * chunk->thread + 1;
        }
        if (r->chunks[chunk->thread] <= chunk->sequence)
            r->chunks[chunk->thread] = chunk->sequence + 1;
    }
}

/* Moves an events chunk to the next repetition. */
static void repeat_move_chunk(const struct repeater *r, struct dwell_chunk_header *chunk)
{
    struct dwell_frame *frames = (struct dwell_frame *)(chunk + 1);
    chunk->sequence += r->chunks[chunk->thread];
    chunk->start_time += 1ull << TIME_BITS;
    for (uint32_t i = 0; i < chunk->depth && (uint8_t *)(frames + i + 1) <= (uint8_t *)chunk + chunk->size; i++)
        frames[i].enter_time += 1ull << TIME_BITS;
}

/* Threads and processes end in the last repetition. */
static void repeat_move_ends(struct dwell_chunk_header *chunk, uint64_t by)
{
    const uint32_t end = chunk->used ? chunk->used : chunk->size;
    uint8_t *const begin = (uint8_t *)chunk;
    for (uint32_t at = sizeof *chunk; at + sizeof(struct dwell_record) <= end;) {
        struct dwell_record *record = (struct dwell_record *)(begin + at);
        if (!record->type || record->size < sizeof *record || record->size % 8)
            return;
        if (record->type == DWELL_REC_THREAD_END)
            ((struct dwell_rec_thread_end *)record)->time += by;
        if (record->type == DWELL_REC_PROCESS_END)
            ((struct dwell_rec_process_end *)record)->time += by;
        at += record->size;
    }
}

/* ---- the whole session ---- */

static void repeat_write_all(struct repeater *r, uint32_t times)
{
    const uint64_t longer = (uint64_t)(times - 1) << TIME_BITS;
    struct dwell_file_header *header = (struct dwell_file_header *)r->input;
    header->end_ticks += header->end_ticks ? longer : 0;
    r->end = DWELL_UNIT;
    struct dwell_chunk_header *chunk;
    for (uint32_t time = 0; time < times && !r->error; time++)
        for (uint64_t offset = DWELL_UNIT; (chunk = repeat_next_chunk(r, &offset)) && !r->error;) {
            if (chunk->kind == DWELL_CHUNK_EVENTS && time > 0)
                repeat_move_chunk(r, chunk);
            if (chunk->kind == DWELL_CHUNK_METADATA && time == 0)
                repeat_move_ends(chunk, longer);
            if (chunk->kind == DWELL_CHUNK_EVENTS || time == 0)
                repeat_write_bytes(r, chunk, chunk->size);
        }
    header->cursor = r->end;
    r->end = 0;
    repeat_write_bytes(r, header, DWELL_UNIT);
}

static const char *repeat_open_input(struct repeater *r, const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < DWELL_UNIT)
        return "the session cannot be read";
    r->size = (uint64_t)status.st_size;
    r->input = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (r->input == MAP_FAILED)
        return strerror(errno);
    const struct dwell_file_header *header = (const struct dwell_file_header *)r->input;
    if (header->cursor < r->size)
        r->size = header->cursor;
    return memcmp(header->magic, DWELL_FILE_MAGIC, sizeof header->magic) == 0 ? NULL : "not a session";
}

const char *repeat_session(const char *input, const char *output, uint32_t times)
{
    struct repeater r = { .input = MAP_FAILED };
    struct stat status = { 0 };
    r.error = repeat_open_input(&r, input);
    const uint64_t mapped = stat(input, &status) == 0 ? (uint64_t)status.st_size : 0;
    if (!r.error) {
        r.out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (r.out < 0) {
            r.error = strerror(errno);
        } else {
            repeat_count_chunks(&r);
            repeat_write_all(&r, times);
            close(r.out);
        }
    }
    if (r.input != MAP_FAILED)
        munmap(r.input, mapped);
    free(r.chunks);
    return r.error;
}
