/* Writes the chunks, records and events of session files into memory, and saves them. */
#include "support/session_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/session_writer_bytes.h"

/* ---- bytes ---- */

void bytes_extend(struct bytes *b, size_t length)
{
    if (length > b->room) {
        b->room = length * 2;
        b->at = realloc(b->at, b->room);
        if (!b->at)
            abort();
    }
    if (length > b->length)
        memset(b->at + b->length, 0, length - b->length);
    b->length = length;
}

void bytes_put_at(struct bytes *b, size_t offset, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        b->at[offset + i] = (uint8_t)(value >> 8 * i);
}

void writer_put(struct bytes *b, uint64_t value, unsigned size)
{
    bytes_extend(b, b->length + size);
    bytes_put_at(b, b->length - size, value, size);
}

void writer_put_bytes(struct bytes *b, const void *data, size_t length)
{
    bytes_extend(b, b->length + length);
    if (length)
        memcpy(b->at + b->length - length, data, length);
}

void bytes_put_string(struct bytes *b, const char *text, size_t length)
{
    writer_put(b, length, 2);
    writer_put_bytes(b, text, length);
}

void bytes_pad(struct bytes *b, size_t multiple)
{
    bytes_extend(b, (b->length + multiple - 1) / multiple * multiple);
}

/* ---- the file ---- */

struct writer *writer_new(void)
{
    struct writer *w = calloc(1, sizeof *w);
    struct bytes *b = &w->file;
    bytes_extend(b, UNIT);
    memcpy(b->at, "DWELL\r\n\x1a", 8);
    bytes_put_at(b, 8, 1, 4);
    bytes_put_at(b, 12, 0x01020304, 4);
    bytes_put_at(b, 16, 62, 2);
    bytes_put_at(b, 18, 1, 2);
    bytes_put_at(b, 20, UNIT, 4);
    bytes_put_at(b, 64, 1000000000, 8);
    bytes_put_at(b, 104, 100, 4);
    bytes_put_at(b, 108, 100, 4);
    return w;
}

void writer_free(struct writer *w)
{
    free(w->file.at);
    free(w);
}

void writer_end_chunk(struct writer *w)
{
    if (!w->chunk)
        return;
    bytes_pad(&w->file, UNIT);
    bytes_put_at(&w->file, w->chunk + 8, w->file.length - w->chunk, 4);
    w->chunk = 0;
}

void writer_begin_chunk(struct writer *w, uint32_t kind, uint32_t process)
{
    writer_end_chunk(w);
    w->chunk = w->file.length;
    w->chunk_kind = kind;
    w->chunk_process = process;
    bytes_extend(&w->file, w->chunk + HEADER);
    memcpy(w->file.at + w->chunk, "DWCK", 4);
    bytes_put_at(&w->file, w->chunk + 4, kind, 2);
    bytes_put_at(&w->file, w->chunk + 16, process, 4);
}

void write_header(struct writer *w, size_t offset, uint64_t value, unsigned size)
{
    bytes_put_at(&w->file, offset, value, size);
}

void write_nothing(struct writer *w)
{
    writer_end_chunk(w);
    bytes_extend(&w->file, w->file.length + UNIT);
}

void write_chunk_of_kind(struct writer *w, uint32_t kind)
{
    writer_begin_chunk(w, kind, 1);
    writer_end_chunk(w);
}

void writer_save(struct writer *w, const char *path)
{
    writer_end_chunk(w);
    bytes_put_at(&w->file, 88, w->file.length, 8);
    bytes_put_at(&w->file, 112, 2, 4);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(w->file.at, 1, w->file.length, out) != w->file.length || fclose(out) != 0)
        abort();
}

/* ---- records ---- */

void writer_begin_record(struct writer *w, uint32_t kind, uint32_t process, uint32_t type, struct bytes *record)
{
    if (!w->chunk || w->chunk_kind != kind || w->chunk_process != process)
        writer_begin_chunk(w, kind, process);
    memset(record, 0, sizeof *record);
    writer_put(record, type, 2);
    writer_put(record, 0, 2);
    writer_put(record, 0, 4);
}

void writer_end_record(struct writer *w, struct bytes *record)
{
    bytes_pad(record, 8);
    bytes_put_at(record, 4, record->length, 4);
    bytes_extend(&w->file, w->file.length + record->length);
    memcpy(w->file.at + w->file.length - record->length, record->at, record->length);
    free(record->at);
}

