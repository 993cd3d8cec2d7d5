/* Opens a session file, checks its header, and makes the index of its chunks. */
#include "trace/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "session_lock.h"
#include "trace/metadata.h"
#include "trace/module_map.h"
#include "trace/read_error.h"
#include "trace/samples.h"
#include "trace/session_seal.h"
#include "trace/symbol_table.h"
#include "trace/thread_ends.h"

enum { MAX_HOLE = 256 << 10 }; /* bytes; larger holes are not read */

int session_file_take_error(const struct session_file *file)
{
    return read_error_take(file->read_error);
}

/* `fd` is that of the file, or of its temporary one. */
static long session_file_read_at(const struct session_file *file, int fd, void *buffer, size_t size, uint64_t offset)
{
    struct interruptions interruptions = { 0 };
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, (char *)buffer + got, size - got, (off_t)(offset + got));
        if (n < 0 && interrupted(&interruptions))
            continue;
        if (n < 0) {
            read_error_note(file->read_error, errno);
            return -1;
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (long)got;
}

static const char *session_file_check_header(const struct dwell_file_header *header, long got)
{
    if (got == 0)
        return "the file is empty";
    if (got < (long)sizeof header->magic || memcmp(header->magic, DWELL_FILE_MAGIC, sizeof header->magic) != 0)
        return "not a dwell session";
    if (got < (long)sizeof *header)
        return "truncated within its header";
    if (header->byte_order != DWELL_BYTE_ORDER)
        return "written in another byte order";
    if (header->version > DWELL_VERSION)
        return "written by a newer version of dwell";
    if (header->version < DWELL_VERSION)
        return "written by an older version of dwell, whose format is no longer read";
    if (header->unit != DWELL_UNIT)
        return "damaged: its unit is invalid";
    if (!session_rate_is_possible(header->ticks_per_second))
        return "damaged: its clock rate is impossible";
    return NULL;
}

/* Reads page 0. Bytes of the file after the cursor do not count. */
static const char *session_file_read_header(struct session_file *file)
{
    struct stat status;
    if (fstat(file->fd, &status) < 0)
        return strerror(errno);
    if (S_ISDIR(status.st_mode))
        return "is a directory";
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    long got = session_file_read_at(file, file->fd, &file->header, sizeof file->header, 0);
    if (got < 0)
        return strerror(errno);
    const char *error = session_file_check_header(&file->header, got);
    file->more = (struct dwell_file_more){ 0 };
    if (session_file_read_at(file, file->fd, &file->more, sizeof file->more, sizeof file->header) < 0)
        return strerror(errno);
    if (fstat(file->fd, &status) < 0) /* after the header, which says how long the file is at least */
        return strerror(errno);
    file->size = (uint64_t)status.st_size;
    file->has_holes = status.st_blocks < status.st_size / 512;
    if (!error)
        seal_read(file);
    return error;
}

static const char *session_file_open_path(struct session_file *file, const char *path)
{
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return file->fd < 0 ? strerror(errno) : session_file_read_header(file);
}

/* Whether a header could be that of a chunk at `offset`, as far as the file goes. */
static bool session_file_is_plausible(const struct session_file *file, const struct dwell_chunk_header *h,
                                      uint64_t offset)
{
    if (h->size < DWELL_UNIT || h->size % DWELL_UNIT || h->size > DWELL_CHUNK_LARGEST)
        return false;
    if (h->used > h->size || (h->used && h->used < sizeof *h))
        return false;
    if (h->kind == DWELL_CHUNK_EVENTS && (h->size - sizeof *h) / sizeof(struct dwell_frame) < h->depth)
        return false;
    return offset < file->size;
}

static struct trace_chunk session_file_chunk_of(const struct session_file *file, const struct dwell_chunk_header *h,
                                                uint64_t offset)
{
    const uint64_t rest = file->size - offset;
    return (struct trace_chunk){
        .offset = offset,
        .size = h->size < rest ? h->size : (uint32_t)rest, /* the last chunk can be truncated */
        .used = h->used,
        .kind = h->kind,
        .process = h->process,
        .thread = h->thread,
        .sequence = h->sequence,
        .depth = h->depth,
        .start_time = h->start_time,
        .upper = { h->upper[0], h->upper[1] },
        .enters = h->enters,
        .exits = h->exits,
        .sealed = h->sealed,
        .checksum = h->sealed ? h->checksum : 0,
    };
}

