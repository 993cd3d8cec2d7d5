/* Reads the records of metadata and symbols chunks: processes, threads, modules, symbols, notes and reported rows. */
#include "trace/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "dwell/event.h"
#include "trace/metadata_finish.h"
#include "trace/metadata_reader.h"
#include "trace/metadata_record.h"
#include "trace/reported_rows.h"
#include "trace/symbol_table.h"

static struct trace_process *metadata_need_process(struct session_file *file, struct metadata_tables *tables,
                                                   uint32_t serial)
{
    struct index_slot *slot = index_find(tables->processes, serial, 0);
    if (slot->value_plus_1)
        return &file->processes[slot->value_plus_1 - 1];
    GROW(file->processes, file->process_count, file->process_room);
    index_set(tables->processes, slot, serial, 0, (uint32_t)file->process_count);
    struct trace_process *p = &file->processes[file->process_count++];
    *p = (struct trace_process){
        .serial = serial,
        .path = need_copy("", 0),
        .name = need_copy("", 0),
        .arguments = need_copy("", 0),
    };
    return p;
}

static struct trace_thread *metadata_need_thread(struct session_file *file, struct metadata_tables *tables,
                                                 uint32_t serial, uint32_t process)
{
    struct index_slot *slot = index_find(tables->threads, serial, 0);
    if (slot->value_plus_1)
        return &file->threads[slot->value_plus_1 - 1];
    GROW(file->threads, file->thread_count, file->thread_room);
    index_set(tables->threads, slot, serial, 0, (uint32_t)file->thread_count);
    struct trace_thread *t = &file->threads[file->thread_count++];
    *t = (struct trace_thread){ .serial = serial, .process = process, .name = need_copy("", 0) };
    metadata_need_process(file, tables, process);
    return t;
}

static struct trace_process *metadata_own_process(struct metadata_reader *r)
{
    return metadata_need_process(r->file, r->tables, r->process);
}

static void metadata_read_process(struct metadata_reader *r)
{
    struct dwell_rec_process record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = metadata_own_process(r);
    p->pid = record.pid;
    p->parent_pid = record.parent_pid;
    p->parent_process = record.parent_process;
    p->start_time = record.start_time;
    metadata_replace_text(&p->path, metadata_next_text(r));
    struct metadata_string arguments = metadata_next_string(r);
    char *joined = need_copy(arguments.at, arguments.length);
    for (size_t i = 0; i + 1 < arguments.length; i++)
        if (joined[i] == '\0')
            joined[i] = ' ';
    metadata_replace_text(&p->arguments, joined);
}

static void metadata_read_process_end(struct metadata_reader *r)
{
    struct dwell_rec_process_end record;
    if (!TAKE(r, record))
        return;
    if (record.process == 0 || record.process != r->process) {
        process_ends_add(&r->tables->ends, r->process, &record);
        return;
    }
    struct trace_process *p = metadata_need_process(r->file, r->tables, record.process);
    p->end_time = record.time;
    p->end_how = record.how;
    p->end_value = record.value;
    p->end_recorded = true;
}

static void metadata_read_process_cpu(struct metadata_reader *r)
{
    struct dwell_rec_process_cpu record;
    if (TAKE(r, record))
        process_cpus_add(&r->tables->cpus, r->process, &record);
}

static void metadata_read_thread(struct metadata_reader *r)
{
    struct dwell_rec_thread record;
    if (!TAKE(r, record))
        return;
    struct trace_thread *t = metadata_need_thread(r->file, r->tables, record.thread, r->process);
    t->process = r->process;
    t->tid = record.tid;
    t->os_source = record.os_source;
    t->maker = record.maker;
    t->announced = true;
    t->start_time = record.start_time;
    metadata_replace_text(&t->name, metadata_next_text(r));
}

static void metadata_read_thread_name(struct metadata_reader *r)
{
    struct dwell_rec_thread_name record;
    if (TAKE(r, record))
        metadata_replace_text(&metadata_need_thread(r->file, r->tables, record.thread, r->process)->name,
                              metadata_next_text(r));
}

