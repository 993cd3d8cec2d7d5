/*
 * pprof's protobuf, compressed: a sample for each call path of each thread. Protobuf readers merge consecutive
 * messages, so each sample is written by itself and the profile is never held in memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "analysis/order.h"
#include "analysis/sources.h"
#include "base/gzip.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/utf8.h"
#include "export/formats.h"
#include "export/measures.h"
#include "export/stack_limit.h"
#include "pprof.pb-c.h"

/* The values of a sample. Counts come first by convention. */
static const enum export_time kinds[] = { EXPORT_CALLS, EXPORT_ELAPSED, EXPORT_CPU, EXPORT_APPLICATION,
                                          EXPORT_BLOCKED };
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

enum { LABEL_PROCESS, LABEL_PID, LABEL_THREAD, LABEL_TID, LABEL_COUNT };
static const char *const label_keys[LABEL_COUNT] = { "process", "pid", "thread", "tid" };

struct pprof_writer {
    struct order_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    struct gzip *gzip;
    uint8_t *buffer;
    size_t buffer_size;
    int64_t strings;                    /* number of written strings */
    enum export_time times[KIND_COUNT]; /* the known ones */
    size_t time_count;
    Pprof__Label labels[LABEL_COUNT]; /* of the current thread */
    Pprof__Label *label_list[LABEL_COUNT];
    uint64_t *locations; /* of the current sample */
    size_t location_room;
    struct number_index *lines; /* (function's rank, line of a call in it) -> number of the location */
    uint32_t line_count;
    struct stack_limit limit;
    uint64_t left_out; /* the location that stands for frames left out of a long stack */
};

/* ---- pieces ---- */

static void pprof_write_piece(struct pprof_writer *w, const Pprof__Profile *piece)
{
    const size_t size = pprof__profile__get_packed_size(piece);
    if (size > w->buffer_size) {
        w->buffer = need_more(w->buffer, size, 2);
        w->buffer_size = size * 2;
    }
    gzip_write(w->gzip, w->buffer, pprof__profile__pack(piece, w->buffer));
}

/* Writes a string and returns its number. */
static int64_t pprof_write_string(struct pprof_writer *w, const char *text)
{
    char *valid = utf8_repair(text);
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    piece.n_string_table = 1;
    piece.string_table = &valid;
    pprof_write_piece(w, &piece);
    free(valid);
    return w->strings++;
}

/* ---- mappings, functions and locations ---- */

static void pprof_write_kinds(struct pprof_writer *w)
{
    const int64_t count = pprof_write_string(w, "count"), nanoseconds = pprof_write_string(w, "nanoseconds");
    Pprof__ValueType types[KIND_COUNT], *list[KIND_COUNT];
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    piece.sample_type = list;
    for (int i = 0; i < KIND_COUNT; i++) {
        if (!measure_is_known(w->session, kinds[i]))
            continue;
        Pprof__ValueType *type = list[w->time_count] = &types[w->time_count];
        pprof__value_type__init(type);
        type->type = pprof_write_string(w, measure_key(w->session, kinds[i]));
        type->unit = measure_is_time(w->session, kinds[i]) ? nanoseconds : count;
        w->times[w->time_count++] = kinds[i];
        if (kinds[i] == EXPORT_ELAPSED) {
            piece.default_sample_type = type->type;
            piece.period_type = type;
        }
    }
    piece.n_sample_type = w->time_count;
    piece.period = 1;
    pprof_write_piece(w, &piece);
}

static void pprof_write_session(struct pprof_writer *w)
{
    const struct dwell_file_header *h = &w->session->file->header;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    piece.time_nanos = (int64_t)h->start_realtime;
    if (h->end_ticks > h->start_ticks)
        piece.duration_nanos = (int64_t)ticks_to_ns(h->end_ticks - h->start_ticks, h->ticks_per_second);
    pprof_write_piece(w, &piece);
    for (size_t i = 0; i < w->session->summary.remark_count; i++) {
        int64_t comment = pprof_write_string(w, w->session->summary.remarks[i]);
        Pprof__Profile remark = PPROF__PROFILE__INIT;
        remark.n_comment = 1;
        remark.comment = &comment;
        pprof_write_piece(w, &remark);
    }
}

static int64_t pprof_write_build_id(struct pprof_writer *w, const struct profile_module *module)
{
    if (!module->build_id_length)
        return 0;
    char *text = need_hex(module->build_id, module->build_id_length);
    const int64_t number = pprof_write_string(w, text);
    free(text);
    return number;
}

