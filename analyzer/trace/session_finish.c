/* Writes the last records of a session: ends of processes, the machine, the clock, symbols and the final size. */
#include "trace/session_finish.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/wide.h"
#include "clock.h"
#include "guard.h"
#include "session_lock.h"

/* ---- records ---- */

enum { SYMBOLS_CHUNK = 256 << 10, LONGEST_TEXT = 32000 };

struct finish_writer {
    const struct session *session;
    int fd;
    enum dwell_chunk_kind kind;
    struct dwell_chunk_header *chunk;
    uint64_t offset; /* of the chunk */
    uint32_t size, used;
};

struct finish_text {
    const void *at;
    size_t length;
};

static void finish_end_chunk(struct finish_writer *w)
{
    if (w->chunk)
        session_unmap(w->chunk, w->size);
    w->chunk = NULL;
}

static bool finish_begin_chunk(struct finish_writer *w, uint32_t size)
{
    finish_end_chunk(w);
    uint64_t offset = session_claim(w->session, w->fd, size);
    if (!offset)
        return false;
    w->chunk = session_map(w->session, w->fd, offset, size);
    if (!w->chunk)
        return false;
    w->offset = offset;
    w->size = size;
    w->used = sizeof *w->chunk;
    w->chunk->size = size;
    w->chunk->magic = DWELL_CHUNK_MAGIC;
    __atomic_store_n(&w->chunk->kind, w->kind, __ATOMIC_RELEASE);
    return true;
}

static bool finish_append_record(struct finish_writer *w, const struct dwell_record *record, size_t size,
                                 const struct finish_text *texts, int count)
{
    size_t total = size;
    for (int i = 0; i < count; i++)
        total += 2 + texts[i].length;
    total = (total + 7) & ~(size_t)7;
    if ((!w->chunk || w->used + total > w->size) && !finish_begin_chunk(w, w->size))
        return false;
    char *begin = (char *)w->chunk + w->used, *at = begin + size;
    memcpy(begin + sizeof *record, record + 1, size - sizeof *record);
    for (int i = 0; i < count; i++) {
        uint16_t length = (uint16_t)texts[i].length;
        memcpy(at, &length, sizeof length);
        memcpy(at + sizeof length, texts[i].at, length);
        at += sizeof length + length;
    }
    struct dwell_record *head = (struct dwell_record *)begin;
    head->size = (uint32_t)total;
    __atomic_store_n(&head->type, record->type, __ATOMIC_RELEASE); /* a live reader may read it at once */
    w->used += (uint32_t)total;
    return true;
}

static struct finish_text finish_text_of(const char *string)
{
    size_t length = string ? strlen(string) : 0;
    return (struct finish_text){ string ? string : "", length < LONGEST_TEXT ? length : LONGEST_TEXT };
}

struct finish_writer *finish_ends_begin(const struct session *session, int fd)
{
    struct finish_writer *w = need_memory(1, sizeof *w);
    *w = (struct finish_writer){ .session = session, .fd = fd, .kind = DWELL_CHUNK_METADATA, .size = DWELL_UNIT };
    return w;
}

bool finish_ends_add(struct finish_writer *w, uint32_t process, uint32_t pid, int status, uint64_t time)
{
    const bool unknown = status == FINISH_STATUS_UNKNOWN, killed = !unknown && WIFSIGNALED(status);
    const struct dwell_rec_process_end record = {
        .record.type = DWELL_REC_PROCESS_END,
        .process = process,
        .pid = pid,
        .how = unknown  ? DWELL_END_UNKNOWN
               : killed ? DWELL_END_SIGNAL
                        : DWELL_END_EXIT,
        .value = (uint32_t)(unknown  ? 0
                            : killed ? WTERMSIG(status)
                                     : WEXITSTATUS(status)),
        .time = time,
    };
    return finish_append_record(w, &record.record, sizeof record, NULL, 0);
}