static void metadata_read_process_name(struct metadata_reader *r)
{
    struct dwell_rec_process_name record;
    if (TAKE(r, record))
        metadata_replace_text(&metadata_own_process(r)->name, metadata_next_text(r));
}

static void metadata_read_thread_end(struct metadata_reader *r)
{
    struct dwell_rec_thread_end record = { .blocked = 0, .preempted = 0 };
    const size_t earlier = offsetof(struct dwell_rec_thread_end, blocked);
    if (!metadata_read_fixed(r, &record, r->size < sizeof record ? earlier : sizeof record))
        return;
    struct trace_thread *t = metadata_need_thread(r->file, r->tables, record.thread, r->process);
    if (record.time >= t->end_time) {
        t->end_time = record.time;
        t->end_recorded = true;
        t->end_flagged = record.flagged != 0;
        t->end_blocked = record.blocked;
        t->end_preempted = record.preempted;
    }
}

static void metadata_read_thread_switches(struct metadata_reader *r)
{
    struct dwell_rec_thread_switches record;
    if (TAKE(r, record))
        metadata_need_thread(r->file, r->tables, record.thread, r->process)->switches = record;
}

static uint8_t *metadata_next_build_id(struct metadata_reader *r, size_t *length)
{
    struct metadata_string s = metadata_next_string(r);
    *length = s.length;
    return (uint8_t *)need_copy(s.at, s.length);
}

static void metadata_read_module(struct metadata_reader *r)
{
    struct dwell_rec_module record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = metadata_own_process(r);
    GROW(p->modules, p->module_count, p->module_room);
    struct trace_module *m = &p->modules[p->module_count++];
    *m = (struct trace_module){
        .serial = record.module,
        .bias = record.bias,
        .begin = record.begin,
        .end = record.end,
        .load_time = record.load_time,
        .unload_time = UINT64_MAX,
        .path = metadata_next_text(r),
    };
    m->build_id = metadata_next_build_id(r, &m->build_id_length);
}

static void metadata_read_module_unload(struct metadata_reader *r)
{
    struct dwell_rec_module_unload record;
    struct metadata_tables *t = r->tables;
    if (!TAKE(r, record))
        return;
    struct index_slot *slot = index_find(t->modules, record.module, r->process);
    const struct module_unload unload = { record.time, metadata_own_process(r)->module_count };
    if (slot->value_plus_1) {
        t->unloads[slot->value_plus_1 - 1] = unload;
        return;
    }
    GROW(t->unloads, t->unload_count, t->unload_room);
    t->unloads[t->unload_count] = unload;
    index_set(t->modules, slot, record.module, r->process, (uint32_t)t->unload_count++);
}

static void metadata_read_note(struct metadata_reader *r)
{
    struct dwell_rec_note record;
    if (!TAKE(r, record))
        return;
    GROW(r->file->labels.notes, r->file->labels.note_count, r->file->labels.note_room);
    r->file->labels.notes[r->file->labels.note_count++] = metadata_next_text(r);
}

static void metadata_read_level(struct metadata_reader *r)
{
    struct dwell_rec_level record;
    if (!TAKE(r, record))
        return;
    GROW(r->file->levels.changes, r->file->levels.change_count, r->file->levels.change_room);
    r->file->levels.changes[r->file->levels.change_count++] =
        (struct trace_level){ r->process, record.level, record.time, record.function };
}

static void metadata_read_stubs(struct metadata_reader *r)
{
    struct dwell_rec_stubs record;
    if (TAKE(r, record))
        stub_list_add(&r->file->stubs, &(struct trace_stubs){ r->process, record.begin, record.end });
}

static void metadata_read_descriptor(struct metadata_reader *r)
{
    struct dwell_rec_descriptor record;
    if (!TAKE(r, record))
        return;
    descriptor_list_add(&r->file->descriptors,
                        &(struct trace_descriptor){ record.id, record.peer, record.kind, metadata_next_text(r) });
}

static void metadata_read_made(struct metadata_reader *r)
{
    struct dwell_rec_made record;
    if (TAKE(r, record))
        maker_list_add(&r->file->makers,
                       &(struct trace_maker){ r->process, record.kind, record.id, record.time, record.function });
}