/* The next unit that can have been written. It skips holes, since a file can have holes of terabytes. */
static uint64_t session_file_next_unit(const struct session_file *file, uint64_t offset)
{
    uint64_t next = offset + DWELL_UNIT;
    off_t data = lseek(file->fd, (off_t)next, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? file->size : next;
    return (uint64_t)data / DWELL_UNIT * DWELL_UNIT;
}

/* Whether the chunk was never written, or its writer was killed between the size and the magic number. Then the whole
 * chunk is empty. */
static bool session_file_is_unwritten(const struct dwell_chunk_header *h)
{
    static const uint8_t zeros[sizeof *h];
    uint8_t rest[sizeof *h];
    memcpy(rest, h, sizeof rest);
    memset(rest + offsetof(struct dwell_chunk_header, size), 0, sizeof h->size);
    return memcmp(rest, zeros, sizeof rest) == 0;
}

/* A disk answers many requests as fast as one. So this requests the next headers, at the offsets that they have if all
 * chunks are as large as this one. Most are. */
static void session_file_read_ahead(const struct session_file *file, uint64_t offset, uint32_t size)
{
    enum { AHEAD = 64 };
    const uint64_t then = offset + (uint64_t)AHEAD * size;
    if (then < file->size)
        posix_fadvise(file->fd, (off_t)then, sizeof(struct dwell_chunk_header), POSIX_FADV_WILLNEED);
}

enum session_place session_file_look(const struct session_file *file, uint64_t offset, struct trace_chunk *chunk,
                                     uint64_t *next)
{
    struct dwell_chunk_header h;
    const long got = session_file_read_at(file, file->fd, &h, sizeof h, offset);
    *next = file->size;
    if (got < (long)sizeof h)
        return got == 0 ? PLACE_EMPTY : PLACE_BAD_CHUNK;
    if (h.magic == DWELL_CHUNK_MAGIC && session_file_is_plausible(file, &h, offset)) {
        *chunk = session_file_chunk_of(file, &h, offset);
        *next = offset + h.size;
        return PLACE_CHUNK;
    }
    *next = session_file_next_unit(file, offset);
    if (h.magic == DWELL_CHUNK_MAGIC)
        return PLACE_BAD_CHUNK;
    return session_file_is_unwritten(&h) ? PLACE_EMPTY : PLACE_BAD_UNIT;
}

/* The end of the last bytes of the chunk that were written. Holes cost no disk space, so a small file can hold a chunk
 * of a gigabyte that is empty. */
static uint64_t session_file_written_end(const struct session_file *file, uint64_t begin, uint64_t end)
{
    uint64_t written = begin;
    for (uint64_t at = begin; at < end;) {
        const off_t data = lseek(file->fd, (off_t)at, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO ? written : end;
        if ((uint64_t)data >= end)
            return written;
        const off_t hole = lseek(file->fd, data, SEEK_HOLE);
        if (hole < 0)
            return end;
        at = written = smaller((uint64_t)hole, end);
    }
    return written;
}

/* Leaves out the empty end of a large chunk. Small chunks are not worth the system calls. */
static void session_file_trim_chunk(const struct session_file *file, struct trace_chunk *chunk)
{
    const uint64_t begin = chunk->offset;
    uint32_t size = chunk->size;
    if (!file->has_holes || size <= MAX_HOLE)
        return;
    if (chunk->kind != DWELL_CHUNK_EVENTS && chunk->kind != DWELL_CHUNK_CALL_TREE && chunk->used)
        size = (uint32_t)smaller(chunk->used, size);
    const uint64_t written = session_file_written_end(file, begin, begin + size) - begin;
    chunk->size = (uint32_t)larger(written, sizeof(struct dwell_chunk_header));
    if (chunk->kind == DWELL_CHUNK_EVENTS &&
        (chunk->size - sizeof(struct dwell_chunk_header)) / sizeof(struct dwell_frame) < chunk->depth)
        chunk->size = size; /* open calls whose addresses are zero */
}

static void session_file_index_chunks(struct session_file *file)
{
    for (uint64_t offset = DWELL_UNIT, next; offset < file->size; offset = next) {
        struct trace_chunk chunk;
        const enum session_place place = session_file_look(file, offset, &chunk, &next);
        progress_add(next - offset);
        switch (place) {
        case PLACE_CHUNK:
            session_file_read_ahead(file, offset, chunk.size);
            if (chunk.kind == DWELL_CHUNK_FREE)
                break;
            session_file_trim_chunk(file, &chunk);
            GROW(file->chunks, file->chunk_count, file->chunk_room);
            file->chunks[file->chunk_count++] = chunk;
            break;
        case PLACE_BAD_CHUNK:
            file->health.damaged_chunks++;
            break;
        case PLACE_BAD_UNIT:
            file->health.damaged_bytes += DWELL_UNIT;
            break;
        case PLACE_EMPTY:
            break;
        }
    }
}

static struct session_file *session_file_new(const char *path)
{
    struct session_file *file = need_memory(1, sizeof *file);
    file->path = need_copy(path, strlen(path));
    file->read_error = read_error_new();
    return file;
}

/* The caller gets the reason as a text. */
static struct session_file *session_file_refuse(struct session_file *file)
{
    read_error_take(file->read_error);
    session_file_close(file);
    return NULL;
}

struct session_file *session_file_begin(const char *path, const char **error)
{
    struct session_file *file = session_file_new(path);
    *error = session_file_open_path(file, path);
    return *error ? session_file_refuse(file) : file;
}

static struct session_file *session_file_open_checked(const char *path, bool late, const char **error)
{
    struct session_file *file = session_file_begin(path, error);
    if (!file)
        return NULL;
    if (late)
        file->health.found_bad = need_memory(1, sizeof *file->health.found_bad);
    progress_begin("opening", path, file->size);
    session_file_index_chunks(file);
    progress_end();
    seal_check(file);
    metadata_read(file);
    samples_find_threads(file);
    thread_ends_find(file);
    return file;
}

struct session_file *session_file_open(const char *path, const char **error)
{
    return session_file_open_checked(path, false, error);
}

struct session_file *session_file_open_late(const char *path, const char **error)
{
    return session_file_open_checked(path, true, error);
}

bool session_file_end_late_checks(struct session_file *file)
{
    const bool good = !file->health.found_bad || !*file->health.found_bad;
    free(file->health.found_bad);
    file->health.found_bad = NULL;
    return good;
}

struct session_file *session_file_again(const struct session_file *file, const char **error)
{
    struct session_file *again = session_file_new(file->path);
    again->fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    *error = again->fd < 0 ? strerror(errno) : session_file_read_header(again);
    return *error ? session_file_refuse(again) : again;
}

bool session_file_is_written(const struct session_file *file)
{
    return file->header.state != DWELL_COMPLETE && session_has_other_writers(file->fd);
}

static void session_file_free_module(struct trace_module *module)
{
    free(module->path);
    free(module->build_id);
}

static void session_file_free_process(struct trace_process *process)
{
    for (size_t i = 0; i < process->module_count; i++)
        session_file_free_module(&process->modules[i]);
    free(process->modules);
    module_map_free(process->module_map);
    free(process->changes);
    free(process->path);
    free(process->arguments);
    free(process->samples);
    free(process->name);
}

static void session_file_free_symbols(struct session_file *file)
{
    for (size_t i = 0; i < file->code.symbol_count; i++)
        free(file->code.symbols[i].name);
    for (size_t i = 0; i < file->code.symbol_module_count; i++) {
        free(file->code.symbol_modules[i].path);
        free(file->code.symbol_modules[i].build_id);
    }
    for (size_t i = 0; i < file->code.symbol_file_count; i++)
        free(file->code.symbol_files[i].path);
    for (size_t i = 0; i < file->code.site_count; i++) {
        free(file->code.sites[i].function);
        free(file->code.sites[i].outer);
    }
    free(file->code.sites);
    symbol_table_free(file->code.symbol_table);
    free(file->code.symbols);
    free(file->code.symbol_modules);
    free(file->code.symbol_files);
}

static void session_file_free_host(struct trace_host *host)
{
    free(host->system);
    free(host->release);
    free(host->version);
    free(host->machine);
    free(host->node);
}

long session_file_read_some(const struct session_file *file, uint64_t offset, void *buffer, size_t size)
{
    return session_file_read_at(file, file->fd, buffer, size, offset);
}

void session_file_close(struct session_file *file)
{
    if (!file)
        return;
    read_error_free(file->read_error);
    if (file->fd >= 0)
        close(file->fd);
    if (file->is_filtered)
        close(file->filtered_fd);
    for (size_t i = 0; i < file->process_count; i++)
        session_file_free_process(&file->processes[i]);
    for (size_t i = 0; i < file->thread_count; i++)
        free(file->threads[i].name);
    for (size_t i = 0; i < file->labels.note_count; i++)
        free(file->labels.notes[i]);
    for (size_t i = 0; i < file->events.class_count; i++)
        free(file->events.classes[i].name);
    free(file->events.classes);
    for (size_t i = 0; i < file->events.layout_count; i++) {
        free(file->events.layouts[i].name);
        for (uint32_t field = 0; field < file->events.layouts[i].count; field++)
            free(file->events.layouts[i].names[field]);
    }
    free(file->events.layouts);
    session_file_free_symbols(file);
    session_file_free_host(&file->host);
    for (size_t i = 0; i < file->sums.summed_count; i++) {
        session_file_free_host(&file->sums.summed[i].host);
        free(file->sums.summed[i].held);
    }
    free(file->sums.summed);
    for (size_t i = 0; i < file->sums.object_name_count; i++)
        free(file->sums.object_names[i].name);
    free(file->sums.object_names);
    for (size_t i = 0; i < file->labels.count; i++) {
        free(file->labels.list[i].key);
        free(file->labels.list[i].value);
    }
    free(file->labels.list);
    free(file->processes);
    free(file->threads);
    free(file->labels.notes);
    free(file->levels.changes);
    descriptor_list_drop(&file->descriptors);
    maker_list_drop(&file->makers);
    stub_list_drop(&file->stubs);
    free(file->kept.calls);
    free(file->levels.decisions);
    free(file->sums.reported);
    free(file->health.found_bad);
    free(file->chunks);
    free(file->path);
    free(file);
}

/* Clears memory. Returns whole pages to the operating system, so that a hole takes no memory. */
static void session_file_clear(uint8_t *memory, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)memory % page) % page;
    if (size > MAX_HOLE) {
        const size_t whole = (size - before) / page * page;
        if (madvise(memory + before, whole, MADV_DONTNEED) == 0) {
            memset(memory, 0, before);
            memset(memory + before + whole, 0, size - before - whole);
            return;
        }
    }
    memset(memory, 0, size);
}

