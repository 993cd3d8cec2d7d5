/* Makes the checksums of a session, and compares them with what is there. */
#include "trace/session_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "checksum.h"
#include "chunk_sum.h"
#include "session_lock.h"
#include "trace/decode.h"
#include "trace/read_error.h"

enum {
    PIECE = 64 << 10,
    PART_OF_WORKER = 4 << 20, /* bytes; fewer are not worth a thread */
    MOST_WORKERS = 16,
    LARGEST_LATE = 256 << 10, /* a core's own cache has room for such a chunk */
};

/* ---- sums ---- */

static bool seal_is_zero(const uint8_t *unit)
{
    uint64_t word;
    memcpy(&word, unit, sizeof word);
    return word == 0 && memcmp(unit, unit + sizeof word, DWELL_UNIT - sizeof word) == 0;
}

/* Adds units of a chunk, the first of which has that number. Returns whether there was any byte. */
static bool seal_add_units(struct checksum *sum, const uint8_t *units, uint64_t number, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++, units += DWELL_UNIT) {
        if (seal_is_zero(units))
            continue;
        uint64_t numbers[DWELL_SEAL_NUMBER / sizeof(uint64_t)] = { number + i };
        checksum_add(sum, numbers, sizeof numbers);
        checksum_add(sum, units, DWELL_UNIT);
        any = true;
    }
    return any;
}

static void seal_clear(uint8_t *bytes, size_t member, size_t size)
{
    memset(bytes + member, 0, size);
}

static void seal_clear_header(uint8_t *chunk)
{
    seal_clear(chunk, offsetof(struct dwell_chunk_header, sealed), sizeof(uint16_t));
    seal_clear(chunk, offsetof(struct dwell_chunk_header, link), sizeof(uint64_t));
}

/* The first multiple of PIECE in the chunk, from `at` on, behind which the file has data. A file has holes of
 * gigabytes. */
static uint32_t seal_next_data(const struct session_file *file, const struct trace_chunk *chunk, uint32_t at,
                               uint32_t end)
{
    const off_t data = file->has_holes ? lseek(file->fd, (off_t)(chunk->offset + at), SEEK_DATA) : -1;
    if (data < 0)
        return file->has_holes && errno == ENXIO ? end : at;
    const uint64_t distance = (uint64_t)data - chunk->offset;
    return distance < end ? (uint32_t)distance / PIECE * PIECE : end;
}

/* The checksum that the chunk has to have. Bytes that cannot be read are zero. */
static uint64_t seal_sum(const struct session_file *file, const struct trace_chunk *chunk)
{
    uint8_t piece[PIECE];
    struct checksum sum;
    const uint32_t end = trace_chunk_end(chunk);
    checksum_begin(&sum);
    for (uint32_t at = 0; at < end;) {
        const uint32_t size = end - at < PIECE ? end - at : PIECE;
        const size_t units = (size + DWELL_UNIT - 1) / DWELL_UNIT;
        const long got = session_file_read_some(file, chunk->offset + at, piece, size);
        const size_t read = got > 0 ? (size_t)got : 0;
        memset(piece + read, 0, units * DWELL_UNIT - read);
        if (at == 0)
            seal_clear_header(piece);
        const bool any = seal_add_units(&sum, piece, at / DWELL_UNIT, units);
        at += size;
        if (!any && at < end)
            at = seal_next_data(file, chunk, at, end);
    }
    return checksum_of(&sum);
}

bool seal_holds_bytes(const struct trace_chunk *chunk, const uint8_t *bytes)
{
    return chunk_sum((const char *)bytes, trace_chunk_end(chunk)) == chunk->checksum;
}

static uint64_t seal_sum_of_page(uint8_t page[DWELL_UNIT])
{
    struct checksum sum;
    seal_clear(page, DWELL_SEAL_OFFSET + offsetof(struct dwell_seal, checksum), sizeof(uint64_t));
    checksum_begin(&sum);
    checksum_add(&sum, page, DWELL_UNIT);
    return checksum_of(&sum);
}

bool seal_is_for(uint16_t kind)
{
    return kind != DWELL_CHUNK_FREE && kind != DWELL_CHUNK_CONTROL && kind != DWELL_CHUNK_FILTERS &&
           kind != DWELL_CHUNK_LEVELS;
}

/* ---- workers ---- */

struct seal_work {
    const struct session_file *file;
    int (*step)(const struct session_file *file, size_t chunk, bool *bad); /* returns zero or an errno value */
    bool *bad;                                                             /* by chunk; NULL if they are sealed */
    size_t next;                                                           /* the next chunk that nobody has taken */
    int error;
};