void end_records(struct writer *w, bool with_used)
{
    if (with_used)
        bytes_put_at(&w->file, w->chunk + 12, w->file.length - w->chunk, 4);
    writer_end_chunk(w);
}

void write_record(struct writer *w, uint32_t process, uint32_t type, const void *content, size_t length)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, type, &r);
    bytes_extend(&r, 8 + length);
    memcpy(r.at + 8, content, length);
    writer_end_record(w, &r);
}

void write_process(struct writer *w, uint32_t serial, uint32_t pid, const char *path)
{
    write_process_of(w, serial, pid, 1, 0, 0, path);
}

void write_process_of(struct writer *w, uint32_t serial, uint32_t pid, uint32_t parent_pid, uint32_t parent,
                      uint64_t start, const char *path)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, serial, 1, &r);
    writer_put(&r, pid, 4);
    writer_put(&r, parent_pid, 4);
    writer_put(&r, parent, 8);
    writer_put(&r, start, 8);
    bytes_put_string(&r, path, strlen(path));
    bytes_put_string(&r, "prog\0arg", 9);
    writer_end_record(w, &r);
}

void write_process_end(struct writer *w, uint32_t serial, uint32_t pid, uint32_t how, uint32_t value, uint64_t time)
{
    write_process_end_by(w, serial, serial, pid, how, value, time);
}

void write_process_end_by(struct writer *w, uint32_t by, uint32_t serial, uint32_t pid, uint32_t how, uint32_t value,
                          uint64_t time)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, by, 2, &r);
    writer_put(&r, serial, 4);
    writer_put(&r, pid, 4);
    writer_put(&r, how, 4);
    writer_put(&r, value, 4);
    writer_put(&r, time, 8);
    writer_end_record(w, &r);
}

void write_thread(struct writer *w, uint32_t process, uint32_t serial, uint32_t tid, uint32_t source, const char *name)
{
    write_thread_at(w, process, serial, tid, source, 0, name);
}

void write_thread_at(struct writer *w, uint32_t process, uint32_t serial, uint32_t tid, uint32_t source, uint64_t start,
                     const char *name)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 3, &r);
    writer_put(&r, serial, 4);
    writer_put(&r, tid, 4);
    writer_put(&r, source, 8);
    writer_put(&r, start, 8);
    bytes_put_string(&r, name, strlen(name));
    writer_end_record(w, &r);
}

void write_thread_name(struct writer *w, uint32_t process, uint32_t serial, const char *name)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 4, &r);
    writer_put(&r, serial, 8);
    bytes_put_string(&r, name, strlen(name));
    writer_end_record(w, &r);
}

static void writer_begin_thread_end(struct writer *w, uint32_t process, uint32_t serial, bool flagged, uint64_t time,
                                    struct bytes *r)
{
    writer_begin_record(w, KIND_METADATA, process, 5, r);
    writer_put(r, serial, 4);
    writer_put(r, flagged, 4);
    writer_put(r, time, 8);
}

void write_thread_end(struct writer *w, uint32_t process, uint32_t serial, bool flagged, uint64_t time)
{
    struct bytes r;
    writer_begin_thread_end(w, process, serial, flagged, time, &r);
    writer_end_record(w, &r);
}

void write_thread_end_off_cpu(struct writer *w, uint32_t process, uint32_t serial, uint64_t time, uint64_t blocked,
                              uint64_t preempted)
{
    struct bytes r;
    writer_begin_thread_end(w, process, serial, blocked || preempted, time, &r);
    writer_put(&r, blocked, 8);
    writer_put(&r, preempted, 8);
    writer_end_record(w, &r);
}

void write_thread_switches(struct writer *w, uint32_t process, uint32_t serial, uint64_t waits, uint64_t preemptions,
                           uint64_t recorded)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 19, &r);
    writer_put(&r, serial, 8);
    writer_put(&r, waits, 8);
    writer_put(&r, preemptions, 8);
    writer_put(&r, recorded, 8);
    writer_end_record(w, &r);
}

void write_probes(struct writer *w, uint32_t process, uint32_t in_callee, uint32_t in_caller, uint32_t first_callee)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 18, &r);
    writer_put(&r, in_callee, 4);
    writer_put(&r, in_caller, 4);
    writer_put(&r, first_callee, 4);
    writer_put(&r, 100, 4); /* work */
    writer_put(&r, 80, 4);  /* rounds */
    writer_put(&r, 0, 4);
    writer_end_record(w, &r);
}

