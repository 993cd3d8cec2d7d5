#include "trace/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A record being read: its fixed part, then strings one after another. */
struct reader {
    struct session_file *file;
    uint32_t process; /* of the chunk */
    const uint8_t *record;
    uint32_t size;
    uint32_t next; /* offset of the next string */
    bool bad;
    struct recorder_ends *ends;
};

/* What the recorder says of how processes ended: it knows them by their pids alone, so all of them have to be
 * known first. */
struct recorder_ends {
    struct dwell_rec_process_end *list;
    size_t count, room;
};

struct string {
    const char *at;
    size_t length;
};

static struct string take_string(struct reader *r)
{
    struct string s = { "", 0 };
    uint16_t length;
    if (r->next + sizeof length > r->size) {
        r->bad = true;
        return s;
    }
    memcpy(&length, r->record + r->next, sizeof length);
    if (r->next + sizeof length + length > r->size) {
        r->bad = true;
        return s;
    }
    s = (struct string){ (const char *)r->record + r->next + sizeof length, length };
    r->next += (uint32_t)(sizeof length + length);
    return s;
}

static char *take_text(struct reader *r)
{
    struct string s = take_string(r);
    return need_copy(s.at, s.length);
}

/* Copies the fixed part; false where the record is shorter. */
static bool take_fixed(struct reader *r, void *into, size_t size)
{
    if (r->size < size) {
        r->bad = true;
        return false;
    }
    memcpy(into, r->record, size);
    r->next = (uint32_t)size;
    return true;
}

#define TAKE(r, into) take_fixed((r), &(into), sizeof(into))

/* The entries are kept in order of their numbers, which mostly come in order. */
static struct trace_process *need_process(struct session_file *file, uint32_t serial)
{
    struct trace_process *found = session_file_process(file, serial);
    if (found)
        return found;
    GROW(file->processes, file->process_count, file->process_room);
    size_t at = file->process_count++;
    for (; at > 0 && file->processes[at - 1].serial > serial; at--)
        file->processes[at] = file->processes[at - 1];
    file->processes[at] = (struct trace_process){
        .serial = serial,
        .path = need_copy("", 0),
        .name = need_copy("", 0),
        .arguments = need_copy("", 0),
    };
    return &file->processes[at];
}

static struct trace_thread *need_thread(struct session_file *file, uint32_t serial, uint32_t process)
{
    struct trace_thread *found = session_file_thread(file, serial);
    if (found)
        return found;
    GROW(file->threads, file->thread_count, file->thread_room);
    size_t at = file->thread_count++;
    for (; at > 0 && file->threads[at - 1].serial > serial; at--)
        file->threads[at] = file->threads[at - 1];
    file->threads[at] = (struct trace_thread){ .serial = serial, .process = process, .name = need_copy("", 0) };
    need_process(file, process);
    return &file->threads[at];
}

static void replace(char **text, char *by)
{
    free(*text);
    *text = by;
}

static void read_process(struct reader *r)
{
    struct dwell_rec_process record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = need_process(r->file, r->process);
    p->pid = record.pid;
    p->parent_pid = record.parent_pid;
    p->parent_process = record.parent_process;
    p->start_time = record.start_time;
    replace(&p->path, take_text(r));
    struct string arguments = take_string(r);
    char *joined = need_copy(arguments.at, arguments.length);
    for (size_t i = 0; i + 1 < arguments.length; i++)
        if (joined[i] == '\0')
            joined[i] = ' ';
    replace(&p->arguments, joined);
}

static struct trace_process *process_of_pid(struct session_file *file, uint32_t pid)
{
    struct trace_process *found = NULL; /* the last one: numbers are used again */
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].pid == pid)
            found = &file->processes[i];
    return found;
}

static void read_process_end(struct reader *r)
{
    struct dwell_rec_process_end record;
    if (!TAKE(r, record))
        return;
    if (record.process == 0) {
        GROW(r->ends->list, r->ends->count, r->ends->room);
        r->ends->list[r->ends->count++] = record;
        return;
    }
    struct trace_process *p = need_process(r->file, record.process);
    p->end_time = record.time;
    p->end_how = record.how;
    p->end_value = record.value;
}

