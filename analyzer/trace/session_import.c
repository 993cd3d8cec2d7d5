/* Writes an imported session: metadata, a call tree for each process, and the rows of a report. */
#include "trace/session_import.h"

#include <time.h>

#include "trace/chunk_writer.h"
#include "trace/session_output.h"

enum { TREE_CHUNK = 1 << 20, METADATA_CHUNK = 256 << 10 };
static const uint64_t MODULE_SIZE = (uint64_t)1 << 48;

/* ---- metadata ---- */

static void import_append_record(struct chunk_writer *w, const void *fixed, size_t size, const char *text,
                                 const char *second)
{
    const struct chunk_text texts[] = { chunk_text_of(text), chunk_text_of(second) };
    chunk_writer_add_record(w, fixed, size, texts, (text != NULL) + (second != NULL));
}

static bool import_write_metadata(const struct session *session, int fd, const struct import_session *s,
                                  uint32_t serial)
{
    const struct import_process *p = &s->processes[serial - 1];
    struct chunk_writer w = chunk_writer_begin(session, fd, DWELL_CHUNK_METADATA, serial, METADATA_CHUNK);
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
    return chunk_writer_end(&w);
}

/* ---- call trees ---- */

static bool import_write_tree(const struct session *session, int fd, const struct import_process *p, uint32_t serial)
{
    const struct dwell_tree_head head = { 0 };
    struct chunk_writer w = chunk_writer_begin(session, fd, DWELL_CHUNK_CALL_TREE, serial, TREE_CHUNK);
    w.head.thread = serial;
    chunk_writer_add(&w, &head, sizeof head);
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
        chunk_writer_add(&w, &node, sizeof node);
    }
    return chunk_writer_end(&w);
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