/* Reads bytes of the file without its holes. Bytes that cannot be read are zero. */
static void session_file_read_sparse(const struct session_file *file, uint8_t *buffer, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        const off_t data = lseek(file->fd, (off_t)(offset + done), SEEK_DATA);
        const off_t hole = data < 0 ? -1 : lseek(file->fd, data, SEEK_HOLE);
        const bool none = data < 0 && errno == ENXIO;
        const size_t from = none ? size : data < 0 ? done : smaller((uint64_t)data - offset, size);
        const size_t to = hole < 0 ? size : smaller((uint64_t)hole - offset, size);
        session_file_clear(buffer + done, from - done);
        const long read = from < to ? session_file_read_at(file, file->fd, buffer + from, to - from, offset + from) : 0;
        done = to;
        if (read < (long)(to - from) && from < to) {
            const size_t got = read > 0 ? (size_t)read : 0;
            session_file_clear(buffer + from + got, to - from - got);
        }
    }
}

void session_file_read_part(const struct session_file *file, const struct trace_chunk *chunk, uint64_t at,
                            uint8_t *buffer, size_t size)
{
    size_t got = size;
    if (chunk->bytes) {
        memcpy(buffer, chunk->bytes + at, size);
    } else if (file->has_holes && size > MAX_HOLE && !chunk->filtered) {
        session_file_read_sparse(file, buffer, size, chunk->offset + at);
    } else {
        const int fd = chunk->filtered ? file->filtered_fd : file->fd;
        const long read = session_file_read_at(file, fd, buffer, size, chunk->offset + at);
        got = read > 0 ? (size_t)read : 0;
    }
    memset(buffer + got, 0, size - got + TRACE_PADDING);
}