/* The process' own word holds for the time, the recorder's for how. */
static void take_recorder_ends(struct session_file *file, struct recorder_ends *ends)
{
    for (size_t i = 0; i < ends->count; i++) {
        struct trace_process *p = process_of_pid(file, ends->list[i].pid);
        if (!p)
            continue;
        if (!p->end_time)
            p->end_time = ends->list[i].time;
        p->end_how = ends->list[i].how;
        p->end_value = ends->list[i].value;
    }
    free(ends->list);
}

static void read_thread(struct reader *r)
{
    struct dwell_rec_thread record;
    if (!TAKE(r, record))
        return;
    struct trace_thread *t = need_thread(r->file, record.thread, r->process);
    t->process = r->process;
    t->tid = record.tid;
    t->os_source = record.os_source;
    t->announced = true;
    t->start_time = record.start_time;
    replace(&t->name, take_text(r));
}

static void read_thread_name(struct reader *r)
{
    struct dwell_rec_thread_name record;
    if (TAKE(r, record))
        replace(&need_thread(r->file, record.thread, r->process)->name, take_text(r));
}

static void read_process_name(struct reader *r)
{
    struct dwell_rec_process_name record;
    if (TAKE(r, record))
        replace(&need_process(r->file, r->process)->name, take_text(r));
}

static void read_thread_end(struct reader *r)
{
    struct dwell_rec_thread_end record = { .blocked = 0, .preempted = 0 };
    const size_t earlier = offsetof(struct dwell_rec_thread_end, blocked);
    if (!take_fixed(r, &record, r->size < sizeof record ? earlier : sizeof record))
        return;
    struct trace_thread *t = need_thread(r->file, record.thread, r->process);
    if (record.time >= t->end_time) {
        t->end_time = record.time;
        t->end_told = true;
        t->end_flagged = record.flagged != 0;
        t->end_blocked = record.blocked;
        t->end_preempted = record.preempted;
    }
}

static void read_thread_switches(struct reader *r)
{
    struct dwell_rec_thread_switches record;
    if (TAKE(r, record))
        need_thread(r->file, record.thread, r->process)->switches = record;
}

static uint8_t *take_build_id(struct reader *r, size_t *length)
{
    struct string s = take_string(r);
    *length = s.length;
    return (uint8_t *)need_copy(s.at, s.length);
}

static void read_module(struct reader *r)
{
    struct dwell_rec_module record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = need_process(r->file, r->process);
    GROW(p->modules, p->module_count, p->module_room);
    struct trace_module *m = &p->modules[p->module_count++];
    *m = (struct trace_module){
        .serial = record.module,
        .bias = record.bias,
        .begin = record.begin,
        .end = record.end,
        .load_time = record.load_time,
        .unload_time = UINT64_MAX,
        .path = take_text(r),
    };
    m->build_id = take_build_id(r, &m->build_id_length);
}

static void read_module_unload(struct reader *r)
{
    struct dwell_rec_module_unload record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = need_process(r->file, r->process);
    for (size_t i = 0; i < p->module_count; i++)
        if (p->modules[i].serial == record.module)
            p->modules[i].unload_time = record.time;
}

static void read_note(struct reader *r)
{
    struct dwell_rec_note record;
    if (!TAKE(r, record))
        return;
    GROW(r->file->notes, r->file->note_count, r->file->note_room);
    r->file->notes[r->file->note_count++] = take_text(r);
}

static void read_event_class(struct reader *r)
{
    struct dwell_rec_event_class record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->event_classes, f->event_class_count, f->event_class_room);
    struct trace_event_class *c = &f->event_classes[f->event_class_count++];
    memcpy(c->guid, record.guid, sizeof c->guid);
    c->name = take_text(r);
}

static void read_symbol_module(struct reader *r)
{
    struct dwell_rec_symbol_module record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->symbol_modules, f->symbol_module_count, f->symbol_module_room);
    struct trace_symbol_module *m = &f->symbol_modules[f->symbol_module_count++];
    m->number = record.module;
    m->path = take_text(r);
    m->build_id = take_build_id(r, &m->build_id_length);
}

static void read_symbol_file(struct reader *r)
{
    struct dwell_rec_symbol_file record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->symbol_files, f->symbol_file_count, f->symbol_file_room);
    f->symbol_files[f->symbol_file_count].number = record.file;
    f->symbol_files[f->symbol_file_count++].path = take_text(r);
}

