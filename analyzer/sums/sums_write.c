/*
 * Writes sums as a session of mode profile. Everything has one place, whatever the order in which it was added:
 * sessions by their ids, modules by path and build-id, functions by module and address, and the call paths of a thread
 * by depth, then by caller, function and site. Each module has addresses of its own, and all processes have the same
 * ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "sums/sums_order.h"
#include "trace/header.h"
#include "trace/process_cpu_times.h"
#include "trace/session_finish.h"
#include "trace/session_output.h"

static const uint64_t ns_per_second = 1000000000;

/* ---- the sessions ---- */

static int sums_compare_text_numbers(const void *a, const void *b, void *context)
{
    const struct intern *texts = context;
    return strcmp(texts->pieces[*(const uint32_t *)a].bytes, texts->pieces[*(const uint32_t *)b].bytes);
}

static void sums_write_notes(const struct sums *sums, struct chunk_writer *chunk)
{
    uint32_t *order = sums_list(sums->notes.count);
    qsort_r(order, sums->notes.count, sizeof *order, sums_compare_text_numbers, (void *)&sums->notes);
    for (size_t i = 0; i < sums->notes.count; i++) {
        const struct dwell_rec_note note = { .record.type = DWELL_REC_NOTE };
        const struct chunk_text text = chunk_text_of(sums->notes.pieces[order[i]].bytes);
        chunk_writer_add_record(chunk, &note, sizeof note, &text, 1);
    }
    free(order);
}

