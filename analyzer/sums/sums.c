/* Adds sums of sessions in memory. */
#include "sums/sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/counted.h"
#include "profile/identify.h"
#include "profile/tree_sums.h"
#include "profile/trees.h"
#include "trace/symbol_table.h"

struct sums *sums_new(void)
{
    struct sums *sums = need_memory(1, sizeof *sums);
    sums->profile = profile_new();
    return sums;
}

void sums_free(struct sums *sums)
{
    sums_free_sessions(sums);
    profile_free(sums->profile);
    intern_drop(&sums->cause_keys);
    intern_drop(&sums->session_keys);
    intern_drop(&sums->texts);
    intern_drop(&sums->notes);
    descriptor_list_drop(&sums->descriptors);
    free(sums->causes);
    free(sums->names);
    free(sums->facts);
    free(sums->objects);
    free(sums);
}

uint32_t *sums_list(size_t count)
{
    uint32_t *list = need_memory(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (uint32_t)i;
    return list;
}

/* ---- profiles ---- */

/* Functions have no names at first. */
static void sums_make_names(struct sums *sums)
{
    sums->names = need_more(sums->names, sums->profile->function_count + 1, sizeof *sums->names);
    for (; sums->name_count < sums->profile->function_count; sums->name_count++)
        sums->names[sums->name_count] = (struct sums_name){ INTERN_NONE, INTERN_NONE, 0, 0 };
}

/* The latest session has the functions of the profile. */
static void sums_note_functions(struct sums *sums, const struct profile *p)
{
    sums_make_names(sums);
    for (uint32_t i = 0; i < p->function_count; i++)
        sums->names[profile_find_same_function(sums->profile, p, i)].session = (uint32_t)sums->session_count;
}

/* The threads of the profile, with the serial numbers that they have in the sums. */
static struct profile_thread *sums_number_threads(const struct sums_map *map, const struct profile *p)
{
    struct profile_thread *threads = need_memory(p->thread_count + 1, sizeof *threads);
    for (size_t i = 0; i < p->thread_count; i++)
        threads[i] = (struct profile_thread){ sums_process(map, p->threads[i].process) + 1,
                                              sums_thread(map, p->threads[i].thread) + 1, p->threads[i].root, 0 };
    return threads;
}

uint32_t *sums_add_nodes(struct sums *sums, const struct sums_map *map, const struct profile *p)
{
    struct profile numbered = *p;
    numbered.threads = sums_number_threads(map, p);
    uint32_t *nodes = profile_add_nodes(sums->profile, &numbered);
    sums_note_functions(sums, p);
    free(numbered.threads);
    return nodes;
}

/* The first profile becomes that of the sums. */
uint32_t *sums_take_profile(struct sums *sums, const struct sums_map *map, struct profile *p)
{
    const bool first = !sums->profile->node_count && !sums->profile->function_count;
    struct profile_thread *threads = sums_number_threads(map, p);
    free(p->threads);
    p->threads = threads;
    p->thread_room = p->thread_count + 1;
    uint32_t *nodes = first ? sums_list(p->node_count) : profile_merge_numbered(sums->profile, p);
    if (first) {
        profile_free(sums->profile);
        sums->profile = p;
        profile_index_threads(p);
    }
    sums_note_functions(sums, p);
    if (!first)
        profile_free(p);
    return nodes;
}

void sums_add_cause(struct sums *sums, const struct sums_cause *cause)
{
    const uint64_t key[] = { cause->node,       cause->cause_thread,
                             cause->cause_node, (uint64_t)cause->kind << 16 | (uint64_t)cause->cause << 8 | cause->set,
                             cause->id,         cause->made_time };
    const uint32_t number = intern(&sums->cause_keys, key, sizeof key);
    if (number == sums->cause_count) {
        GROW(sums->causes, sums->cause_count, sums->cause_room);
        sums->causes[sums->cause_count++] = *cause;
        return;
    }
    struct sums_cause *into = &sums->causes[number];
    into->waits += cause->waits;
    into->blocked += cause->blocked;
    into->longest = larger(into->longest, cause->longest);
    into->first_time = smaller(into->first_time, cause->first_time);
}

/* ---- names ---- */

static uint32_t sums_text(struct sums *sums, const char *text)
{
    return text && *text ? intern(&sums->texts, text, strlen(text)) : INTERN_NONE;
}

static int sums_compare_texts(const struct sums *sums, uint32_t a, uint32_t b)
{
    if (a == INTERN_NONE || b == INTERN_NONE)
        return (a != INTERN_NONE) - (b != INTERN_NONE);
    return strcmp(sums->texts.pieces[a].bytes, sums->texts.pieces[b].bytes);
}

/* Of several names, the last one in the order of texts counts, so that the order of adding is of no account. */
void sums_name_function(struct sums *sums, uint32_t function, const char *name, const char *file, uint32_t line)
{
    const struct sums_name added = { sums_text(sums, name), sums_text(sums, file), line,
                                     sums->names[function].session };
    struct sums_name *known = &sums->names[function];
    int order = sums_compare_texts(sums, added.name, known->name);
    order = order ? order : sums_compare_texts(sums, added.file, known->file);
    if (order > 0 || (order == 0 && line > known->line))
        *known = added;
}

/* ---- other facts ---- */

/* A function that has a level and no calls has no name. */
static uint32_t sums_find_function(struct sums *sums, const struct session_file *file, uint32_t process,
                                   uint64_t address, uint64_t time)
{
    const uint32_t function = identify_function(sums->profile, session_file_process(file, process), address, time);
    sums_make_names(sums);
    sums->names[function].session = (uint32_t)sums->session_count;
    return function;
}

static void sums_add_fact(struct sums *sums, const struct sums_fact *fact)
{
    GROW(sums->facts, sums->fact_count, sums->fact_room);
    sums->facts[sums->fact_count++] = *fact;
}

void sums_add_object(struct sums *sums, uint32_t process, uint64_t id, const char *name)
{
    GROW(sums->objects, sums->object_count, sums->object_room);
    sums->objects[sums->object_count++] = (struct sums_object){ process, sums_text(sums, name), id };
}

static void sums_add_levels(struct sums *sums, const struct sums_map *map)
{
    const struct session_file *file = map->file;
    for (size_t i = 0; i < file->levels.change_count; i++) {
        const struct trace_level *l = &file->levels.changes[i];
        if (sums_process(map, l->process) != PROFILE_NONE)
            sums_add_fact(sums, &(struct sums_fact){
                                    .process = sums_process(map, l->process),
                                    .function = sums_find_function(sums, file, l->process, l->function, l->time),
                                    .level = l->level,
                                    .time = l->time,
                                });
    }
    for (size_t i = 0; i < file->levels.decision_count; i++) {
        const struct trace_decision *d = &file->levels.decisions[i];
        if (sums_process(map, d->process) != PROFILE_NONE)
            sums_add_fact(sums, &(struct sums_fact){
                                    .process = sums_process(map, d->process),
                                    .function = sums_find_function(sums, file, d->process, d->function, d->time),
                                    .level = d->level,
                                    .fact = FACT_DECISION,
                                    .time = d->time,
                                    .calls = d->calls,
                                    .mean = d->mean,
                                });
    }
}

/* After one whose function is unknown, an object has no maker. That is not needed, as waits have the maker's time. */
void sums_add_maker(struct sums *sums, const struct sums_map *map, const struct trace_maker *maker, uint64_t id)
{
    if (maker->function && sums_process(map, maker->process) != PROFILE_NONE)
        sums_add_fact(sums,
                      &(struct sums_fact){
                          .fact = FACT_MADE,
                          .process = sums_process(map, maker->process),
                          .function = sums_find_function(sums, map->file, maker->process, maker->function, maker->time),
                          .level = maker->kind,
                          .time = maker->time,
                          .calls = id,
                      });
}

void sums_add_facts(struct sums *sums, const struct sums_map *map)
{
    const struct session_file *file = map->file;
    sums_add_levels(sums, map);
    for (size_t i = 0; i < file->labels.note_count; i++)
        intern(&sums->notes, file->labels.notes[i], strlen(file->labels.notes[i]));
}

/* ---- sessions of sums ---- */

struct sums_reader {
    struct sums *sums;
    const struct sums_map *map;
    const struct tree_waits *trees; /* finds nodes of the sums by their numbers in the file */
    const struct trace_thread *thread;
};

static uint32_t sums_find_node(const struct sums_reader *r, uint32_t thread, uint32_t number)
{
    const uint32_t place = sums_thread(r->map, thread);
    if (number == UINT32_MAX || !number)
        return place == PROFILE_NONE ? PROFILE_NONE
                                     : profile_root(r->sums->profile, r->sums->threads[place].process, place + 1);
    return tree_waits_find_node(r->trees, thread, number);
}

static bool sums_take_cause(void *context, const void *bytes)
{
    struct sums_reader *r = context;
    struct dwell_cause_row row;
    memcpy(&row, bytes, sizeof row);
    const uint32_t node = sums_find_node(r, r->thread->serial, row.node);
    if (row.waits && node != PROFILE_NONE)
        sums_add_cause(r->sums,
                       &(struct sums_cause){
                           .node = node,
                           .cause_thread = row.thread ? sums_thread(r->map, row.thread) : PROFILE_NONE,
                           .cause_node = row.thread && row.cause_node ? sums_find_node(r, row.thread, row.cause_node)
                                                                      : PROFILE_NONE,
                           .kind = row.kind,
                           .cause = row.cause,
                           .set = row.set,
                           .id = row.id,
                           .made_time = row.made_time,
                           .waits = row.waits,
                           .blocked = row.blocked,
                           .longest = row.longest,
                           .first_time = row.first_time,
                       });
    return row.waits != 0;
}

static void sums_read_causes(struct sums_reader *r)
{
    const struct session_file *file = r->map->file;
    struct tree_chunks chunks = tree_chunks_of(file, DWELL_CHUNK_CAUSES);
    for (size_t i = 0; i < file->thread_count; i++) {
        r->thread = &file->threads[i];
        tree_chunks_read(&chunks, file, r->thread->process, r->thread->serial, sizeof(struct dwell_cause_row),
                         sums_take_cause, r);
    }
    tree_chunks_drop(&chunks);
}

static void sums_read_symbols(struct sums *sums, const struct session_file *file)
{
    for (size_t i = 0; i < file->code.symbol_count; i++) {
        const struct trace_symbol *symbol = &file->code.symbols[i];
        const struct trace_symbol_module *m = &file->code.symbol_modules[symbol->module];
        const uint32_t module = profile_find_module(sums->profile, m->path, m->build_id, m->build_id_length);
        const uint32_t function = profile_find_function(sums->profile, module, symbol->offset);
        if (function < sums->name_count)
            sums_name_function(sums, function, symbol->name, symbol_table_path(file, symbol->file), symbol->line);
    }
}

static void sums_read_objects(struct sums *sums, const struct sums_map *map)
{
    const struct session_file *file = map->file;
    for (size_t i = 0; i < file->sums.object_name_count; i++) {
        const uint32_t process = sums_process(map, file->sums.object_names[i].process);
        if (process != PROFILE_NONE)
            sums_add_object(sums, process, file->sums.object_names[i].id, file->sums.object_names[i].name);
    }
    for (size_t i = 0; i < file->makers.count; i++)
        sums_add_maker(sums, map, &file->makers.list[i], file->makers.list[i].id);
    for (size_t i = 0; i < file->descriptors.count; i++) {
        struct trace_descriptor d = file->descriptors.list[i];
        d.name = need_copy(d.name, strlen(d.name));
        descriptor_list_add(&sums->descriptors, &d);
    }
}

/* Processes and threads are in the order of their sessions. */
static bool sums_map_sessions(struct sums *sums, struct sums_map *map, struct error *error)
{
    const struct session_file *file = map->file;
    struct sums_range range = { 0 };
    for (size_t i = 0; i < file->sums.summed_count; i++) {
        const struct trace_summed *summed = &file->sums.summed[i];
        range.process = range.process_end;
        range.thread = range.thread_end;
        while (range.process_end < file->process_count &&
               file->processes[range.process_end].serial < summed->process_end)
            range.process_end++;
        while (range.thread_end < file->thread_count && file->threads[range.thread_end].process < summed->process_end)
            range.thread_end++;
        if (range.process_end - range.process != summed->record.processes ||
            range.thread_end - range.thread != summed->record.threads)
            return error_set(error, "%s: is damaged: its sessions lack processes or threads", file->path);
        if (!sums_add_session(sums, map, summed, &range, error))
            return false;
    }
    if (range.process_end < file->process_count || range.thread_end < file->thread_count)
        return error_set(error, "%s: is damaged: it has processes or threads of no session", file->path);
    return true;
}

static uint32_t sums_find_root(void *context, struct profile *p, uint32_t process, uint32_t thread)
{
    const struct sums_map *map = context;
    return profile_root(p, sums_process(map, process) + 1, sums_thread(map, thread) + 1);
}

static void sums_read_counted(struct sums *sums, const struct sums_map *map)
{
    struct profile *counted = profile_new();
    counted_collect(counted, map->file, NULL);
    free(sums_take_profile(sums, map, counted));
}

static bool sums_read(struct sums *sums, struct sums_map *map, struct error *error)
{
    const struct session_file *file = map->file;
    struct tree_waits *trees = tree_waits_new(file);
    const bool good = trees_add_with_waits(sums->profile, file, trees, sums_find_root, map);
    sums_read_counted(sums, map);
    struct sums_reader r = { .sums = sums, .map = map, .trees = trees };
    sums_read_causes(&r);
    tree_waits_free(trees);
    sums_add_facts(sums, map);
    sums_read_objects(sums, map);
    sums_read_symbols(sums, file);
    return good || error_set(error, "%s: is damaged: it has durations of calls that cannot be", file->path);
}

void sums_take_error(struct sums *sums, const struct session_file *file)
{
    const int unread = session_file_take_error(file);
    sums->unread = sums->unread ? sums->unread : unread;
}

bool sums_add(struct sums *sums, const struct session_file *file, struct error *error)
{
    struct sums_map map = sums_map_new(file);
    const bool good = sums_map_sessions(sums, &map, error) && sums_read(sums, &map, error);
    sums_map_drop(&map);
    sums_take_error(sums, file);
    return good;
}