/* Writes a mapping. Addresses are relative to the module, so the mapping begins at 0. */
static void pprof_write_mapping(struct pprof_writer *w, uint32_t module, uint64_t limit)
{
    const struct profile_module *m = &w->session->profile->modules[module];
    Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    mapping.id = w->order->module_ranks[module] + 1;
    mapping.memory_limit = limit;
    mapping.filename = pprof_write_string(w, m->path[0] ? m->path : "[unknown]");
    mapping.build_id = pprof_write_build_id(w, m);
    /* Readers need not look up symbols. */
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames = true;
    piece.n_mapping = 1;
    piece.mapping = &list;
    pprof_write_piece(w, &piece);
}

/* The first process' program, which must be the first mapping. PROFILE_NONE if no call in it was recorded. */
static uint32_t pprof_program_module(const struct pprof_writer *w)
{
    const struct profile *p = w->session->profile;
    const struct trace_process *first =
        p->thread_count ? session_file_process(w->session->file, p->threads[w->order->threads[0]].process) : NULL;
    for (uint32_t i = 0; first && i < p->module_count; i++)
        if (strcmp(p->modules[w->order->modules[i]].path, first->path) == 0)
            return w->order->modules[i];
    return PROFILE_NONE;
}

static void pprof_write_mappings(struct pprof_writer *w)
{
    const struct profile *p = w->session->profile;
    uint64_t *limits = need_memory(p->module_count + 1, sizeof *limits);
    for (size_t i = 0; i < p->function_count; i++) {
        const struct profile_function *f = &p->functions[i];
        if (f->offset >= limits[f->module])
            limits[f->module] = f->offset < UINT64_MAX ? f->offset + 1 : f->offset;
    }
    const uint32_t program = pprof_program_module(w);
    if (program != PROFILE_NONE)
        pprof_write_mapping(w, program, limits[program]);
    for (size_t i = 0; i < p->module_count; i++) /* modules with call sites only are not needed */
        if (w->order->modules[i] != program && limits[w->order->modules[i]])
            pprof_write_mapping(w, w->order->modules[i], limits[w->order->modules[i]]);
    free(limits);
}

/* Writes a function, and with the same number a location at its first line, for calls whose line is unknown. */
static void pprof_write_with_location(struct pprof_writer *w, Pprof__Function *function, Pprof__Location *location)
{
    Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    line.line = function->start_line;
    line.function_id = location->id = function->id;
    location->n_line = 1;
    location->line = &lines;
    piece.n_function = piece.n_location = 1;
    piece.function = &function;
    piece.location = &location;
    pprof_write_piece(w, &piece);
}

static void pprof_write_function(struct pprof_writer *w, uint32_t index, int64_t file)
{
    const struct function_name *name = &w->session->names[index];
    const struct profile_function *f = &w->session->profile->functions[index];
    Pprof__Function function = PPROF__FUNCTION__INIT;
    Pprof__Location location = PPROF__LOCATION__INIT;
    function.id = (uint64_t)w->order->ranks[index] + 1;
    function.name = pprof_write_string(w, name->name);
    function.system_name = !name->linkage_name                           ? 0
                           : strcmp(name->linkage_name, name->name) == 0 ? function.name
                                                                         : pprof_write_string(w, name->linkage_name);
    function.filename = file;
    function.start_line = name->line;
    location.mapping_id = (uint64_t)w->order->module_ranks[f->module] + 1;
    location.address = function_has_address(w->session, index) ? f->offset : 0;
    pprof_write_with_location(w, &function, &location);
}

static void pprof_write_functions(struct pprof_writer *w)
{
    const struct profile *p = w->session->profile;
    struct sources sources = sources_of(w->session);
    int64_t *files = need_memory(sources.count, sizeof *files);
    for (size_t i = 1; i < sources.count; i++)
        files[i] = pprof_write_string(w, sources.paths[i]);
    for (size_t i = 0; i < p->function_count; i++)
        pprof_write_function(w, w->order->functions[i], files[sources.of[w->order->functions[i]]]);
    free(files);
    sources_drop(&sources);
}

/* The function and location for frames that are left out. */
static void pprof_write_left_out(struct pprof_writer *w)
{
    Pprof__Function function = PPROF__FUNCTION__INIT;
    Pprof__Location location = PPROF__LOCATION__INIT;
    function.id = w->left_out = w->session->profile->function_count + ++w->line_count;
    function.name = pprof_write_string(w, STACK_LIMIT_NAME);
    pprof_write_with_location(w, &function, &location);
}

/* A frame takes as many bytes as the variable-length number of its location. */
static void pprof_choose_limit(struct pprof_writer *w)
{
    const size_t count = w->session->profile->function_count;
    size_t *costs = need_memory(count, sizeof *costs);
    for (size_t i = 0; i < count; i++)
        costs[i] = count < 1 << 14 ? 2 : count < 1 << 21 ? 3 : 5;
    bool cuts;
    w->limit = stack_limit_choose(w->order, costs, &cuts);
    free(costs);
    if (cuts)
        pprof_write_left_out(w);
}