bool finish_cpu_add(struct finish_writer *w, uint32_t process, uint32_t pid, uint64_t usage, uint64_t clock,
                    uint64_t time)
{
    const struct dwell_rec_process_cpu record = {
        .record.type = DWELL_REC_PROCESS_CPU,
        .process = process,
        .pid = pid,
        .time = time,
        .usage = usage,
        .clock = clock,
    };
    return finish_append_record(w, &record.record, sizeof record, NULL, 0);
}

uint64_t finish_ends_at(const struct finish_writer *w)
{
    return w->chunk ? w->offset : 0;
}

void finish_ends_close(struct finish_writer *w)
{
    finish_end_chunk(w);
    free(w);
}

static unsigned finish_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
}

bool finish_host(const struct session *session, int fd)
{
    struct utsname names;
    char processors[16];
    if (uname(&names) < 0)
        return false;
    struct finish_writer w = { .session = session, .fd = fd, .kind = DWELL_CHUNK_METADATA, .size = DWELL_UNIT };
    struct dwell_rec_host record = { .record.type = DWELL_REC_HOST };
    snprintf(processors, sizeof processors, "%u", finish_processors());
    const struct finish_text texts[] = { finish_text_of(names.sysname),  finish_text_of(names.release),
                                         finish_text_of(names.version),  finish_text_of(names.machine),
                                         finish_text_of(names.nodename), finish_text_of(processors) };
    bool done = finish_append_record(&w, &record.record, sizeof record, texts, sizeof texts / sizeof *texts);
    finish_end_chunk(&w);
    return done;
}

bool finish_note(const struct session *session, int fd, const char *note)
{
    struct finish_writer w = { .session = session, .fd = fd, .kind = DWELL_CHUNK_METADATA, .size = DWELL_UNIT };
    struct dwell_rec_note record = { .record.type = DWELL_REC_NOTE };
    const struct finish_text text = finish_text_of(note);
    const bool done = finish_append_record(&w, &record.record, sizeof record, &text, 1);
    finish_end_chunk(&w);
    return done;
}

enum { LONG_ENOUGH = 50000000 }; /* nanoseconds after which a clock's rate can be measured */

void finish_clock(const struct session *session)
{
    struct dwell_file_header *h = session->header;
    uint64_t ticks = clock_now(h->clock), ns = clock_monotonic();
    if (h->clock != DWELL_CLOCK_MONOTONIC && ns - h->start_monotonic > LONG_ENOUGH)
        h->ticks_per_second = multiply_divide(ticks - h->start_ticks, 1000000000, ns - h->start_monotonic);
    h->end_ticks = ticks;
    h->end_monotonic = ns;
}

/* ---- symbols ---- */

struct file_number {
    const char *path;
    uint32_t number;
};

static int finish_compare_files(const void *a, const void *b)
{
    return strcmp(((const struct file_number *)a)->path, ((const struct file_number *)b)->path);
}

struct file_numbers {
    struct file_number *list; /* by path */
    size_t count, room;
    const char *last_path; /* neighbours are often of one file, and then of one text */
    uint32_t last_number;
};

static void finish_add_file(struct file_numbers *files, const char *path)
{
    if (!path || path == files->last_path)
        return;
    GROW(files->list, files->count, files->room);
    files->list[files->count++].path = path;
    files->last_path = path;
}

static struct file_numbers finish_number_files(const struct finish_names *names)
{
    struct file_numbers files = { .list = NULL };
    size_t kept = 0;
    for (size_t i = 0; i < names->symbol_count; i++)
        finish_add_file(&files, names->symbols[i].file);
    for (size_t i = 0; i < names->site_count; i++) {
        finish_add_file(&files, names->sites[i].file);
        finish_add_file(&files, names->sites[i].outer_file);
    }
    if (files.count)
        qsort(files.list, files.count, sizeof *files.list, finish_compare_files);
    for (size_t i = 0; i < files.count; i++)
        if (kept == 0 || strcmp(files.list[kept - 1].path, files.list[i].path) != 0)
            files.list[kept++].path = files.list[i].path;
    for (size_t i = 0; i < kept; i++)
        files.list[i].number = (uint32_t)i + 1;
    files.count = kept;
    files.last_path = NULL;
    return files;
}