/* The index of the module of that number; where there is none, the record is bad. */
static uint32_t symbol_module(struct reader *r, uint32_t number)
{
    const struct session_file *f = r->file;
    uint32_t module = 0;
    while (module < f->symbol_module_count && f->symbol_modules[module].number != number)
        module++;
    r->bad |= module == f->symbol_module_count;
    return module;
}

static void read_site(struct reader *r)
{
    struct dwell_rec_site record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    const uint32_t module = symbol_module(r, record.module);
    if (r->bad)
        return;
    GROW(f->sites, f->site_count, f->site_room);
    struct trace_site *site = &f->sites[f->site_count++];
    *site = (struct trace_site){
        .module = module,
        .file = record.file,
        .line = record.line,
        .outer_file = record.outer_file,
        .outer_line = record.outer_line,
        .offset = record.offset & ~DWELL_SITE_INLINED,
        .inlined = record.offset & DWELL_SITE_INLINED,
    };
    site->function = take_text(r);
    site->outer = take_text(r);
}

static void read_symbol(struct reader *r)
{
    struct dwell_rec_symbol record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    const uint32_t module = symbol_module(r, record.module);
    if (r->bad)
        return;
    GROW(f->symbols, f->symbol_count, f->symbol_room);
    f->symbols[f->symbol_count++] = (struct trace_symbol){
        .module = module,
        .file = record.file,
        .line = record.line,
        .offset = record.offset,
        .name = take_text(r),
    };
}

static void read_sample(struct reader *r)
{
    struct dwell_rec_sample record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = need_process(r->file, r->process);
    GROW(p->samples, p->sample_count, p->sample_room);
    p->samples[p->sample_count++] = (struct trace_sample){ record.time, record.cpu, record.resident };
}

static uint64_t cost_of_call(const struct dwell_rec_probes *probes)
{
    return (uint64_t)probes->in_callee + probes->in_caller;
}

/* Of several measurements, the lowest is the one that was disturbed least. */
static void read_probes(struct reader *r)
{
    struct dwell_rec_probes record;
    if (!TAKE(r, record))
        return;
    struct dwell_rec_probes *known = &need_process(r->file, r->process)->probes;
    if (!known->rounds || cost_of_call(&record) < cost_of_call(known))
        *known = record;
}

static void read_host(struct reader *r)
{
    struct dwell_rec_host record;
    if (!TAKE(r, record))
        return;
    struct trace_host *host = &r->file->host;
    char **const texts[] = { &host->system, &host->release, &host->version, &host->machine, &host->node };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        replace(texts[i], take_text(r));
}

/* Values that contradict each other, or that sums of them could not hold, are nobody's report. */
static bool plausible_report(const struct dwell_rec_reported *r)
{
    const uint64_t most = (uint64_t)1 << 60;
    if (r->kind < DWELL_REPORTED_FUNCTION || r->kind > DWELL_REPORTED_MODULE || r->function == 0)
        return false;
    if (r->kind == DWELL_REPORTED_CALLEE && r->other == 0)
        return false;
    return r->elapsed_inclusive <= most && r->elapsed_exclusive <= most && r->calls <= most &&
           r->application_inclusive <= r->elapsed_inclusive && r->application_exclusive <= r->elapsed_exclusive;
}

static void read_reported(struct reader *r)
{
    struct dwell_rec_reported record;
    if (!TAKE(r, record))
        return;
    if (!plausible_report(&record)) {
        r->bad = true;
        return;
    }
    GROW(r->file->reported, r->file->reported_count, r->file->reported_room);
    r->file->reported[r->file->reported_count++] = (struct trace_reported){ r->process, record };
}

static void (*const readers[])(struct reader *) = {
    [DWELL_REC_PROCESS] = read_process,
    [DWELL_REC_PROCESS_END] = read_process_end,
    [DWELL_REC_THREAD] = read_thread,
    [DWELL_REC_THREAD_NAME] = read_thread_name,
    [DWELL_REC_THREAD_END] = read_thread_end,
    [DWELL_REC_THREAD_SWITCHES] = read_thread_switches,
    [DWELL_REC_MODULE] = read_module,
    [DWELL_REC_MODULE_UNLOAD] = read_module_unload,
    [DWELL_REC_NOTE] = read_note,
    [DWELL_REC_SYMBOL_MODULE] = read_symbol_module,
    [DWELL_REC_SYMBOL_FILE] = read_symbol_file,
    [DWELL_REC_SYMBOL] = read_symbol,
    [DWELL_REC_SITE] = read_site,
    [DWELL_REC_PROCESS_NAME] = read_process_name,
    [DWELL_REC_SAMPLE] = read_sample,
    [DWELL_REC_HOST] = read_host,
    [DWELL_REC_REPORTED] = read_reported,
    [DWELL_REC_EVENT_CLASS] = read_event_class,
    [DWELL_REC_PROBES] = read_probes,
};