/* ---- samples ---- */

/* Returns the location in the function at which the next function on the path is called. Writes it if it is new. */
static uint64_t pprof_write_location(struct pprof_writer *w, uint32_t function, const struct profile_node *next)
{
    const struct function_name *name = &w->session->names[function];
    const uint32_t rank = w->order->ranks[function], at = next ? lines_in_file(w->session, next, name->file) : 0;
    if (at == 0 || at == name->line)
        return (uint64_t)rank + 1;
    struct index_slot *slot = index_find(w->lines, rank, at);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    const struct profile_function *f = &w->session->profile->functions[function];
    Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
    Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    line.function_id = (uint64_t)rank + 1;
    line.line = at;
    location.id = w->session->profile->function_count + ++w->line_count;
    location.mapping_id = (uint64_t)w->order->module_ranks[f->module] + 1;
    location.address = function_has_address(w->session, function) ? f->offset : 0;
    location.n_line = 1;
    location.line = &lines;
    piece.n_location = 1;
    piece.location = &locations;
    pprof_write_piece(w, &piece);
    index_set(w->lines, slot, rank, at, (uint32_t)location.id);
    return location.id;
}

static void pprof_write_sample(struct order_visitor *visitor, uint32_t node)
{
    struct pprof_writer *w = (struct pprof_writer *)visitor;
    const struct profile *p = w->session->profile;
    int64_t values[KIND_COUNT];
    bool any = false;
    for (size_t i = 0; i < w->time_count; i++) {
        values[i] = (int64_t)measure_exclusive(w->session, node, w->times[i]);
        any |= values[i] != 0;
    }
    if (!any)
        return;
    if (visitor->depth > w->location_room) {
        w->location_room = visitor->depth * 2;
        w->locations = need_more(w->locations, w->location_room, sizeof *w->locations);
    }
    size_t frames = 0;
    for (size_t i = visitor->depth; i-- > 0;) { /* innermost first */
        const struct profile_node *next = i + 1 < visitor->depth ? &p->nodes[visitor->path[i + 1]] : NULL;
        w->locations[frames++] = pprof_write_location(w, p->nodes[visitor->path[i]].function, next);
        if (frames == w->limit.inner && i > w->limit.outer) {
            w->locations[frames++] = w->left_out;
            i = w->limit.outer;
        }
    }
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    sample.n_location_id = frames;
    sample.location_id = w->locations;
    sample.n_value = w->time_count;
    sample.value = values;
    sample.n_label = LABEL_COUNT;
    sample.label = w->label_list;
    piece.n_sample = 1;
    piece.sample = &list;
    pprof_write_piece(w, &piece);
}

static void pprof_write_thread(struct pprof_writer *w, const struct profile_thread *thread)
{
    const struct trace_thread *t = session_file_thread(w->session->file, thread->thread);
    const struct trace_process *p = session_file_process(w->session->file, thread->process);
    char *process = names_module(p ? p->path : "");
    w->labels[LABEL_PROCESS].str = pprof_write_string(w, process);
    w->labels[LABEL_PID].num = p ? p->pid : 0;
    w->labels[LABEL_THREAD].str = pprof_write_string(w, analysis_thread_name(w->session, thread->thread));
    w->labels[LABEL_TID].num = t ? t->tid : 0;
    order_walk(w->order, thread, &w->visitor);
    free(process);
}

bool export_pprof(const struct analysis *session, const struct export_options *options, FILE *out, struct error *error)
{
    (void)error;
    (void)options;
    struct order *order = order_new(session);
    struct pprof_writer w = {
        .visitor = { .enter = pprof_write_sample },
        .session = session,
        .order = order,
        .gzip = gzip_begin(out),
        .lines = index_new(),
    };
    pprof_write_string(&w, ""); /* number 0 */
    pprof_write_kinds(&w);
    pprof_write_session(&w);
    pprof_write_mappings(&w);
    pprof_write_functions(&w);
    pprof_choose_limit(&w);
    for (int i = 0; i < LABEL_COUNT; i++) {
        pprof__label__init(&w.labels[i]);
        w.labels[i].key = pprof_write_string(&w, label_keys[i]);
        w.label_list[i] = &w.labels[i];
    }
    for (size_t i = 0; i < session->profile->thread_count; i++)
        pprof_write_thread(&w, &session->profile->threads[order->threads[i]]);
    gzip_end(w.gzip);
    index_free(w.lines);
    free(w.buffer);
    free(w.locations);
    order_free(order);
    return true;
}
