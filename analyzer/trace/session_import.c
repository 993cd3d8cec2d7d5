/* Writes an imported session: metadata, a call tree for each process, and the rows of a report. */
#include "trace/session_import.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/session_output.h"

enum { TREE_CHUNK = 1 << 20, METADATA_CHUNK = 256 << 10, LONGEST_TEXT = 32000 };
static const uint64_t MODULE_SIZE = (uint64_t)1 << 48;

struct import_writer {
    const struct session *session;
    int fd;
    uint8_t *chunk; /* the chunk being filled, of `size` bytes */
    uint32_t size, used;
    struct dwell_chunk_header head;
    bool failed;
};

/* Writes the chunk, which is full or the last one. It takes only as many units as it needs. */
static void import_end_chunk(struct import_writer *w)
{
    if (w->used > sizeof w->head && !w->failed) {
        const uint32_t size = (w->used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
        const uint64_t offset = session_claim(w->session, w->fd, size);
        w->head.magic = DWELL_CHUNK_MAGIC;
        w->head.size = size;
        w->head.used = w->used;
        memcpy(w->chunk, &w->head, sizeof w->head);
        w->failed = offset == 0 || pwrite(w->fd, w->chunk, w->used, (off_t)offset) != (ssize_t)w->used;
        w->head.sequence++;
    }
    memset(w->chunk, 0, w->size);
    w->used = sizeof w->head;
}

static struct import_writer import_begin_writer(const struct session *session, int fd, enum dwell_chunk_kind kind,
                                                uint32_t serial, uint32_t size)
{
    struct import_writer w = { .session = session, .fd = fd, .chunk = need_memory(1, size), .size = size };
    w.head.kind = (uint16_t)kind;
    w.head.process = serial;
    w.used = sizeof w.head;
    return w;
}

static bool import_end_writer(struct import_writer *w)
{
    import_end_chunk(w);
    free(w->chunk);
    return !w->failed;
}

static void import_append_data(struct import_writer *w, const void *data, size_t size)
{
    if (w->used + size > w->size)
        import_end_chunk(w);
    memcpy(w->chunk + w->used, data, size);
    w->used += (uint32_t)size;
}

/* ---- metadata ---- */

static size_t import_put_text(uint8_t *at, const char *text)
{
    const size_t whole = strlen(text);
    const uint16_t length = (uint16_t)(whole < LONGEST_TEXT ? whole : LONGEST_TEXT);
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, text, length);
    return sizeof length + length;
}

static void import_append_record(struct import_writer *w, const void *fixed, size_t size, const char *text,
                                 const char *second)
{
    static _Alignas(8) uint8_t bytes[2 * LONGEST_TEXT + 256];
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, fixed, size);
    size_t total = size;
    if (text)
        total += import_put_text(bytes + total, text);
    if (second)
        total += import_put_text(bytes + total, second);
    total = (total + 7) & ~(size_t)7;
    ((struct dwell_record *)bytes)->size = (uint32_t)total;
    import_append_data(w, bytes, total);
}

static bool import_write_metadata(const struct session *session, int fd, const struct import_session *s,
                                  uint32_t serial)
{
    const struct import_process *p = &s->processes[serial - 1];
    struct import_writer w = import_begin_writer(session, fd, DWELL_CHUNK_METADATA, serial, METADATA_CHUNK);
    struct dwell_rec_process process = { .record.type = DWELL_REC_PROCESS, .pid = p->pid };
    import_append_record(&w, &process, sizeof process, p->path, "");
    struct dwell_rec_thread thread = {
        .record.type = DWELL_REC_THREAD,
        .thread = serial,
        .os_source = s->application_known ? DWELL_OS_IMPORTED : DWELL_OS_NONE,
    };
    import_append_record(&w, &thread, sizeof thread, "all threads", NULL);
    for (size_t i = 0; i < p->module_count; i++) {
        struct dwell_rec_module module = {
            .record.type = DWELL_REC_MODULE,
            .module = (uint32_t)i + 1,
            .bias = p->modules[i].base,
            .begin = p->modules[i].base,
            .end = p->modules[i].base + (MODULE_SIZE - 1),
        };
        import_append_record(&w, &module, sizeof module, p->modules[i].path, "");
    }
    if (p->note) {
        struct dwell_rec_note note = { .record.type = DWELL_REC_NOTE };
        import_append_record(&w, &note, sizeof note, p->note, NULL);
    }
    for (size_t i = 0; i < p->reported_count; i++) {
        struct import_reported reported = p->reported[i];
        reported.row.record = (struct dwell_record){ .type = DWELL_REC_REPORTED };
        import_append_record(&w, &reported, reported.stated.columns ? sizeof reported : sizeof reported.row, NULL,
                             NULL);
    }
    return import_end_writer(&w);
}

/* ---- call trees ---- */

static bool import_write_tree(const struct session *session, int fd, const struct import_process *p, uint32_t serial)
{
    const struct dwell_tree_head head = { 0 };
    struct import_writer w = import_begin_writer(session, fd, DWELL_CHUNK_CALL_TREE, serial, TREE_CHUNK);
    w.head.thread = serial;
    import_append_data(&w, &head, sizeof head);
    for (size_t i = 0; i < p->node_count; i++) {
        const struct import_node *from = &p->nodes[i];
        const struct dwell_tree_node node = {
            .function = from->function,
            .parent = from->parent,
            .number = (uint32_t)i + 1,
            .calls = from->calls,
            .elapsed = from->elapsed,
            .shortest = from->shortest,
            .longest = from->longest,
            .flagged = from->flagged,
            .depth = from->depth,
        };
        import_append_data(&w, &node, sizeof node);
    }
    return import_end_writer(&w);
}

static bool import_write_all(const struct session *session, int fd, const struct import_session *s)
{
    struct dwell_file_header *h = session->header;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    h->clock = DWELL_CLOCK_MONOTONIC;
    h->start_ticks = h->start_monotonic = 0;
    h->start_realtime = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    h->ticks_per_second = s->ticks_per_second;
    h->mode = DWELL_MODE_PROFILE;
    h->origin = s->origin;
    h->recorder_pid = 0;
    h->next_process = h->next_thread = (uint32_t)s->process_count + 1;
    for (uint32_t serial = 1; serial <= s->process_count; serial++)
        if (!import_write_metadata(session, fd, s, serial) ||
            !import_write_tree(session, fd, &s->processes[serial - 1], serial))
            return false;
    return finish_symbols(session, fd,
                          &(struct finish_names){
                              .modules = s->symbol_modules,
                              .module_count = s->symbol_module_count,
                              .symbols = s->symbols,
                              .symbol_count = s->symbol_count,
                          });
}

const char *import_session(const struct import_session *s, const char *path)
{
    struct session_output output;
    const char *error = session_output_begin(&output, path);
    if (error)
        return error;
    const bool written = import_write_all(&output.session, output.fd, s);
    if (written)
        output.session.header->state = DWELL_COMPLETE;
    const bool full = output.session.header->trouble & DWELL_TROUBLE_NO_SPACE;
    return session_output_end(&output, written ? NULL : full ? "the disk is full" : "cannot be written");
}