static int sums_compare_descriptors(const void *a, const void *b)
{
    const struct trace_descriptor *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

static void sums_write_descriptors(const struct sums *sums, struct chunk_writer *chunk)
{
    const size_t count = sums->descriptors.count;
    struct trace_descriptor *list = need_memory(count + 1, sizeof *list);
    if (count) {
        memcpy(list, sums->descriptors.list, count * sizeof *list);
        qsort(list, count, sizeof *list, sums_compare_descriptors);
    }
    for (size_t i = 0; i < count; i++) {
        if (i && sums_compare_descriptors(&list[i - 1], &list[i]) == 0)
            continue;
        const struct dwell_rec_descriptor record = {
            .record.type = DWELL_REC_DESCRIPTOR, .id = list[i].id, .peer = list[i].peer, .kind = list[i].kind
        };
        const struct chunk_text text = chunk_text_of(list[i].name);
        chunk_writer_add_record(chunk, &record, sizeof record, &text, 1);
    }
    free(list);
}

static size_t sums_host_texts(const struct trace_host *host, char processors[16], struct chunk_text *texts)
{
    const char *const all[] = { host->system, host->release, host->version, host->machine, host->node, processors };
    snprintf(processors, 16, "%u", host->processors);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        texts[i] = chunk_text_of(all[i]);
    return sizeof all / sizeof *all;
}

static void sums_write_sessions(struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    struct chunk_writer chunk = sums_begin(w, DWELL_CHUNK_METADATA, 0, 0, SUMS_METADATA);
    char processors[16];
    for (size_t i = 0; i < sums->session_count; i++) {
        const struct trace_summed *summed = &sums->sessions[w->session_order[i]].summed;
        struct chunk_text texts[CHUNK_MOST_TEXTS] = { { summed->held, summed->held_length } };
        const size_t count = 1 + sums_host_texts(&summed->host, processors, texts + 1);
        chunk_writer_add_record(&chunk, &summed->record, sizeof summed->record, texts, count);
    }
    if (sums->session_count == 1 && sums->sessions[0].summed.host.node && sums->sessions[0].summed.host.node[0]) {
        struct chunk_text texts[CHUNK_MOST_TEXTS];
        const struct dwell_rec_host host = { .record.type = DWELL_REC_HOST };
        const size_t count = sums_host_texts(&sums->sessions[0].summed.host, processors, texts);
        chunk_writer_add_record(&chunk, &host, sizeof host, texts, count);
    }
    for (size_t i = 0; i < sums->label_count; i++) {
        const struct dwell_rec_label label = { .record.type = DWELL_REC_LABEL };
        const struct chunk_text texts[] = { chunk_text_of(sums->labels[i].key), chunk_text_of(sums->labels[i].value) };
        chunk_writer_add_record(&chunk, &label, sizeof label, texts, 2);
    }
    sums_write_notes(sums, &chunk);
    sums_write_descriptors(sums, &chunk);
    sums_end(w, &chunk);
}

/* ---- processes ---- */

static int sums_compare_facts(const struct sums_fact *x, const struct sums_fact *y, const uint64_t *addresses)
{
    const uint64_t a[] = { x->process, x->fact, x->time, addresses[x->function], x->level, x->calls, x->mean };
    const uint64_t b[] = { y->process, y->fact, y->time, addresses[y->function], y->level, y->calls, y->mean };
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int sums_sort_facts(const void *a, const void *b, void *context)
{
    const struct sums_writer *w = context;
    return sums_compare_facts(a, b, w->addresses);
}

static int sums_sort_objects(const void *a, const void *b, void *context)
{
    const struct sums_object *x = a, *y = b;
    const struct sums *sums = context;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->name == y->name ? 0 : strcmp(sums->texts.pieces[x->name].bytes, sums->texts.pieces[y->name].bytes);
}

struct sums_lists {
    struct sums_fact *facts;
    struct sums_object *objects;
    size_t next_fact, next_object;
};

static struct sums_lists sums_sort_lists(const struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    struct sums_lists lists = { need_memory(sums->fact_count + 1, sizeof *lists.facts),
                                need_memory(sums->object_count + 1, sizeof *lists.objects), 0, 0 };
    for (size_t i = 0; i < sums->fact_count; i++) {
        lists.facts[i] = sums->facts[i];
        lists.facts[i].process = w->process_serials[sums->facts[i].process];
    }
    for (size_t i = 0; i < sums->object_count; i++) {
        lists.objects[i] = sums->objects[i];
        lists.objects[i].process = w->process_serials[sums->objects[i].process];
    }
    qsort_r(lists.facts, sums->fact_count, sizeof *lists.facts, sums_sort_facts, (void *)w);
    qsort_r(lists.objects, sums->object_count, sizeof *lists.objects, sums_sort_objects, (void *)sums);
    return lists;
}

static void sums_write_fact(const struct sums_writer *w, struct chunk_writer *chunk, const struct sums_fact *l)
{
    const struct dwell_rec_level level = {
        .record.type = DWELL_REC_LEVEL, .time = l->time, .function = w->addresses[l->function], .level = l->level
    };
    const struct dwell_rec_decision decision = {
        .record.type = DWELL_REC_DECISION,
        .time = l->time,
        .function = w->addresses[l->function],
        .level = l->level,
        .calls = l->calls,
        .mean = l->mean,
    };
    const struct dwell_rec_made made = {
        .record.type = DWELL_REC_MADE,
        .time = l->time,
        .id = l->calls,
        .function = w->addresses[l->function],
        .kind = l->level,
    };
    switch (l->fact) {
    case FACT_LEVEL:
        chunk_writer_add_record(chunk, &level, sizeof level, NULL, 0);
        break;
    case FACT_DECISION:
        chunk_writer_add_record(chunk, &decision, sizeof decision, NULL, 0);
        break;
    case FACT_MADE:
        chunk_writer_add_record(chunk, &made, sizeof made, NULL, 0);
        break;
    }
}

static void sums_write_lists(const struct sums_writer *w, struct chunk_writer *chunk, struct sums_lists *lists,
                             uint32_t process)
{
    const struct sums *sums = w->sums;
    for (; lists->next_fact < sums->fact_count && lists->facts[lists->next_fact].process <= process;
         lists->next_fact++) {
        const struct sums_fact *l = &lists->facts[lists->next_fact];
        if (lists->next_fact == 0 || sums_compare_facts(l - 1, l, w->addresses) != 0)
            sums_write_fact(w, chunk, l);
    }
    for (; lists->next_object < sums->object_count && lists->objects[lists->next_object].process <= process;
         lists->next_object++) {
        const struct sums_object *o = &lists->objects[lists->next_object];
        const struct dwell_rec_object_name record = { .record.type = DWELL_REC_OBJECT_NAME, .id = o->id };
        if (o->name == INTERN_NONE || (lists->next_object && sums_sort_objects(o - 1, o, (void *)sums) == 0))
            continue;
        const struct chunk_text text = chunk_text_of(sums->texts.pieces[o->name].bytes);
        chunk_writer_add_record(chunk, &record, sizeof record, &text, 1);
    }
}

static void sums_write_thread_records(const struct sums_writer *w, struct chunk_writer *chunk, uint32_t place)
{
    const struct trace_thread *t = &w->sums->threads[place];
    const struct dwell_rec_thread record = {
        .record.type = DWELL_REC_THREAD,
        .thread = w->thread_serials[place],
        .tid = t->tid,
        .os_source = t->os_source,
        .start_time = t->start_time,
    };
    const struct dwell_rec_thread_name named = { .record.type = DWELL_REC_THREAD_NAME,
                                                 .thread = w->thread_serials[place] };
    const struct dwell_rec_thread_end end = { .record.type = DWELL_REC_THREAD_END,
                                              .thread = w->thread_serials[place],
                                              .time = t->end_time };
    const struct chunk_text name = chunk_text_of(t->name);
    if (t->announced)
        chunk_writer_add_record(chunk, &record, sizeof record, &name, 1);
    else /* its source of OS events stays unknown */
        chunk_writer_add_record(chunk, &named, sizeof named, &name, 1);
    if (t->end_time)
        chunk_writer_add_record(chunk, &end, sizeof end, NULL, 0);
    if (t->switches.record.type) {
        struct dwell_rec_thread_switches switches = t->switches;
        switches.thread = w->thread_serials[place];
        chunk_writer_add_record(chunk, &switches, sizeof switches, NULL, 0);
    }
}

static void sums_write_modules(const struct sums_writer *w, struct chunk_writer *chunk, uint32_t process, size_t *next)
{
    for (; *next < w->process_module_count && w->process_modules[*next] >> 32 <= process; ++*next) {
        const uint32_t rank = (uint32_t)w->process_modules[*next];
        const struct profile_module *m = &w->sums->profile->modules[w->module_order[rank]];
        const uint64_t begin = ((uint64_t)rank + 1) * SUMS_MODULE_SIZE;
        const struct dwell_rec_module record = {
            .record.type = DWELL_REC_MODULE,
            .module = rank + 1,
            .bias = begin + 1,
            .begin = begin,
            .end = begin + SUMS_MODULE_SIZE,
        };
        const struct chunk_text texts[] = { chunk_text_of(m->path), { m->build_id, m->build_id_length } };
        chunk_writer_add_record(chunk, &record, sizeof record, texts, 2);
    }
}

/* The next entries of the lists that processes have. */
struct sums_next {
    struct sums_lists lists;
    size_t thread, module;
};

static void sums_write_process(struct sums_writer *w, uint32_t serial, struct sums_next *next)
{
    const struct sums *sums = w->sums;
    const struct trace_process *p = &sums->processes[w->process_order[serial - 1]];
    struct chunk_writer chunk = sums_begin(w, DWELL_CHUNK_METADATA, serial, 0, SUMS_METADATA);
    const struct dwell_rec_process record = {
        .record.type = DWELL_REC_PROCESS,
        .pid = p->pid,
        .parent_pid = p->parent_pid,
        .parent_process = p->parent_process ? w->process_serials[p->parent_process - 1] : 0,
        .start_time = p->start_time,
    };
    const struct chunk_text texts[] = { chunk_text_of(p->path), chunk_text_of(p->arguments) };
    chunk_writer_add_record(&chunk, &record, sizeof record, texts, 2);
    if (p->name[0]) {
        const struct dwell_rec_process_name name = { .record.type = DWELL_REC_PROCESS_NAME };
        const struct chunk_text text = chunk_text_of(p->name);
        chunk_writer_add_record(&chunk, &name, sizeof name, &text, 1);
    }
    if (p->end_how) {
        const struct dwell_rec_process_end end = {
            .record.type = DWELL_REC_PROCESS_END,
            .process = serial,
            .pid = p->pid,
            .how = p->end_how,
            .value = p->end_value,
            .time = p->end_time,
        };
        chunk_writer_add_record(&chunk, &end, sizeof end, NULL, 0);
    }
    if (p->cpu.known) {
        struct dwell_rec_process_cpu cpu[2];
        process_cpu_records(p, serial, cpu);
        chunk_writer_add_record(&chunk, &cpu[0], sizeof cpu[0], NULL, 0);
        chunk_writer_add_record(&chunk, &cpu[1], sizeof cpu[1], NULL, 0);
    }
    if (p->probes.rounds)
        chunk_writer_add_record(&chunk, &p->probes, sizeof p->probes, NULL, 0);
    sums_write_modules(w, &chunk, serial, &next->module);
    for (; next->thread < sums->thread_count; next->thread++) {
        const uint32_t place = w->thread_order[next->thread];
        if (w->process_serials[sums->threads[place].process - 1] > serial)
            break;
        sums_write_thread_records(w, &chunk, place);
    }
    sums_write_lists(w, &chunk, &next->lists, serial);
    sums_end(w, &chunk);
}

static void sums_write_processes(struct sums_writer *w)
{
    struct sums_next next = { .lists = sums_sort_lists(w) };
    for (uint32_t serial = 1; serial <= w->sums->process_count; serial++)
        sums_write_process(w, serial, &next);
    free(next.lists.facts);
    free(next.lists.objects);
}

/* ---- the header ---- */

/* An id that depends on the sessions and shards alone. */
static void sums_fill_id(const struct sums_writer *w, uint64_t id[2])
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    id[0] = 1;
    id[1] = 2;
    for (size_t i = 0; i < w->sums->session_count; i++) {
        const struct trace_summed *summed = &w->sums->sessions[w->session_order[i]].summed;
        uint64_t held = summed->record.shards ? summed->record.shards : DWELL_MOST_SHARDS + 1;
        for (size_t j = 0; j < summed->held_length; j++)
            held = (held ^ summed->held[j]) * factor;
        id[0] = (id[0] ^ summed->record.header.session_id[0] ^ held) * factor;
        id[1] = (id[1] ^ summed->record.header.session_id[1] ^ held >> 7) * factor;
    }
}

static uint64_t sums_saturated(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void sums_add_header(struct dwell_file_header *h, const struct dwell_rec_summed *record)
{
    const struct dwell_file_header *from = &record->header;
    h->trouble |= from->trouble;
    h->origin |= from->origin;
    h->also |= from->also;
    h->shared_ring |= from->shared_ring != 0;
    h->lost_events = sums_saturated(h->lost_events, from->lost_events);
    h->lost_threads = sums_saturated(h->lost_threads, from->lost_threads);
    h->lost_trace_events = sums_saturated(h->lost_trace_events, from->lost_trace_events);
    h->replaced_events = sums_saturated(h->replaced_events, from->replaced_events);
    header_lose_samples(h, from->lost_samples);
    h->sample_period = from->sample_period > h->sample_period ? from->sample_period : h->sample_period;
    h->sample_cost = from->sample_cost > h->sample_cost ? from->sample_cost : h->sample_cost;
    h->count_cost = from->count_cost > h->count_cost ? from->count_cost : h->count_cost;
    h->sample_error = from->sample_error > h->sample_error ? from->sample_error : h->sample_error;
    h->start_realtime = smaller(h->start_realtime, record->begin ? record->begin : from->start_realtime);
}

/* One session keeps its clock. The times of several are in nanoseconds, and they have no common beginning. */
static void sums_fill_header(const struct sums_writer *w)
{
    const struct sums *sums = w->sums;
    struct dwell_file_header *h = w->session->header;
    const struct dwell_file_header *first = &sums->sessions[w->session_order[0]].summed.record.header;
    h->start_realtime = UINT64_MAX;
    h->origin = DWELL_ORIGIN_SUMS;
    h->trouble = h->also = h->ring_size = h->shared_ring = h->recorder_pid = h->sample_period = 0;
    h->sample_cost = h->count_cost = 0;
    h->sample_error = 0;
    h->max_size = h->keep_free = h->limit_time = h->warn_size = 0;
    h->lost_events = h->lost_threads = h->lost_trace_events = h->replaced_events = h->lost_samples = 0;
    for (size_t i = 0; i < sums->session_count; i++)
        sums_add_header(h, &sums->sessions[i].summed.record);
    const bool one = sums->session_count == 1;
    h->machine = first->machine;
    h->clock = one ? first->clock : DWELL_CLOCK_MONOTONIC;
    h->ticks_per_second = one ? first->ticks_per_second : ns_per_second;
    h->start_ticks = one ? first->start_ticks : 0;
    h->start_monotonic = one ? first->start_monotonic : 0;
    h->end_ticks = one ? first->end_ticks : 0;
    h->end_monotonic = one ? first->end_monotonic : 0;
    h->limit_time = one ? first->limit_time : 0;
    h->mode = DWELL_MODE_PROFILE;
    h->state = DWELL_COMPLETE;
    h->next_process = (uint32_t)sums->process_count + 1;
    h->next_thread = (uint32_t)sums->thread_count + 1;
    sums_fill_id(w, h->session_id);
}

const char *sums_write(struct sums *sums, const char *path)
{
    struct session_output output;
    const char *error = session_output_begin(&output, path);
    if (error)
        return error;
    struct sums_writer w = { .session = &output.session, .fd = output.fd };
    if (sums_order(&w, sums)) {
        sums_write_sessions(&w);
        sums_write_processes(&w);
        sums_write_threads(&w);
        sums_write_names(&w);
        const bool full = output.session.header->trouble & DWELL_TROUBLE_NO_SPACE;
        error = w.good ? NULL : full ? "the disk is full" : "cannot be written";
        finish_space(&output.session, output.fd);
        sums_fill_header(&w);
        memcpy(output.session.id, output.session.header->session_id, sizeof output.session.id);
    } else {
        error = "more modules than one session can hold";
    }
    sums_order_drop(&w);
    if (sums->unread && !error)
        error = strerror(sums->unread);
    return session_output_end(&output, error);
}