bool session_file_is_chunk(const struct trace_chunk *chunk, const uint8_t *buffer)
{
    struct dwell_chunk_header h;
    memcpy(&h, buffer, sizeof h);
    const bool found_thread = chunk->kind == DWELL_CHUNK_SAMPLES; /* not in the header yet: see samples_find_threads */
    return h.magic == DWELL_CHUNK_MAGIC && h.kind == chunk->kind && (h.thread == chunk->thread || found_thread) &&
           h.sequence == chunk->sequence && h.depth == chunk->depth;
}

const struct trace_chunk *session_file_chunk(const struct session_file *file, unsigned kind, uint64_t offset)
{
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == kind && file->chunks[i].offset == offset)
            return &file->chunks[i];
    return NULL;
}

bool session_file_read_chunk(const struct session_file *file, const struct trace_chunk *chunk, uint8_t *buffer)
{
    if (chunk->size < sizeof(struct dwell_chunk_header))
        return false; /* the file is truncated there */
    session_file_read_part(file, chunk, 0, buffer, chunk->size);
    return session_file_is_chunk(chunk, buffer);
}

bool session_file_fill_buffer(const struct session_file *file, const struct trace_chunk *chunk,
                              struct chunk_buffer *buffer)
{
    const size_t needed = (size_t)chunk->size + TRACE_PADDING;
    if (needed > buffer->room) {
        buffer->bytes = need_more(buffer->bytes, needed, 1);
        buffer->room = needed;
    }
    return session_file_read_chunk(file, chunk, buffer->bytes);
}