static void metadata_read_decision(struct metadata_reader *r)
{
    struct dwell_rec_decision record;
    if (!TAKE(r, record))
        return;
    GROW(r->file->levels.decisions, r->file->levels.decision_count, r->file->levels.decision_room);
    r->file->levels.decisions[r->file->levels.decision_count++] =
        (struct trace_decision){ r->process, record.level, record.time, record.function, record.calls, record.mean };
}

static void metadata_read_event_class(struct metadata_reader *r)
{
    struct dwell_rec_event_class record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->events.classes, f->events.class_count, f->events.class_room);
    struct trace_event_class *c = &f->events.classes[f->events.class_count++];
    memcpy(c->guid, record.guid, sizeof c->guid);
    c->name = metadata_next_text(r);
}

/* The names of fields are shown with each event, so they are never longer than the runtime writes them. */
static char *metadata_next_name(struct metadata_reader *r)
{
    const struct metadata_string s = metadata_next_string(r);
    return need_copy(s.at, s.length < DWELL_EVENT_LONGEST_NAME ? s.length : DWELL_EVENT_LONGEST_NAME);
}

static void metadata_read_event_layout(struct metadata_reader *r)
{
    struct dwell_rec_event_layout record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->events.layouts, f->events.layout_count, f->events.layout_room);
    struct trace_event_layout *layout = &f->events.layouts[f->events.layout_count++];
    *layout = (struct trace_event_layout){ .type = record.type, .version = record.version };
    memcpy(layout->guid, record.guid, sizeof layout->guid);
    layout->name = metadata_next_name(r);
    const struct metadata_string types = metadata_next_string(r);
    const uint32_t most = sizeof layout->types;
    while (layout->count < record.fields && layout->count < types.length && layout->count < most) {
        char *name = metadata_next_name(r);
        if (!*name) {
            free(name);
            break;
        }
        layout->types[layout->count] = (uint8_t)types.at[layout->count];
        layout->names[layout->count++] = name;
    }
}

static void metadata_read_symbol_module(struct metadata_reader *r)
{
    struct dwell_rec_symbol_module record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->code.symbol_modules, f->code.symbol_module_count, f->code.symbol_module_room);
    struct trace_symbol_module *m = &f->code.symbol_modules[f->code.symbol_module_count++];
    m->number = record.module;
    m->path = metadata_next_text(r);
    m->build_id = metadata_next_build_id(r, &m->build_id_length);
    symbol_table_add_module(f->code.symbol_table, m);
}

static void metadata_read_symbol_file(struct metadata_reader *r)
{
    struct dwell_rec_symbol_file record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    GROW(f->code.symbol_files, f->code.symbol_file_count, f->code.symbol_file_room);
    f->code.symbol_files[f->code.symbol_file_count].number = record.file;
    f->code.symbol_files[f->code.symbol_file_count++].path = metadata_next_text(r);
    symbol_table_add_file(f->code.symbol_table, record.file);
}

/* The index of the module of that number. If there is none, the record is bad. */
static uint32_t metadata_find_symbol_module(struct metadata_reader *r, uint32_t number)
{
    const uint32_t module = symbol_table_module(r->file->code.symbol_table, number);
    r->bad |= module == SYMBOL_TABLE_NONE;
    return module;
}

static void metadata_read_site(struct metadata_reader *r)
{
    struct dwell_rec_site record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    const uint32_t module = metadata_find_symbol_module(r, record.module);
    if (r->bad)
        return;
    GROW(f->code.sites, f->code.site_count, f->code.site_room);
    struct trace_site *site = &f->code.sites[f->code.site_count++];
    *site = (struct trace_site){
        .module = module,
        .file = record.file,
        .line = record.line,
        .outer_file = record.outer_file,
        .outer_line = record.outer_line,
        .offset = record.offset & ~DWELL_SITE_INLINED,
        .inlined = record.offset & DWELL_SITE_INLINED,
    };
    site->function = metadata_next_text(r);
    site->outer = metadata_next_text(r);
}