void write_module(struct writer *w, uint32_t process, uint32_t number, uint64_t bias, uint64_t begin, uint64_t end,
                  uint64_t load_time, const char *path)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 6, &r);
    writer_put(&r, number, 8);
    writer_put(&r, bias, 8);
    writer_put(&r, begin, 8);
    writer_put(&r, end, 8);
    writer_put(&r, load_time, 8);
    bytes_put_string(&r, path, strlen(path));
    bytes_put_string(&r, w->build_id, w->build_id_length);
    writer_end_record(w, &r);
}

void set_build_id(struct writer *w, const char *bytes, size_t length)
{
    w->build_id = bytes;
    w->build_id_length = length;
}

void write_module_unload(struct writer *w, uint32_t process, uint32_t number, uint64_t time)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 7, &r);
    writer_put(&r, number, 8);
    writer_put(&r, time, 8);
    writer_end_record(w, &r);
}

void write_note(struct writer *w, uint32_t process, const char *text)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 8, &r);
    bytes_put_string(&r, text, strlen(text));
    writer_end_record(w, &r);
}

void write_host(struct writer *w, const char *node)
{
    const char *const texts[] = { "Linux", "6.1", "#1", "x86_64", node, "2" };
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, 0, 14, &r);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        bytes_put_string(&r, texts[i], strlen(texts[i]));
    writer_end_record(w, &r);
}

void write_symbol_module(struct writer *w, uint32_t number, const char *path)
{
    struct bytes r;
    writer_begin_record(w, KIND_SYMBOLS, 0, 9, &r);
    writer_put(&r, number, 8);
    bytes_put_string(&r, path, strlen(path));
    bytes_put_string(&r, w->build_id, w->build_id_length);
    writer_end_record(w, &r);
}

void write_symbol_file(struct writer *w, uint32_t number, const char *path)
{
    struct bytes r;
    writer_begin_record(w, KIND_SYMBOLS, 0, 10, &r);
    writer_put(&r, number, 8);
    bytes_put_string(&r, path, strlen(path));
    writer_end_record(w, &r);
}

void write_symbol(struct writer *w, uint32_t module, uint32_t file, uint32_t line, uint64_t offset, const char *name)
{
    struct bytes r;
    writer_begin_record(w, KIND_SYMBOLS, 0, 11, &r);
    writer_put(&r, module, 4);
    writer_put(&r, file, 4);
    writer_put(&r, line, 8);
    writer_put(&r, offset, 8);
    bytes_put_string(&r, name, strlen(name));
    writer_end_record(w, &r);
}

/* ---- events ---- */