static uint32_t finish_file_number(const char *file, struct file_numbers *files)
{
    const struct file_number wanted = { file, 0 };
    if (!file)
        return 0;
    if (file != files->last_path) {
        const struct file_number *found =
            bsearch(&wanted, files->list, files->count, sizeof *files->list, finish_compare_files);
        files->last_path = file;
        files->last_number = found->number;
    }
    return files->last_number;
}

static bool finish_append_site(struct finish_writer *w, const struct finish_site *s, struct file_numbers *files)
{
    struct dwell_rec_site record = {
        .record.type = DWELL_REC_SITE,
        .module = s->module,
        .file = finish_file_number(s->file, files),
        .line = s->line,
        .outer_file = finish_file_number(s->outer_file, files),
        .outer_line = s->outer_line,
        .offset = s->offset | (s->inlined ? DWELL_SITE_INLINED : 0),
    };
    const struct finish_text texts[] = { finish_text_of(s->function), finish_text_of(s->outer) };
    return finish_append_record(w, &record.record, sizeof record, texts, 2);
}

static bool finish_append_symbol(struct finish_writer *w, const struct finish_symbol *s, struct file_numbers *files)
{
    struct dwell_rec_symbol record = {
        .record.type = DWELL_REC_SYMBOL,
        .module = s->module,
        .file = finish_file_number(s->file, files),
        .line = s->line,
        .offset = s->offset,
    };
    return finish_append_record(
        w, &record.record, sizeof record,
        &(struct finish_text){ finish_text_of(s->linkage_name).at, finish_text_of(s->linkage_name).length }, 1);
}

bool finish_symbols(const struct session *session, int fd, const struct finish_names *names)
{
    const struct finish_module *modules = names->modules;
    struct finish_writer w = { .session = session, .fd = fd, .kind = DWELL_CHUNK_SYMBOLS, .size = SYMBOLS_CHUNK };
    struct file_numbers files = finish_number_files(names);
    bool done = true;
    for (size_t i = 0; done && i < names->module_count; i++) {
        struct dwell_rec_symbol_module record = { .record.type = DWELL_REC_SYMBOL_MODULE, .module = (uint32_t)i };
        struct finish_text texts[] = { finish_text_of(modules[i].path),
                                       { modules[i].build_id, modules[i].build_id_length } };
        done = finish_append_record(&w, &record.record, sizeof record, texts, 2);
    }
    for (size_t i = 0; done && i < files.count; i++) {
        struct dwell_rec_symbol_file record = { .record.type = DWELL_REC_SYMBOL_FILE, .file = files.list[i].number };
        struct finish_text path = finish_text_of(files.list[i].path);
        done = finish_append_record(&w, &record.record, sizeof record, &path, 1);
    }
    for (size_t i = 0; done && i < names->symbol_count; i++)
        done = finish_append_symbol(&w, &names->symbols[i], &files);
    for (size_t i = 0; done && i < names->site_count; i++)
        done = finish_append_site(&w, &names->sites[i], &files);
    finish_end_chunk(&w);
    free(files.list);
    return done;
}

/* ---- space ---- */