static void metadata_read_symbol(struct metadata_reader *r)
{
    struct dwell_rec_symbol record;
    struct session_file *f = r->file;
    if (!TAKE(r, record))
        return;
    const uint32_t module = metadata_find_symbol_module(r, record.module);
    if (r->bad)
        return;
    GROW(f->code.symbols, f->code.symbol_count, f->code.symbol_room);
    f->code.symbols[f->code.symbol_count++] = (struct trace_symbol){
        .module = module,
        .file = record.file,
        .line = record.line,
        .offset = record.offset,
        .name = metadata_next_text(r),
    };
}

static void metadata_read_sample(struct metadata_reader *r)
{
    struct dwell_rec_sample record;
    if (!TAKE(r, record))
        return;
    struct trace_process *p = metadata_own_process(r);
    GROW(p->samples, p->sample_count, p->sample_room);
    p->samples[p->sample_count++] = (struct trace_sample){ record.time, record.cpu, record.resident };
}

static uint64_t metadata_cost_of_call(const struct dwell_rec_probes *probes)
{
    return (uint64_t)probes->in_callee + probes->in_caller;
}

/* Keeps the lowest of several measurements, which was disturbed least. */
static void metadata_read_probes(struct metadata_reader *r)
{
    struct dwell_rec_probes record;
    if (!TAKE(r, record))
        return;
    struct dwell_rec_probes *known = &metadata_own_process(r)->probes;
    if (!known->rounds || metadata_cost_of_call(&record) < metadata_cost_of_call(known))
        *known = record;
}

/* Reads the columns after the record, if there are any. Returns false if one has an impossible value. */
static bool metadata_read_stated(const struct metadata_reader *r, struct dwell_stated *stated)
{
    *stated = (struct dwell_stated){ 0 };
    if (r->size < sizeof(struct dwell_rec_reported) + sizeof *stated)
        return true;
    memcpy(stated, (const uint8_t *)r->record + sizeof(struct dwell_rec_reported), sizeof *stated);
    return reported_columns_are_plausible(stated);
}

static void metadata_read_kept(struct metadata_reader *r)
{
    struct trace_kept call;
    if (kept_call_read(&call, r->process, r->record, r->size))
        kept_calls_add(&r->file->kept, &call);
    else
        r->bad = true;
}

static void metadata_read_reported(struct metadata_reader *r)
{
    struct dwell_rec_reported record;
    struct dwell_stated stated;
    if (!TAKE(r, record))
        return;
    if (!reported_is_plausible(&record) || !metadata_read_stated(r, &stated)) {
        r->bad = true;
        return;
    }
    GROW(r->file->sums.reported, r->file->sums.reported_count, r->file->sums.reported_room);
    r->file->sums.reported[r->file->sums.reported_count++] = (struct trace_reported){ r->process, record, stated };
}

static void (*const readers[])(struct metadata_reader *) = {
    [DWELL_REC_PROCESS] = metadata_read_process,
    [DWELL_REC_PROCESS_END] = metadata_read_process_end,
    [DWELL_REC_PROCESS_CPU] = metadata_read_process_cpu,
    [DWELL_REC_THREAD] = metadata_read_thread,
    [DWELL_REC_THREAD_NAME] = metadata_read_thread_name,
    [DWELL_REC_THREAD_END] = metadata_read_thread_end,
    [DWELL_REC_THREAD_SWITCHES] = metadata_read_thread_switches,
    [DWELL_REC_MODULE] = metadata_read_module,
    [DWELL_REC_MODULE_UNLOAD] = metadata_read_module_unload,
    [DWELL_REC_NOTE] = metadata_read_note,
    [DWELL_REC_LEVEL] = metadata_read_level,
    [DWELL_REC_STUBS] = metadata_read_stubs,
    [DWELL_REC_DESCRIPTOR] = metadata_read_descriptor,
    [DWELL_REC_DECISION] = metadata_read_decision,
    [DWELL_REC_MADE] = metadata_read_made,
    [DWELL_REC_SYMBOL_MODULE] = metadata_read_symbol_module,
    [DWELL_REC_SYMBOL_FILE] = metadata_read_symbol_file,
    [DWELL_REC_SYMBOL] = metadata_read_symbol,
    [DWELL_REC_SITE] = metadata_read_site,
    [DWELL_REC_PROCESS_NAME] = metadata_read_process_name,
    [DWELL_REC_SAMPLE] = metadata_read_sample,
    [DWELL_REC_HOST] = metadata_read_host,
    [DWELL_REC_REPORTED] = metadata_read_reported,
    [DWELL_REC_EVENT_CLASS] = metadata_read_event_class,
    [DWELL_REC_EVENT_LAYOUT] = metadata_read_event_layout,
    [DWELL_REC_PROBES] = metadata_read_probes,
    [DWELL_REC_SUMMED] = metadata_read_summed,
    [DWELL_REC_OBJECT_NAME] = metadata_read_object_name,
    [DWELL_REC_LABEL] = metadata_read_label,
    [DWELL_REC_KEPT] = metadata_read_kept,
};

