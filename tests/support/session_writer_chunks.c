/* Writes chunks of trace events and of samples, and records of descriptors. */
#include <string.h>

#include "support/session_writer_bytes.h"

/* ---- trace events ---- */

void write_event_class(struct writer *w, uint32_t process, const char guid[16], const char *name)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 16, &r);
    writer_put_bytes(&r, guid, 16);
    bytes_put_string(&r, name, strlen(name));
    writer_end_record(w, &r);
}

void write_event_layout(struct writer *w, uint32_t process, const char guid[16], const struct written_layout *l)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 21, &r);
    writer_put_bytes(&r, guid, 16);
    writer_put(&r, l->type | l->version << 16, 4);
    writer_put(&r, l->fields, 4);
    bytes_put_string(&r, l->name, strlen(l->name));
    bytes_put_string(&r, l->types, strlen(l->types));
    for (const char *name = l->names; *name; name += strcspn(name, " ") + (name[strcspn(name, " ")] == ' '))
        bytes_put_string(&r, name, strcspn(name, " "));
    writer_end_record(w, &r);
}

void begin_trace_events(struct writer *w, uint32_t process, uint32_t thread, uint32_t sequence)
{
    writer_begin_chunk(w, KIND_TRACE_EVENTS, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_put_at(&w->file, w->chunk + 24, sequence, 4);
}

void write_trace_event(struct writer *w, const char guid[16], const struct written_event *e)
{
    const size_t begin = w->file.length;
    writer_put(&w->file, 0, 4);
    writer_put(&w->file, e->type, 1);
    writer_put(&w->file, e->level, 1);
    writer_put(&w->file, e->version, 2);
    writer_put(&w->file, e->time, 8);
    writer_put_bytes(&w->file, guid, 16);
    writer_put(&w->file, e->kernel_ns, 8);
    writer_put(&w->file, e->user_ns, 8);
    writer_put(&w->file, e->cpu_ns, 8);
    writer_put(&w->file, e->size, 4);
    writer_put(&w->file, e->frame_count, 2);
    writer_put(&w->file, 3, 2);
    writer_put(&w->file, e->frame_count + e->more, 4);
    writer_put(&w->file, 0, 4);
    for (uint32_t i = 0; i < e->frame_count; i++)
        writer_put(&w->file, e->frames[i], 8);
    writer_put_bytes(&w->file, e->data, e->size);
    const size_t size = (w->file.length - begin + 4 + 7) / 8 * 8;
    bytes_extend(&w->file, begin + size);
    bytes_put_at(&w->file, begin, size, 4);
    bytes_put_at(&w->file, begin + size - 4, size, 4);
}

void end_trace_events(struct writer *w, bool with_used)
{
    end_records(w, with_used);
}

void begin_samples(struct writer *w, uint32_t process, uint32_t thread, uint32_t pid, uint32_t tid, uint64_t start)
{
    writer_begin_chunk(w, KIND_SAMPLES, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_put_at(&w->file, w->chunk + 28, tid, 4);
    bytes_put_at(&w->file, w->chunk + 32, start, 8);
    bytes_put_at(&w->file, w->chunk + 40, pid, 4);
    w->enters = 0;
}

void write_sample(struct writer *w, const struct written_sample *s)
{
    const size_t begin = w->file.length;
    writer_put(&w->file, 0, 4);
    writer_put(&w->file, s->register_count, 2);
    writer_put(&w->file, s->word_count, 2);
    writer_put(&w->file, s->time, 8);
    for (uint32_t i = 0; i < s->register_count; i++)
        writer_put(&w->file, s->registers[i], 8);
    for (uint32_t i = 0; i < s->word_count; i += 8) {
        uint64_t bits = 0;
        for (uint32_t j = i; j < i + 8 && j < s->word_count; j++)
            bits |= s->words[j] ? 1u << (j - i) : 0;
        writer_put(&w->file, bits, 1);
    }
    bytes_pad(&w->file, 8);
    for (uint32_t i = 0; i < s->word_count; i++)
        if (s->words[i])
            writer_put(&w->file, s->words[i], 8);
    bytes_put_at(&w->file, begin, w->file.length - begin, 4);
    w->enters++;
}

void end_samples(struct writer *w, bool with_used)
{
    bytes_put_at(&w->file, w->chunk + 48, w->enters, 4);
    end_records(w, with_used);
}

void write_descriptor(struct writer *w, uint32_t process, unsigned kind, uint64_t id, uint64_t peer, const char *name)
{
    struct bytes r;
    writer_begin_record(w, KIND_METADATA, process, 23, &r);
    writer_put(&r, id, 8);
    writer_put(&r, peer, 8);
    writer_put(&r, kind, 8);
    bytes_put_string(&r, name, strlen(name));
    writer_end_record(w, &r);
}