void begin_events(struct writer *w, uint32_t process, uint32_t thread, uint32_t sequence, uint64_t start,
                  const struct open_call *calls, uint32_t count)
{
    writer_begin_chunk(w, KIND_EVENTS, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_put_at(&w->file, w->chunk + 24, sequence, 4);
    bytes_put_at(&w->file, w->chunk + 28, count, 4);
    bytes_put_at(&w->file, w->chunk + 32, start, 8);
    w->upper[0] = w->upper[1] = 0;
    w->next_upper = 0;
    w->enters = w->exits = 0;
    w->last = start;
    for (uint32_t i = 0; i < count; i++) {
        writer_put(&w->file, calls[i].function, 8);
        writer_put(&w->file, calls[i].enter_time, 8);
    }
}

void set_upper_halves(struct writer *w, uint32_t first, uint32_t second)
{
    bytes_put_at(&w->file, w->chunk + 40, first, 4);
    bytes_put_at(&w->file, w->chunk + 44, second, 4);
    w->upper[0] = first;
    w->upper[1] = second;
}

void end_events(struct writer *w, bool with_used)
{
    if (with_used) {
        bytes_put_at(&w->file, w->chunk + 12, w->file.length - w->chunk, 4);
        bytes_put_at(&w->file, w->chunk + 48, w->enters, 4);
        bytes_put_at(&w->file, w->chunk + 52, w->exits, 4);
    }
    writer_end_chunk(w);
}

static void writer_put_head(struct writer *w, unsigned type, unsigned words)
{
    writer_put(&w->file, type << 8 | words, 2);
}

void write_time(struct writer *w, uint64_t time)
{
    writer_put_head(w, 1, 3);
    writer_put(&w->file, time, 6);
}

void write_upper(struct writer *w, unsigned half, uint32_t value)
{
    writer_put_head(w, 2, 3);
    writer_put(&w->file, half, 2);
    writer_put(&w->file, value, 4);
    w->upper[half & 1] = value;
}

static void writer_put_time(struct writer *w, uint64_t time)
{
    if (time - w->last >= 1u << 14)
        write_time(w, time);
    w->last = time;
}

static unsigned writer_half_for(struct writer *w, uint64_t function)
{
    uint32_t upper = (uint32_t)(function >> 32);
    for (unsigned i = 0; i < 2; i++)
        if (w->upper[i] == upper)
            return i;
    unsigned half = (unsigned)w->next_upper;
    w->next_upper = !half;
    write_upper(w, half, upper);
    return half;
}

void write_enter(struct writer *w, uint64_t time, uint64_t function)
{
    writer_put_time(w, time);
    unsigned half = writer_half_for(w, function);
    writer_put(&w->file, (1 + half) << 14 | (time & 0x3fff), 2);
    writer_put(&w->file, function, 4);
    w->enters++;
}

void write_exit(struct writer *w, uint64_t time)
{
    writer_put_time(w, time);
    writer_put(&w->file, 3u << 14 | (time & 0x3fff), 2);
    w->exits++;
}

void write_os(struct writer *w)
{
    writer_put_head(w, 3, 0);
}

void write_off_cpu(struct writer *w, bool preempted, uint64_t time, uint64_t length)
{
    writer_put_head(w, preempted ? 5 : 4, 6);
    writer_put(&w->file, time, 6);
    writer_put(&w->file, length, 6);
}

void write_faults(struct writer *w, unsigned count)
{
    writer_put_head(w, 6, 1);
    writer_put(&w->file, count, 2);
}

void write_unwind(struct writer *w, uint32_t frames)
{
    writer_put_head(w, 7, 2);
    writer_put(&w->file, frames, 4);
}

static void writer_put_object(struct writer *w, unsigned kind, unsigned role, uint64_t id, uint32_t holder)
{
    writer_put_head(w, 20, holder ? 7 : 5);
    writer_put(&w->file, role << 8 | kind, 2);
    writer_put(&w->file, id, 8);
    if (holder)
        writer_put(&w->file, holder, 4);
}

void write_object(struct writer *w, unsigned kind, bool acted, uint64_t id, uint32_t holder)
{
    writer_put_object(w, kind, acted, id, holder);
}

void write_object_on_all(struct writer *w, unsigned kind, uint64_t id)
{
    writer_put_object(w, kind, 5, id, 0);
}

void write_object_given_up(struct writer *w, unsigned kind, uint64_t id)
{
    writer_put_object(w, kind, 4, id, 0);
}

void write_object_room(struct writer *w, unsigned kind, bool acted, uint64_t id)
{
    writer_put_object(w, kind, 2 + acted, id, 0);
}

static void writer_put_control(struct writer *w, unsigned type, unsigned words, uint64_t time)
{
    writer_put_head(w, type, 3 + words);
    writer_put(&w->file, time, 6);
    w->last = time;
}

void write_pause(struct writer *w, uint64_t time)
{
    writer_put_control(w, 11, 0, time);
}

void write_resume(struct writer *w, uint64_t time, uint32_t ended)
{
    writer_put_control(w, 12, 2, time);
    writer_put(&w->file, ended, 4);
}

void write_switch(struct writer *w, uint64_t time, uint32_t stack)
{
    writer_put_control(w, 15, 2, time);
    writer_put(&w->file, stack, 4);
}

void write_mark(struct writer *w, uint64_t time, uint64_t about, uint32_t number, const char *text)
{
    const size_t length = strlen(text), words = (length + 1) / 2;
    writer_put_control(w, 10, 6 + (unsigned)words, time);
    writer_put(&w->file, about, 6);
    writer_put(&w->file, number, 4);
    writer_put(&w->file, length, 2);
    for (size_t i = 0; i < 2 * words; i++)
        writer_put(&w->file, i < length ? (uint8_t)text[i] : 0, 1);
}

void write_open(struct writer *w, uint64_t function, uint64_t enter_time)
{
    writer_put_head(w, 14, 7);
    writer_put(&w->file, function, 8);
    writer_put(&w->file, enter_time, 6);
}

void write_words(struct writer *w, const uint16_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        writer_put(&w->file, words[i], 2);
}