static void metadata_read_records(struct session_file *file, const struct trace_chunk *chunk, const uint8_t *data,
                                  struct metadata_tables *tables)
{
    const uint32_t end = trace_chunk_end(chunk);
    struct dwell_record head;
    for (uint32_t at = sizeof(struct dwell_chunk_header); metadata_record_at(data, at, end, &head); at += head.size) {
        struct metadata_reader r = {
            .file = file,
            .process = chunk->process,
            .record = data + at,
            .size = head.size,
            .tables = tables,
        };
        if (head.type < sizeof readers / sizeof *readers && readers[head.type])
            readers[head.type](&r); /* records of later versions are skipped */
        file->health.damaged_records += r.bad;
    }
    file->health.damaged_records += head.type != 0;
}

static void metadata_record_last_chunk(struct session_file *file, struct metadata_tables *tables, size_t index)
{
    struct trace_chunk *chunk = &file->chunks[index];
    struct trace_thread *t = metadata_need_thread(file, tables, chunk->thread, chunk->process);
    if (t->last_chunk && file->chunks[t->last_chunk - 1].sequence >= chunk->sequence)
        return;
    if (t->last_chunk)
        file->chunks[t->last_chunk - 1].last_of_thread = false;
    t->last_chunk = index + 1;
    chunk->last_of_thread = !kept_calls_are_all(file); /* else its later ones are not kept */
}

/* Sorts in the order of writing, since a later record can replace an earlier one. */
static int metadata_compare_chunks(const void *a, const void *b)
{
    const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;
    return ORDER_BY(x, y, process, sequence, offset);
}

static void metadata_read_chunks(struct session_file *file, struct metadata_tables *tables,
                                 const struct trace_chunk **chunks, size_t count)
{
    uint8_t *buffer = NULL;
    for (size_t i = 0; i < count; i++) {
        buffer = need_more(buffer, (size_t)chunks[i]->size + TRACE_PADDING, 1);
        if (session_file_read_chunk(file, chunks[i], buffer))
            metadata_read_records(file, chunks[i], buffer, tables);
        else
            file->health.damaged_chunks++;
    }
    free(buffer);
}

void metadata_read(struct session_file *file)
{
    struct metadata_tables tables = { .processes = index_new(), .threads = index_new(), .modules = index_new() };
    const struct trace_chunk **chunks = need_memory(file->chunk_count, sizeof *chunks);
    size_t count = 0;
    file->code.symbol_table = symbol_table_new();
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind == DWELL_CHUNK_EVENTS)
            metadata_record_last_chunk(file, &tables, i);
        if (chunk->kind == DWELL_CHUNK_CALL_TREE || chunk->kind == DWELL_CHUNK_TRACE_EVENTS ||
            chunk->kind == DWELL_CHUNK_COUNTS || chunk->kind == DWELL_CHUNK_CAUSES)
            metadata_need_thread(file, &tables, chunk->thread, chunk->process);
        if (chunk->kind == DWELL_CHUNK_METADATA || chunk->kind == DWELL_CHUNK_SYMBOLS)
            chunks[count++] = chunk;
    }
    if (count)
        qsort(chunks, count, sizeof *chunks, metadata_compare_chunks);
    metadata_read_chunks(file, &tables, chunks, count);
    free(chunks);
    metadata_finish(file, &tables);
    kept_calls_order(file);
    index_free(tables.processes);
    index_free(tables.threads);
    index_free(tables.modules);
    free(tables.unloads);
}
