/* Merges sessions of one clock: compares the clocks, then copies the chunks with new serial numbers. */
#include "trace/session_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/wide.h"
#include "trace/header.h"
#include "trace/merge_values.h"
#include "trace/metadata_record.h"
#include "trace/process_cpu_times.h"
#include "trace/session_finish.h"
#include "trace/session_output.h"

/* ---- comparing clocks ---- */

static const uint64_t ns_per_second = 1000000000;

static uint64_t merge_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Each session has the readings of both clocks at its beginning. Both must have advanced equally between the two. */
static bool merge_same_course(const struct dwell_file_header *a, const struct dwell_file_header *b)
{
    const uint64_t rate = a->ticks_per_second, ns = merge_difference(a->start_monotonic, b->start_monotonic);
    const uint64_t ticks = merge_difference(a->start_ticks, b->start_ticks);
    const uint128 expected = (uint128)ns * rate / ns_per_second;
    const uint128 difference = expected > ticks ? expected - ticks : ticks - expected;
    const bool forward = (a->start_monotonic < b->start_monotonic) == (a->start_ticks < b->start_ticks);
    /* The tolerance is a millisecond, and the error of the estimated rate. */
    return (forward || ticks < rate / 1000) && difference <= rate / 1000 + ticks / 500;
}

/* Suspending stops CLOCK_MONOTONIC, and a restart resets it. The time of day shows both. */
static bool merge_same_boot(const struct dwell_file_header *a, const struct dwell_file_header *b)
{
    const uint64_t boots[] = { a->start_realtime - a->start_monotonic, b->start_realtime - b->start_monotonic };
    return merge_difference(boots[0], boots[1]) <= 5 * ns_per_second;
}