static void read_records(struct session_file *file, const struct trace_chunk *chunk, const uint8_t *data,
                         struct recorder_ends *ends)
{
    const uint32_t end = chunk->used && chunk->used < chunk->size ? chunk->used : chunk->size;
    uint32_t at = sizeof(struct dwell_chunk_header);
    while (at + sizeof(struct dwell_record) <= end) {
        struct dwell_record head;
        memcpy(&head, data + at, sizeof head);
        if (head.type == 0)
            return;
        if (head.size < sizeof head || head.size % 8 || head.size > end - at) {
            file->damaged_records++;
            return;
        }
        struct reader r = {
            .file = file,
            .process = chunk->process,
            .record = data + at,
            .size = head.size,
            .ends = ends,
        };
        if (head.type < sizeof readers / sizeof *readers && readers[head.type])
            readers[head.type](&r); /* else a later version's: stepped over */
        file->damaged_records += r.bad;
        at += head.size;
    }
}

static void note_last_chunk(struct session_file *file, size_t index)
{
    struct trace_chunk *chunk = &file->chunks[index];
    struct trace_thread *t = need_thread(file, chunk->thread, chunk->process);
    if (t->last_chunk && file->chunks[t->last_chunk - 1].sequence >= chunk->sequence)
        return;
    if (t->last_chunk)
        file->chunks[t->last_chunk - 1].last_of_thread = false;
    t->last_chunk = index + 1;
    chunk->last_of_thread = true;
}

/* Threads that were open when their process ended, or the session (a dump), end with it; nobody knows what the OS did
 * then. */
static void end_open_threads(struct session_file *file)
{
    for (size_t i = 0; i < file->thread_count; i++) {
        struct trace_thread *t = &file->threads[i];
        const struct trace_process *p = session_file_process(file, t->process);
        if (t->end_time)
            continue;
        t->end_time = p && p->end_time ? p->end_time : file->header.end_ticks;
        t->end_flagged = true;
    }
}

static int compare_modules(const void *a, const void *b)
{
    const struct trace_module *x = a, *y = b;
    if (x->load_time != y->load_time)
        return x->load_time < y->load_time ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int compare_samples(const void *a, const void *b)
{
    const struct trace_sample *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static void sort_lists(struct session_file *file)
{
    for (size_t i = 0; i < file->process_count; i++) {
        struct trace_process *p = &file->processes[i];
        if (p->sample_count)
            qsort(p->samples, p->sample_count, sizeof *p->samples, compare_samples);
        if (p->module_count)
            qsort(p->modules, p->module_count, sizeof *p->modules, compare_modules);
    }
}

/* In the order in which they were written: what is said later may change what was said before. */
static int compare_chunks(const void *a, const void *b)
{
    const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void metadata_read(struct session_file *file)
{
    uint8_t *buffer = NULL;
    struct recorder_ends ends = { NULL, 0, 0 };
    const struct trace_chunk **chunks = need_memory(file->chunk_count, sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_EVENTS)
            note_last_chunk(file, i);
        if (chunk->kind == DWELL_CHUNK_CALL_TREE || chunk->kind == DWELL_CHUNK_TRACE_EVENTS)
            need_thread(file, chunk->thread, chunk->process);
        if (chunk->kind == DWELL_CHUNK_METADATA || chunk->kind == DWELL_CHUNK_SYMBOLS)
            chunks[count++] = chunk;
    }
    if (count)
        qsort(chunks, count, sizeof *chunks, compare_chunks);
    for (size_t i = 0; i < count; i++) {
        buffer = need_more(buffer, (size_t)chunks[i]->size + TRACE_PADDING, 1);
        if (session_file_read_chunk(file, chunks[i], buffer))
            read_records(file, chunks[i], buffer, &ends);
        else
            file->damaged_chunks++;
    }
    free(chunks);
    free(buffer);
    sort_lists(file);
    take_recorder_ends(file, &ends);
    end_open_threads(file);
}