static void *seal_work(void *context)
{
    struct seal_work *w = context;
    for (size_t i; (i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->file->chunk_count;) {
        const int error = w->step(w->file, i, w->bad);
        if (error)
            __atomic_store_n(&w->error, error, __ATOMIC_RELAXED);
    }
    return NULL;
}

static unsigned seal_jobs; /* zero: one a CPU */

void seal_use_jobs(unsigned jobs)
{
    seal_jobs = jobs;
}

static unsigned seal_workers(uint64_t bytes)
{
    cpu_set_t set;
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    const uint64_t jobs = seal_jobs ? seal_jobs : known ? (uint64_t)CPU_COUNT(&set) : 1;
    return (unsigned)smaller(smaller(jobs, MOST_WORKERS), 1 + bytes / PART_OF_WORKER);
}

/* Takes the step for each chunk of the list, which have so many bytes. Returns zero or an errno value. */
static int seal_run(const struct session_file *file,
                    int (*step)(const struct session_file *file, size_t chunk, bool *bad), bool *bad, uint64_t bytes)
{
    struct seal_work work = { .file = file, .step = step, .bad = bad };
    pthread_t threads[MOST_WORKERS];
    bool started[MOST_WORKERS] = { false };
    const unsigned count = seal_workers(bytes);
    for (unsigned i = 1; i < count; i++)
        started[i] = pthread_create(&threads[i], NULL, seal_work, &work) == 0;
    seal_work(&work);
    for (unsigned i = 1; i < count; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    return work.error;
}

static void seal_keep(struct session_file *file, const struct trace_chunk *chunk)
{
    GROW(file->chunks, file->chunk_count, file->chunk_room);
    file->chunks[file->chunk_count++] = *chunk;
}

/* ---- making ---- */

static bool seal_write(int fd, const void *data, size_t size, uint64_t offset)
{
    struct interruptions interruptions = { 0 };
    ssize_t wrote;
    do
        wrote = pwrite(fd, data, size, (off_t)offset);
    while (wrote < 0 && interrupted(&interruptions));
    if (wrote >= 0 && wrote != (ssize_t)size)
        errno = EIO;
    return wrote == (ssize_t)size;
}

/* A chunk that has one from its process keeps it. If it was damaged since, readers see that. */
static int seal_make_chunk(const struct session_file *file, size_t number, bool *bad)
{
    const struct trace_chunk *chunk = &file->chunks[number];
    const uint16_t sealed = 1;
    (void)bad;
    if (chunk->sealed)
        return 0;
    const uint64_t sum = seal_sum(file, chunk);
    return seal_write(file->fd, &sum, sizeof sum, chunk->offset + offsetof(struct dwell_chunk_header, link)) &&
                   seal_write(file->fd, &sealed, sizeof sealed,
                              chunk->offset + offsetof(struct dwell_chunk_header, sealed))
               ? 0
               : errno;
}

static bool seal_write_page(const struct session_file *file, struct dwell_seal *seal)
{
    uint8_t page[DWELL_UNIT];
    if (session_file_read_some(file, 0, page, sizeof page) != (long)sizeof page)
        return false;
    memcpy(page + DWELL_SEAL_OFFSET, seal, sizeof *seal);
    seal->checksum = seal_sum_of_page(page);
    return seal_write(file->fd, seal, sizeof *seal, DWELL_SEAL_OFFSET);
}

/* Finds the chunks that get checksums. */
static void seal_list(struct session_file *file)
{
    for (uint64_t offset = DWELL_UNIT, next; offset < file->size; offset = next) {
        struct trace_chunk chunk;
        if (session_file_look(file, offset, &chunk, &next) == PLACE_CHUNK && seal_is_for(chunk.kind))
            seal_keep(file, &chunk);
    }
}

bool seal_session(const struct session *session, int fd)
{
    if (session_has_other_writers(fd))
        return true;
    struct session_file file = {
        .fd = fd, .read_error = read_error_new(), .size = session->header->cursor, .has_holes = true
    };
    seal_list(&file);
    struct dwell_seal seal = { .length = file.size, .chunks = file.chunk_count };
    uint64_t bytes = 0;
    for (size_t i = 0; i < file.chunk_count; i++)
        bytes += trace_chunk_end(&file.chunks[i]);
    const int error = seal_run(&file, seal_make_chunk, NULL, bytes);
    free(file.chunks);
    errno = error;
    const bool written = !error && seal_write_page(&file, &seal);
    const int reason = errno, unread = read_error_take(file.read_error);
    read_error_free(file.read_error);
    errno = written ? unread : reason;
    return written && !unread;
}

/* A dump's writer has no lock. It writes the header last. */
bool seal_dump(const char *path, const struct dwell_file_header *session)
{
    struct dwell_file_header header;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const bool ours = pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                      memcmp(header.magic, DWELL_FILE_MAGIC, sizeof header.magic) == 0 &&
                      memcmp(header.session_id, session->session_id, sizeof header.session_id) == 0 &&
                      header.state == DWELL_COMPLETE;
    const bool sealed = ours && seal_session(&(struct session){ .header = &header }, fd);
    return close(fd) == 0 && sealed;
}

/* ---- checking ---- */

void seal_read(struct session_file *file)
{
    static const struct dwell_seal none;
    uint8_t page[DWELL_UNIT] = { 0 };
    struct dwell_seal seal;
    const uint64_t there = file->size;
    session_file_read_some(file, 0, page, sizeof page);
    memcpy(&seal, page + DWELL_SEAL_OFFSET, sizeof seal);
    file->health.is_sealed = memcmp(&seal, &none, sizeof seal) != 0;
    uint64_t length = file->header.cursor;
    if (file->health.is_sealed && seal_sum_of_page(page) == seal.checksum) {
        file->health.sealed_chunks = seal.chunks;
        length = seal.length;
    } else if (file->health.is_sealed) {
        file->health.damaged_page = true;
        length = there;
    } else if (there < length && session_has_other_writers(file->fd)) {
        length = there; /* it claims space before the file has it */
    } else if (file->more.filled && file->more.filled < length) {
        length = larger(file->more.filled, there); /* the same of a process that was killed meanwhile */
    }
    file->size = smaller(length, there);
    file->health.whole_size = length;
    file->health.missing_bytes = less(length, there);
    file->health.lacks_parts =
        file->health.missing_bytes || file->health.damaged_page || file->header.trouble & DWELL_TROUBLE_DAMAGED;
}

/* A thread of a running program that records in mode ring may use the chunk again while it is read. */
static bool seal_has_changed(const struct session_file *file, const struct trace_chunk *chunk)
{
    struct trace_chunk now;
    uint64_t next;
    return !file->health.is_sealed && session_file_look(file, chunk->offset, &now, &next) == PLACE_CHUNK &&
           (!now.sealed || now.kind != chunk->kind || now.sequence != chunk->sequence);
}

bool seal_holds(const struct session_file *file, const struct trace_chunk *chunk)
{
    if (!chunk->sealed)
        return !file->health.is_sealed || !seal_is_for(chunk->kind);
    return chunk->sealed == 1 && (seal_sum(file, chunk) == chunk->checksum || seal_has_changed(file, chunk));
}

bool seal_is_late(const struct session_file *file, const struct trace_chunk *chunk)
{
    return file->health.found_bad && chunk->kind == DWELL_CHUNK_EVENTS && chunk->sealed == 1 &&
           chunk->size <= LARGEST_LATE && decode_has_frames(chunk);
}

/* A damaged chunk may seem to be longer than it is. Keeps the whole ones that it covers. Sums may be made of `budget`
 * bytes in all, as a made-up file can have many headers that cover each other. */
static void seal_keep_covered(struct session_file *file, const struct trace_chunk *bad, uint64_t *budget)
{
    const uint64_t end = smaller(bad->offset + bad->size, file->size);
    for (uint64_t offset = bad->offset + DWELL_UNIT, next; offset < end; offset = next) {
        struct trace_chunk chunk;
        if (session_file_look(file, offset, &chunk, &next) != PLACE_CHUNK)
            continue;
        const bool tried = chunk.sealed && chunk.kind != DWELL_CHUNK_FREE && chunk.size <= *budget;
        *budget -= tried ? chunk.size : 0;
        if (tried && seal_holds(file, &chunk))
            seal_keep(file, &chunk);
        else
            next = offset + DWELL_UNIT;
    }
}

static void seal_remove_bad(struct session_file *file, const bool *bad)
{
    struct trace_chunk *chunks = file->chunks;
    const size_t count = file->chunk_count;
    uint64_t budget = file->size;
    file->chunks = NULL;
    file->chunk_count = file->chunk_room = 0;
    for (size_t i = 0; i < count; i++) {
        if (!bad[i])
            seal_keep(file, &chunks[i]);
        else
            seal_keep_covered(file, &chunks[i], &budget);
        file->health.damaged_chunks += bad[i];
        file->health.lacks_parts |= bad[i];
    }
    free(chunks);
}

static int seal_check_chunk(const struct session_file *file, size_t number, bool *bad)
{
    const struct trace_chunk *chunk = &file->chunks[number];
    if (seal_is_late(file, chunk))
        return 0;
    bad[number] = !seal_holds(file, chunk);
    progress_add(trace_chunk_end(chunk));
    return 0;
}

void seal_check(struct session_file *file)
{
    uint64_t bytes = 0;
    bool any = false;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const bool checked =
            (file->health.is_sealed || file->chunks[i].sealed) && !seal_is_late(file, &file->chunks[i]);
        bytes += checked ? trace_chunk_end(&file->chunks[i]) : 0;
        any |= checked;
    }

    if (any) {
        bool *bad = need_memory(file->chunk_count, sizeof *bad);
        progress_begin("checking", file->path, bytes);
        seal_run(file, seal_check_chunk, bad, bytes);
        progress_end();
        if (memchr(bad, true, file->chunk_count))
            seal_remove_bad(file, bad);
        free(bad);
    }
    for (size_t i = 0; i < file->chunk_count; i++)
        file->health.whole_chunks += file->chunks[i].sealed;
    file->health.missing_chunks =
        less(file->health.sealed_chunks, file->health.whole_chunks + file->health.damaged_chunks);
    file->health.lacks_parts |= file->health.is_sealed && file->health.whole_chunks != file->health.sealed_chunks;
}
