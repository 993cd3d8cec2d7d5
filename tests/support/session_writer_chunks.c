/* Writes chunks of sums, of trace events and of samples, and records of descriptors. */
#include <string.h>

#include "support/session_writer_bytes.h"

/* ---- sums: call trees, waits, counted calls ---- */

void write_tree(struct writer *w, uint32_t process, uint32_t thread, const struct tree_node *nodes, uint32_t count)
{
    enum { TREE = 4, HEAD = 64, NODE = 128 };
    writer_begin_chunk(w, TREE, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_extend(&w->file, w->chunk + HEADER + HEAD + (size_t)count * NODE);
    for (uint32_t i = 0; i < count; i++) {
        const struct tree_node *n = &nodes[i];
        const uint64_t number = i + 1, no_completed_call = UINT64_MAX;
        const uint64_t words[] = {
            n->function,
            number << 32 | n->parent,
            n->calls,
            n->elapsed,
            n->shortest ? n->shortest : no_completed_call,
            n->longest,
            n->flagged,
            0,
            n->blocked,
            n->preempted,
            n->page_faults,
            n->os_events,
            n->flagged_intervals,
            0,
            n->site,
            n->runtime,
        };
        for (size_t word = 0; word < NODE / 8; word++)
            bytes_put_at(&w->file, w->chunk + HEADER + HEAD + (size_t)i * NODE + 8 * word, words[word], 8);
    }
    writer_end_chunk(w);
}

void write_wait_rows(struct writer *w, uint32_t process, uint32_t thread, const struct wait_row *rows, uint32_t count)
{
    enum { WAITS = 11, ROW = 64 };
    writer_begin_chunk(w, WAITS, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_extend(&w->file, w->chunk + HEADER + (size_t)count * ROW);
    for (uint32_t i = 0; i < count; i++) {
        const struct wait_row *r = &rows[i];
        const uint64_t members[][2] = { { 4, r->node },    { 1, r->kind },    { 1, r->role },        { 2, 0 },
                                        { 8, r->id },      { 4, r->holder },  { 4, r->holder_node }, { 8, r->waits },
                                        { 8, r->blocked }, { 8, r->longest }, { 8, r->first },       { 8, r->last } };
        size_t at = w->chunk + HEADER + (size_t)i * ROW;
        for (size_t m = 0; m < sizeof members / sizeof *members; at += members[m++][0])
            bytes_put_at(&w->file, at, members[m][1], (unsigned)members[m][0]);
    }
    writer_end_chunk(w);
}

void write_durations(struct writer *w, uint32_t process, uint32_t thread, const uint64_t (*rows)[3], uint32_t count)
{
    enum { DURATIONS = 19, ROW = 16 };
    writer_begin_chunk(w, DURATIONS, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_extend(&w->file, w->chunk + HEADER + (size_t)count * ROW);
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = w->chunk + HEADER + (size_t)i * ROW;
        bytes_put_at(&w->file, at, rows[i][0], 4);
        bytes_put_at(&w->file, at + 4, rows[i][1], 4);
        bytes_put_at(&w->file, at + 8, rows[i][2], 8);
    }
    writer_end_chunk(w);
}

void write_counts(struct writer *w, uint32_t process, uint32_t thread, uint64_t time, const uint64_t (*pairs)[2],
                  uint32_t count)
{
    enum { COUNTS = 9, PAIR = 16 };
    writer_begin_chunk(w, COUNTS, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
    bytes_put_at(&w->file, w->chunk + 32, time, 8);
    bytes_extend(&w->file, w->chunk + HEADER + (size_t)count * PAIR);
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_at(&w->file, w->chunk + HEADER + (size_t)i * PAIR, pairs[i][0], 8);
        bytes_put_at(&w->file, w->chunk + HEADER + (size_t)i * PAIR + 8, pairs[i][1], 8);
    }
    writer_end_chunk(w);
}

void write_tree_head(struct writer *w, uint64_t last_time, uint32_t top)
{
    const size_t head = w->file.length - UNIT + HEADER;
    bytes_put_at(&w->file, head + 8, last_time, 8);
    bytes_put_at(&w->file, head + 16, top, 4);
}

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

void set_sample_period(struct writer *w, uint32_t period)
{
    bytes_put_at(&w->file, w->chunk + 44, period, 4);
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