static bool merge_same_text(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

const char *session_merge_check(const struct session_file *first, const struct session_file *second)
{
    const struct dwell_file_header *a = &first->header, *b = &second->header;
    const uint32_t kinds = DWELL_ORIGIN_IMPORTED | DWELL_ORIGIN_SAMPLES;
    if ((a->origin & kinds) != (b->origin & kinds))
        return "recordings and imports have no common clock";
    if (a->mode != b->mode)
        return "recorded in another mode";
    if (a->origin & DWELL_ORIGIN_IMPORTED)
        return a->ticks_per_second == b->ticks_per_second ? NULL : "imported with another resolution";
    if (a->machine != b->machine || !merge_same_text(first->host.node, second->host.node))
        return "recorded on another machine, by another clock";
    if (a->clock != b->clock || merge_difference(a->ticks_per_second, b->ticks_per_second) > a->ticks_per_second / 100)
        return "recorded by another clock";
    if (!merge_same_course(a, b) || !merge_same_boot(a, b))
        return "recorded before or after the machine was restarted, slept, or had its time set: by another clock";
    static const uint64_t none[2];
    if (memcmp(a->session_id, b->session_id, sizeof none) == 0 && memcmp(a->session_id, none, sizeof none) != 0)
        return "it is a copy, so its calls would count twice";
    return NULL;
}

/* ---- copying ---- */

/* Offsets that are added to the numbers of a session. Zero stays zero. */
struct merge_shift {
    uint32_t process, thread;
    uint32_t symbol_module, symbol_file;
    uint32_t sequence; /* of chunks without a process */
};

struct merger {
    int fd;
    uint64_t end; /* of the output so far */
    struct merge_shift shift;
    struct merged_values *values; /* NULL: they are left out */
    uint8_t *buffer;
    size_t room;
    const char *error;
};

static const char *merge_write_error(void)
{
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? "the disk is full" : strerror(errno);
}

static void merge_write_at(struct merger *m, const void *data, size_t size, uint64_t offset)
{
    struct interruptions interruptions = { 0 };
    for (size_t done = 0; done < size && !m->error;) {
        if (session_beyond_limit(offset + size)) {
            m->error = "the file would exceed the limit of file size (ulimit -f)";
            return;
        }
        const ssize_t wrote = pwrite(m->fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (wrote < 0 && !interrupted(&interruptions))
            m->error = merge_write_error();
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

static uint32_t merge_shifted(uint32_t number, uint32_t by)
{
    return number ? number + by : 0;
}

#define SHIFT(record, type, member, by)                                                                                \
    do {                                                                                                               \
        struct type fixed_;                                                                                            \
        if (((const struct dwell_record *)(record))->size >= sizeof fixed_) {                                          \
            memcpy(&fixed_, (record), sizeof fixed_);                                                                  \
            fixed_.member = (by);                                                                                      \
            memcpy((record), &fixed_, sizeof fixed_);                                                                  \
        }                                                                                                              \
    } while (0)

/* Gives a record its numbers in the merged session. The record must be at a multiple of 8. */
static void merge_renumber_record(uint8_t *record, const struct merge_shift *s)
{
    switch (((const struct dwell_record *)record)->type) {
    case DWELL_REC_PROCESS:
        SHIFT(record, dwell_rec_process, parent_process, merge_shifted(fixed_.parent_process, s->process));
        break;
    case DWELL_REC_THREAD:
        SHIFT(record, dwell_rec_thread, thread, merge_shifted(fixed_.thread, s->thread));
        SHIFT(record, dwell_rec_thread, maker, merge_shifted(fixed_.maker, s->thread));
        break;
    case DWELL_REC_THREAD_NAME:
        SHIFT(record, dwell_rec_thread_name, thread, merge_shifted(fixed_.thread, s->thread));
        break;
    case DWELL_REC_THREAD_END:
        SHIFT(record, dwell_rec_thread_name, thread,
              merge_shifted(fixed_.thread, s->thread)); /* the record may be shorter */
        break;
    case DWELL_REC_THREAD_SWITCHES:
        SHIFT(record, dwell_rec_thread_switches, thread, merge_shifted(fixed_.thread, s->thread));
        break;
    case DWELL_REC_KEPT:
        SHIFT(record, dwell_rec_kept, thread, merge_shifted(fixed_.thread, s->thread));
        break;
    case DWELL_REC_SYMBOL_MODULE:
        SHIFT(record, dwell_rec_symbol_module, module, fixed_.module + s->symbol_module);
        break;
    case DWELL_REC_SYMBOL_FILE:
        SHIFT(record, dwell_rec_symbol_file, file, merge_shifted(fixed_.file, s->symbol_file));
        break;
    case DWELL_REC_SYMBOL:
        SHIFT(record, dwell_rec_symbol, module, fixed_.module + s->symbol_module);
        SHIFT(record, dwell_rec_symbol, file, merge_shifted(fixed_.file, s->symbol_file));
        break;
    case DWELL_REC_SITE:
        SHIFT(record, dwell_rec_site, module, fixed_.module + s->symbol_module);
        SHIFT(record, dwell_rec_site, file, merge_shifted(fixed_.file, s->symbol_file));
        SHIFT(record, dwell_rec_site, outer_file, merge_shifted(fixed_.outer_file, s->symbol_file));
        break;
    default:
        break;
    }
}

/* Renumbers the records. Leaves out the ends and CPU times of processes, which are written again with serial numbers,
 * and closes their gaps. A damaged record ends the chunk. Returns how many bytes of the chunk count. */
static uint32_t merge_renumber_records(uint8_t *chunk, uint32_t end, const struct merge_shift *shift)
{
    uint32_t from = sizeof(struct dwell_chunk_header), to = from;
    for (struct dwell_record head; metadata_record_at(chunk, from, end, &head); from += head.size)
        if (head.type != DWELL_REC_PROCESS_END && head.type != DWELL_REC_PROCESS_CPU) {
            memmove(chunk + to, chunk + from, head.size);
            merge_renumber_record(chunk + to, shift);
            to += head.size;
        }
    return to;
}

static void merge_put_chunk(struct merger *m, struct dwell_chunk_header *head, uint8_t *chunk, uint32_t length)
{
    head->process = merge_shifted(head->process, m->shift.process);
    head->thread = merge_shifted(head->thread, m->shift.thread);
    head->sealed = 0;
    head->checksum = 0;
    memcpy(chunk, head, sizeof *head);
    merge_write_at(m, chunk, length, m->end);
    m->end += head->size;
}

static uint32_t merge_round_to_unit(uint32_t size)
{
    return (size + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
}

static void merge_copy_chunk(struct merger *m, const struct session_file *file, const struct trace_chunk *chunk)
{
    const bool records = chunk->kind == DWELL_CHUNK_METADATA || chunk->kind == DWELL_CHUNK_SYMBOLS;
    const bool values = m->values && chunk->kind == DWELL_CHUNK_VALUES;
    if (!records && !values && chunk->kind != DWELL_CHUNK_EVENTS && chunk->kind != DWELL_CHUNK_CALL_TREE &&
        chunk->kind != DWELL_CHUNK_TRACE_EVENTS && chunk->kind != DWELL_CHUNK_COUNTS &&
        chunk->kind != DWELL_CHUNK_WAITS && chunk->kind != DWELL_CHUNK_DURATIONS &&
        (chunk->kind != DWELL_CHUNK_SAMPLES || !chunk->thread))
        return; /* not recorded, or an unknown kind of chunk */
    const size_t whole = (size_t)merge_round_to_unit(chunk->size) + TRACE_PADDING;
    if (whole > m->room) {
        m->buffer = need_more(m->buffer, whole, 1);
        m->room = whole;
    }
    memset(m->buffer + chunk->size, 0, whole - chunk->size);
    if (!session_file_read_chunk(file, chunk, m->buffer)) {
        m->error = "a session changed while it was read";
        return;
    }
    struct dwell_chunk_header head;
    memcpy(&head, m->buffer, sizeof head);
    head.process = chunk->process; /* samples: its writer may not have known them */
    head.thread = chunk->thread;
    if (chunk->kind == DWELL_CHUNK_SAMPLES && !head.period)
        head.period = file->header.sample_period; /* the merged session has another one */
    uint32_t length = trace_chunk_end(chunk);
    head.size = merge_round_to_unit(chunk->size); /* the last chunk of a file may be truncated */
    head.used = chunk->used && chunk->used <= head.size ? chunk->used : 0;
    if (records) {
        head.used = length = merge_renumber_records(m->buffer, length, &m->shift);
        head.size = merge_round_to_unit(length);
        head.sequence += head.process ? 0 : m->shift.sequence;
    }
    if (values)
        head.used = length = merged_values_renumber(m->values, m->buffer, length);
    merge_put_chunk(m, &head, m->buffer, length);
}

/* Returns where the plan of the values is; zero if there are none. */
static uint64_t merge_write_plan(struct merger *m)
{
    size_t size;
    uint8_t *plan = m->values ? merged_values_plan(m->values, &size) : NULL;
    if (!plan)
        return 0;
    struct dwell_chunk_header head;
    const uint64_t at = m->end;
    memcpy(&head, plan, sizeof head);
    head.used = (uint32_t)size;
    head.size = merge_round_to_unit(head.used);
    merge_put_chunk(m, &head, plan, head.used);
    free(plan);
    return at;
}

/* Writes how and when the session's processes ended, as far as it is known, and their CPU times. Threads without an end
 * ended with the recording if their process has no end either. */
static void merge_write_ends(struct merger *m, const struct session_file *file)
{
    struct merged_end {
        struct dwell_rec_process_end end;
        struct dwell_rec_process_cpu cpu[2];
    };
    const size_t most = (1 << 20) / sizeof(struct merged_end);
    for (size_t done = 0; done < file->process_count; done += most) {
        const size_t count = file->process_count - done < most ? file->process_count - done : most;
        const uint32_t used = (uint32_t)(sizeof(struct dwell_chunk_header) + count * sizeof(struct merged_end));
        uint8_t *chunk = need_memory(1, used);
        struct dwell_chunk_header head = {
            .magic = DWELL_CHUNK_MAGIC,
            .kind = DWELL_CHUNK_METADATA,
            .size = merge_round_to_unit(used),
            .used = used,
        };
        for (size_t i = 0; i < count; i++) {
            const struct trace_process *p = &file->processes[done + i];
            const uint32_t serial = merge_shifted(p->serial, m->shift.process);
            struct merged_end merged = { .end = {
                                             .record = { .type = DWELL_REC_PROCESS_END, .size = sizeof merged.end },
                                             .process = serial,
                                             .pid = p->pid,
                                             .how = p->end_how,
                                             .value = p->end_value,
                                             .time = p->end_time ? p->end_time : file->header.end_ticks,
                                         } };
            process_cpu_records(p, serial, merged.cpu);
            if (!p->cpu.known)
                merged.cpu[0].record.type = merged.cpu[1].record.type = DWELL_REC_VOID;
            memcpy(chunk + sizeof head + i * sizeof merged, &merged, sizeof merged);
        }
        merge_put_chunk(m, &head, chunk, used);
        free(chunk);
    }
}

/* ---- numbers ---- */

static uint32_t merge_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The largest number of each kind that the session uses. */
static struct merge_shift merge_largest_numbers(const struct session_file *f)
{
    struct merge_shift s = { 0 };
    for (size_t i = 0; i < f->process_count; i++)
        s.process = merge_larger(s.process, f->processes[i].serial);
    for (size_t i = 0; i < f->thread_count; i++)
        s.thread = merge_larger(s.thread, f->threads[i].serial);
    for (size_t i = 0; i < f->code.symbol_module_count; i++)
        s.symbol_module = merge_larger(s.symbol_module, f->code.symbol_modules[i].number);
    for (size_t i = 0; i < f->code.symbol_file_count; i++)
        s.symbol_file = merge_larger(s.symbol_file, f->code.symbol_files[i].number);
    for (size_t i = 0; i < f->chunk_count; i++) {
        s.process = merge_larger(s.process, f->chunks[i].process);
        s.thread = merge_larger(s.thread, f->chunks[i].thread);
        if (f->chunks[i].process == 0)
            s.sequence = merge_larger(s.sequence, f->chunks[i].sequence);
    }
    return s;
}

/* Returns false if the numbers would exceed what a session can hold. */
static bool merge_shift_by(uint32_t *shift, uint32_t by)
{
    const uint64_t sum = (uint64_t)*shift + by;
    *shift = (uint32_t)sum;
    return sum < UINT32_MAX;
}

/* Numbers of symbol modules and chunks count from zero. */
static bool merge_shift_behind(struct merge_shift *s, const struct session_file *f)
{
    const struct merge_shift most = merge_largest_numbers(f);
    bool fits = merge_shift_by(&s->process, most.process);
    fits &= merge_shift_by(&s->thread, most.thread);
    fits &= merge_shift_by(&s->symbol_file, most.symbol_file);
    fits &= most.symbol_module < UINT32_MAX && merge_shift_by(&s->symbol_module, most.symbol_module + 1);
    fits &= most.sequence < UINT32_MAX && merge_shift_by(&s->sequence, most.sequence + 1);
    return fits;
}

/* ---- the header ---- */

static void merge_add_header(struct dwell_file_header *h, const struct dwell_file_header *from)
{
    if (from->start_ticks < h->start_ticks) {
        h->start_ticks = from->start_ticks;
        h->start_monotonic = from->start_monotonic;
        h->start_realtime = from->start_realtime;
    }
    if (from->end_ticks > h->end_ticks) {
        h->end_ticks = from->end_ticks;
        h->end_monotonic = from->end_monotonic;
    }
    h->ring_size = merge_larger(h->ring_size, from->ring_size);
    h->trouble |= from->trouble;
    const uint32_t of_both = DWELL_ORIGIN_NARROW;
    h->origin = ((h->origin | from->origin) & ~of_both) | (h->origin & from->origin & of_both);
    h->also = (h->also | from->also) & ~(uint32_t)DWELL_ALSO_SPARE_SAMPLES; /* they were left out */
    h->lost_events += from->lost_events;
    h->lost_threads += from->lost_threads;
    h->lost_trace_events += from->lost_trace_events;
    h->max_size += from->max_size;
    h->shared_ring |= from->shared_ring;
    h->replaced_events += from->replaced_events;
    h->sample_period = merge_larger(h->sample_period, from->sample_period);
    h->sample_error = h->sample_error ? h->sample_error : from->sample_error;
    header_lose_samples(h, from->lost_samples);
    if (from->limit_time && (!h->limit_time || from->limit_time < h->limit_time))
        h->limit_time = from->limit_time;
}

/* The rate from the longest observation of both clocks, which is the most exact. */
static uint64_t merge_measured_rate(const struct dwell_file_header *h)
{
    const uint64_t ns = h->end_monotonic - h->start_monotonic, ticks = h->end_ticks - h->start_ticks;
    if (h->clock == DWELL_CLOCK_MONOTONIC || h->end_monotonic <= h->start_monotonic || ns < ns_per_second / 20)
        return h->ticks_per_second;
    const uint64_t rate = multiply_divide(ticks, ns_per_second, ns);
    return merge_difference(rate, h->ticks_per_second) <= h->ticks_per_second / 100 ? rate : h->ticks_per_second;
}

/* The smallest of all, so that no process lacks more time than its samples took. */
static uint32_t merge_sample_cost(struct session_file *const *sessions, size_t count)
{
    uint32_t cost = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct dwell_file_header *h = &sessions[i]->header;
        cost = h->sample_period ? (h->sample_cost < cost ? h->sample_cost : cost) : 0;
    }
    return cost;
}

/* The smallest of all, for the same reason. Sessions without counted calls may have none, and have no part in it. */
static uint16_t merge_count_cost(struct session_file *const *sessions, size_t count)
{
    uint16_t cost = 0;
    for (size_t i = 0; i < count; i++) {
        const uint16_t own = sessions[i]->header.count_cost;
        cost = !cost || (own && own < cost) ? own : cost;
    }
    return cost;
}

static void merge_fill_header(struct dwell_file_header *h, struct session_file *const *sessions, size_t count,
                              const struct merger *m)
{
    const struct dwell_file_header *first = &sessions[0]->header;
    bool complete = true, ended = true;
    h->machine = first->machine;
    h->clock = first->clock;
    h->mode = first->mode;
    h->origin = first->origin;
    h->start_ticks = first->start_ticks;
    h->start_monotonic = first->start_monotonic;
    h->start_realtime = first->start_realtime;
    h->ticks_per_second = first->ticks_per_second;
    for (size_t i = 0; i < count; i++) {
        merge_add_header(h, &sessions[i]->header);
        if (session_file_is_damaged(sessions[i]))
            h->trouble |= DWELL_TROUBLE_DAMAGED;
        complete &= sessions[i]->header.state == DWELL_COMPLETE;
        ended &= sessions[i]->header.end_ticks != 0;
    }
    h->sample_cost = merge_sample_cost(sessions, count);
    h->count_cost = merge_count_cost(sessions, count);
    if (count > 1 && !(h->origin & DWELL_ORIGIN_IMPORTED))
        h->ticks_per_second = merge_measured_rate(h);
    if (!ended) /* otherwise threads without a known end would last until then */
        h->end_ticks = h->end_monotonic = 0;
    h->state = complete ? DWELL_COMPLETE : DWELL_RECORDING;
    h->next_process = m->shift.process + 1;
    h->next_thread = m->shift.thread + 1;
    h->recorder_pid = 0;
}

static void merge_add_more(struct dwell_file_more *sum, const struct dwell_file_more *more, bool values)
{
    sum->lost_values += values ? more->lost_values : 0;
    sum->unstored_values += values ? more->unstored_values : 0;
    sum->late_values += values ? more->late_values : 0;
    sum->hole_searches += more->hole_searches;
    sum->code_changes += more->code_changes;
    sum->change_time += more->change_time;
    sum->stolen_time += more->stolen_time;
    sum->keep |= more->keep != 0; /* its chunk is not copied */
    sum->kept_calls += more->kept_calls;
    sum->usual_calls += more->usual_calls;
    sum->limited_calls += more->limited_calls;
    sum->unkept_calls += more->unkept_calls;
    sum->dropped_calls += more->dropped_calls;
    sum->dropped_usual += more->dropped_usual;
    sum->dropped_processes += more->dropped_processes;
    sum->forgotten += more->forgotten;
}

const char *session_merge(struct session_file *const *sessions, size_t count, bool values, const char *path)
{
    struct session_output output;
    const char *error = session_output_begin(&output, path);
    if (error)
        return error;
    struct merged_values merged = { .functions = NULL };
    struct error refused = { NULL };
    struct merger m = { .fd = output.fd, .end = DWELL_UNIT, .values = values ? &merged : NULL };
    for (size_t i = 0; i < count && !m.error; i++) {
        const struct session_file *file = sessions[i];
        if (values && !merged_values_add(&merged, file, &refused)) {
            m.error = refused.text;
            break;
        }
        progress_begin("copying", file->path, file->chunk_count);
        for (size_t j = 0; j < file->chunk_count && !m.error; j++, progress_add(1))
            merge_copy_chunk(&m, file, &file->chunks[j]);
        progress_end();
        merge_write_ends(&m, file);
        if (!merge_shift_behind(&m.shift, file))
            m.error = "more processes, threads or symbols than one session can hold";
    }
    for (size_t i = 0; i < count; i++) {
        const int unread = session_file_take_error(sessions[i]); /* also while it was opened */
        if (unread)
            m.error = strerror(unread);
    }
    const uint64_t plan = m.error ? 0 : merge_write_plan(&m);
    if (!m.error && ftruncate(output.fd, (off_t)m.end) < 0)
        m.error = merge_write_error();
    output.session.header->cursor = m.end;
    finish_space(&output.session, output.fd);
    merge_fill_header(output.session.header, sessions, count, &m);
    for (size_t i = 0; i < count; i++)
        merge_add_more(session_more(&output.session), &sessions[i]->more, values);
    session_more(&output.session)->values = plan;
    merged_values_drop(&merged);
    free(m.buffer);
    return session_output_end(&output, m.error);
}