/* Processes and threads both begin with their serial number, and are sorted by it. */
static int session_file_compare_serial(const void *key, const void *entry)
{
    uint32_t wanted = *(const uint32_t *)key, serial = *(const uint32_t *)entry;
    return ORDER(wanted, serial);
}

struct trace_process *session_file_process(const struct session_file *file, uint32_t serial)
{
    if (!file->process_count)
        return NULL;
    return bsearch(&serial, file->processes, file->process_count, sizeof *file->processes, session_file_compare_serial);
}

struct trace_thread *session_file_thread(const struct session_file *file, uint32_t serial)
{
    if (!file->thread_count)
        return NULL;
    return bsearch(&serial, file->threads, file->thread_count, sizeof *file->threads, session_file_compare_serial);
}

size_t session_file_process_index(const struct session_file *file, uint32_t serial)
{
    const struct trace_process *p = session_file_process(file, serial);
    return p ? (size_t)(p - file->processes) : file->process_count;
}

size_t session_file_thread_index(const struct session_file *file, uint32_t serial)
{
    const struct trace_thread *t = session_file_thread(file, serial);
    return t ? (size_t)(t - file->threads) : file->thread_count;
}

_Static_assert(offsetof(struct trace_process, serial) == 0 && offsetof(struct trace_thread, serial) == 0,
               "session_file_compare_serial reads the first member");

bool trace_records_switches(const struct trace_thread *thread)
{
    return thread->os_source == DWELL_OS_PERF || thread->os_source == DWELL_OS_SYSCALLS;
}

const struct trace_module *trace_module_at(const struct trace_process *process, uint64_t address, uint64_t time)
{
    const struct trace_module *nearest = NULL;
    if (process->module_map)
        return module_map_find(process->module_map, address, time);
    for (size_t i = 0; i < process->module_count; i++) {
        const struct trace_module *m = &process->modules[i];
        if (address >= m->begin && address < m->end &&
            (!nearest || trace_module_distance(m, time) < trace_module_distance(nearest, time)))
            nearest = m;
    }
    return nearest;
}

uint64_t session_file_last_time(const struct session_file *file)
{
    uint64_t last = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS && file->chunks[i].start_time > last)
            last = file->chunks[i].start_time;
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].end_time > last)
            last = file->processes[i].end_time;
    return last;
}