static void finish_punch_hole(int fd, uint64_t begin, uint64_t end)
{
    begin = (begin + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    if (begin < end)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
}

/* The end of the last node of a call tree whose thread has not recorded the used length. What cannot be read may be
 * one.
 */
static uint64_t finish_end_of_tree(int fd, uint64_t offset, const struct dwell_chunk_header *h)
{
    uint64_t at = offset + sizeof *h + (h->sequence == 0 ? sizeof(struct dwell_tree_head) : 0);
    struct dwell_tree_node node;
    for (; at + sizeof node <= offset + h->size; at += sizeof node) {
        const ssize_t got = pread(fd, &node, sizeof node, (off_t)at);
        if (got < 0)
            return offset + h->size;
        if (got != sizeof node || !node.function)
            break;
    }
    return at;
}

/* Gives space that was claimed and never written back to the disk. */
static void finish_punch_unused(const struct session *session, int fd)
{
    uint64_t end = session->header->cursor, offset = DWELL_UNIT;
    while (offset < end) {
        struct dwell_chunk_header h;
        if (pread(fd, &h, sizeof h, (off_t)offset) != sizeof h)
            return;
        if (h.magic != DWELL_CHUNK_MAGIC || h.size < DWELL_UNIT || h.size % DWELL_UNIT) {
            offset += DWELL_UNIT;
            continue;
        }
        if (h.kind == DWELL_CHUNK_FREE)
            finish_punch_hole(fd, offset + sizeof h, offset + h.size);
        else if ((h.kind == DWELL_CHUNK_EVENTS || h.kind == DWELL_CHUNK_CALL_TREE ||
                  h.kind == DWELL_CHUNK_TRACE_EVENTS || h.kind == DWELL_CHUNK_SAMPLES || h.kind == DWELL_CHUNK_COUNTS ||
                  h.kind == DWELL_CHUNK_WAITS || h.kind == DWELL_CHUNK_DURATIONS) &&
                 h.used)
            finish_punch_hole(fd, offset + h.used, offset + h.size);
        else if (h.kind == DWELL_CHUNK_CALL_TREE)
            finish_punch_hole(fd, finish_end_of_tree(fd, offset, &h), offset + h.size);
        offset += h.size;
    }
}

/* The end of the last chunk that is not empty. What cannot be read may be one. */
static uint64_t finish_end_of_chunks(const struct session *session, int fd)
{
    uint64_t end = DWELL_UNIT;
    for (uint64_t offset = DWELL_UNIT; offset < session->header->cursor;) {
        struct dwell_chunk_header h;
        const ssize_t got = pread(fd, &h, sizeof h, (off_t)offset);
        if (got < 0)
            return session->header->cursor;
        if (got != sizeof h)
            break;
        const bool chunk = h.magic == DWELL_CHUNK_MAGIC && h.size >= DWELL_UNIT && h.size % DWELL_UNIT == 0;
        offset += chunk ? h.size : DWELL_UNIT;
        if (chunk && h.kind != DWELL_CHUNK_FREE)
            end = offset;
    }
    return end;
}

static void finish_cut_off_free(const struct session *session, int fd)
{
    const uint64_t end = finish_end_of_chunks(session, fd);
    if (end < session->header->cursor && ftruncate(fd, (off_t)end) == 0)
        session->header->cursor = end;
}

/* If memory has taken the place of the header, there may be room for it now that unused space has been given back. */
static void finish_header(const struct session *session, int fd)
{
    const struct dwell_file_header *h = session->header;
    const size_t ticks = offsetof(struct dwell_file_header, ticks_per_second),
                 cursor = offsetof(struct dwell_file_header, cursor), state = offsetof(struct dwell_file_header, state);
    if (!session_settle(session, fd) || !guard_header_is_lost())
        return;
    if (pwrite(fd, (const char *)h + ticks, cursor + sizeof h->cursor - ticks, (off_t)ticks) > 0 &&
        pwrite(fd, &h->state, sizeof h->state, (off_t)state) < 0)
        return;
}

void finish_space(const struct session *session, int fd)
{
    if (!session_has_other_writers(fd)) {
        finish_cut_off_free(session, fd);
        finish_punch_unused(session, fd);
    }
    session->header->state = DWELL_COMPLETE;
    finish_header(session, fd);
}
