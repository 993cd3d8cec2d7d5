/* Reads the samples of a session, and finds the functions of their addresses. */
#include "profile/session_samples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/progress.h"
#include "base/sorted.h"
#include "symbols/os_calls.h"
#include "symbols/symbols.h"
#include "symbols/unwind.h"
#include "trace/chunk_order.h"
#include "trace/library_slots.h"
#include "trace/samples.h"
#include "trace/symbol_table.h"

enum { MAX_FRAMES = 48 };
enum { CODE_OF_PROGRAM, CODE_OF_STUBS }; /* outside of all modules, in place of an offset */
#define FRAME_NONE UINT32_MAX

struct samples_symbol {
    uint32_t identity; /* of the module: symbol_table.h */
    uint64_t offset;
};

struct samples_reader {
    const struct session_file *file;
    struct session_samples *samples;
    struct binaries *binaries;
    struct unwinder *unwinder;        /* NULL if stacks cannot be unwound */
    const struct trace_process *last; /* the process that was unwound last */
    bool has_stubs;                   /* there is code of the runtime outside of all modules, it is not known where */
    struct number_index *places;      /* (offset of an instruction, number of its module in memory) -> place */
    uint32_t *frame_of;               /* by place */
    size_t place_count, place_room;
    struct number_index *functions; /* (offset of a function, number of its module in memory) -> frame */
    struct intern chains;           /* numbers of frames -> chain */
    struct samples_symbol *symbols; /* that are recorded, in order; NULL if they were not needed yet */
    struct chunk_buffer buffer;
};

/* ---- functions ---- */

static bool samples_is_runtime(const struct trace_module *m)
{
    return strncmp(path_file_name(m->path), "libdwell.so", strlen("libdwell.so")) == 0;
}

static struct symbol_module samples_symbol_module(const struct trace_module *m)
{
    return (struct symbol_module){ m->path, m->build_id, m->build_id_length };
}

static int samples_compare_symbols(const void *a, const void *b)
{
    const struct samples_symbol *x = a, *y = b;
    return ORDER_BY(x, y, identity, offset);
}

static void samples_sort_symbols(struct samples_reader *r)
{
    const struct session_file *file = r->file;
    r->symbols = need_memory(file->code.symbol_count + 1, sizeof *r->symbols);
    for (size_t i = 0; i < file->code.symbol_count; i++)
        r->symbols[i] = (struct samples_symbol){
            symbol_table_identity_of(file->code.symbol_table, file->code.symbols[i].module),
            file->code.symbols[i].offset,
        };
    qsort(r->symbols, file->code.symbol_count, sizeof *r->symbols, samples_compare_symbols);
}

/* Without the binary: the nearest recorded symbol before the address. Zero if there is none. Of libc, only the calls of
 * the operating system are recorded, and most of its code is in none of them. So each address is by itself. */
static uint64_t samples_recorded_function(struct samples_reader *r, const struct trace_module *m, uint64_t offset)
{
    const uint32_t identity =
        symbol_table_identity(r->file->code.symbol_table, m->path, m->build_id, m->build_id_length);
    const struct samples_symbol wanted = { identity, offset };
    if (os_calls_is_library(m->path))
        return offset;
    if (!r->symbols)
        samples_sort_symbols(r);
    const size_t place =
        LOWER_BOUND(symbol, r->symbols, r->file->code.symbol_count, samples_compare_symbols(symbol, &wanted) <= 0);
    return place && r->symbols[place - 1].identity == identity ? r->symbols[place - 1].offset : 0;
}

/* Whether the runtime has written the code at that address, which is outside of all modules. A forked child has the
 * code of its parent. */
static bool samples_is_stub(const struct samples_reader *r, const struct trace_process *process, uint64_t address)
{
    for (size_t steps = 0; process && steps <= r->file->process_count; steps++) {
        if (stub_list_has(&r->file->stubs, process->serial, address))
            return true;
        process = session_file_process(r->file, process->parent_process);
    }
    return r->has_stubs;
}

/* FRAME_NONE if it is a stub through which calls go: its time is the caller's. */
static uint32_t samples_make_frame(struct samples_reader *r, const struct trace_module *m, uint64_t offset)
{
    struct session_samples *s = r->samples;
    uint64_t begin = m ? 0 : offset; /* other code outside of all modules is one function, and so is the runtime */
    if (m && !samples_is_runtime(m)) {
        const struct symbol_module module = samples_symbol_module(m);
        const enum code_kind kind = binaries_function(r->binaries, &module, offset, &begin);
        if (kind == CODE_OF_STUB)
            return FRAME_NONE;
        if (kind == CODE_UNKNOWN)
            begin = samples_recorded_function(r, m, offset);
    }
    const uint32_t number = m ? (uint32_t)((uintptr_t)m / sizeof *m) : 0;
    struct index_slot *slot = index_find(r->functions, begin, number);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    GROW(s->frames, s->frame_count, s->frame_room);
    const enum sampled_code code = !m && offset == CODE_OF_STUBS ? SAMPLED_STUB
                                   : m && samples_is_runtime(m)  ? SAMPLED_RUNTIME
                                                                 : SAMPLED_PROGRAM;
    s->frames[s->frame_count] = (struct sampled_frame){ m, begin, code };
    index_set(r->functions, slot, begin, number, (uint32_t)s->frame_count);
    return (uint32_t)s->frame_count++;
}

static uint32_t samples_find_frame(struct samples_reader *r, const struct trace_process *process, uint64_t address,
                                   uint64_t time)
{
    const struct trace_module *m = trace_module_at(process, address, time);
    const uint64_t offset = m                                      ? address - m->bias
                            : samples_is_stub(r, process, address) ? CODE_OF_STUBS
                                                                   : CODE_OF_PROGRAM;
    const uint32_t number = m ? (uint32_t)((uintptr_t)m / sizeof *m) : 0;
    struct index_slot *slot = index_find(r->places, offset, number);
    const bool is_new = !slot->value_plus_1;
    const size_t place = is_new ? r->place_count : slot->value_plus_1 - 1;
    if (is_new) {
        GROW(r->frame_of, r->place_count, r->place_room);
        index_set(r->places, slot, offset, number, (uint32_t)r->place_count++);
        r->frame_of[place] = samples_make_frame(r, m, offset);
    }
    assert(r->frame_of);
    return r->frame_of[place];
}

/* ---- stacks ---- */

struct samples_copy {
    const struct stack_sample *sample;
    const struct trace_process *process;
};

static uint64_t samples_copy_word(const void *context, uint32_t number)
{
    return sample_stack_word(((const struct samples_copy *)context)->sample, number);
}

static bool samples_copy_find(const void *context, uint64_t address, struct unwind_module *module)
{
    const struct samples_copy *copy = context;
    const struct trace_module *m = trace_module_at(copy->process, address, copy->sample->time);
    if (m)
        *module = (struct unwind_module){ samples_symbol_module(m), m->bias, m->begin, m->end };
    return m != NULL;
}

/* Writes the frames, innermost first, and returns their number. */
static uint32_t samples_unwind(struct samples_reader *r, const struct trace_process *process,
                               const struct stack_sample *sample, uint32_t *frames)
{
    const struct samples_copy own = { sample, process };
    const struct unwind_copy copy = {
        .registers = sample->registers,
        .register_count = sample->register_count,
        .words = sample->words,
        .word = samples_copy_word,
        .find = samples_copy_find,
        .context = &own,
    };
    uint64_t addresses[MAX_FRAMES];
    const size_t count = r->unwinder ? unwinder_run(r->unwinder, &copy, addresses, MAX_FRAMES) : 1;
    uint32_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        const uint32_t frame = samples_find_frame(r, process, addresses[i] - 1, sample->time);
        if (frame != FRAME_NONE)
            frames[kept++] = frame;
    }
    return kept;
}

/* ---- samples ---- */

static void samples_add_point(struct thread_samples *t, struct sample_point point)
{
    GROW(t->points, t->count, t->room);
    t->points[t->count++] = point;
}

static uint32_t samples_find_chain(struct samples_reader *r, const uint32_t *frames, uint32_t count)
{
    struct session_samples *s = r->samples;
    const uint32_t chain = intern(&r->chains, frames, count * sizeof *frames);
    if (chain < s->chain_count)
        return chain;
    GROW(s->chains, s->chain_count, s->chain_room);
    s->chains[s->chain_count++] = (struct sampled_chain){ (uint32_t)s->link_count, count };
    for (uint32_t i = 0; i < count; i++) {
        GROW(s->links, s->link_count, s->link_room);
        s->links[s->link_count++] = frames[i];
    }
    return chain;
}

static void samples_add(struct samples_reader *r, struct thread_samples *t, const struct trace_process *process,
                        const struct stack_sample *sample, uint32_t period)
{
    uint32_t frames[MAX_FRAMES], count = 0;
    const uint32_t innermost = samples_find_frame(r, process, sample->registers[0], sample->time);
    if (innermost != FRAME_NONE)
        frames[count++] = innermost;
    if (innermost == FRAME_NONE || r->samples->frames[innermost].code == SAMPLED_PROGRAM)
        count += samples_unwind(r, process, sample, frames + count);
    samples_add_point(t, (struct sample_point){ sample->time, samples_find_chain(r, frames, count), period });
}

static void samples_read_chunk(struct samples_reader *r, struct thread_samples *t, const struct trace_chunk *chunk)
{
    const struct trace_process *process = session_file_process(r->file, chunk->process);
    uint32_t at = sizeof(struct dwell_chunk_header);
    const uint32_t end = trace_chunk_end(chunk), period = samples_period(r->file, chunk);
    struct stack_sample sample;
    if (process != r->last && r->unwinder)
        unwinder_forget(r->unwinder);
    r->last = process;
    bool damaged = !process || !session_file_fill_buffer(r->file, chunk, &r->buffer);
    while (!damaged && samples_next(r->buffer.bytes, end, &at, &sample, &damaged))
        samples_add(r, t, process, &sample, period);
    r->samples->damaged_chunks += damaged;
}

static int samples_compare_chunks(const void *a, const void *b)
{
    return chunk_order_compare(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
}

static int samples_compare_points(const void *a, const void *b)
{
    const struct sample_point *x = a, *y = b;
    return ORDER_BY(x, y, time, chain);
}

static int samples_compare_serials(const void *a, const void *b)
{
    const struct thread_samples *x = a, *y = b;
    return ORDER_BY(x, y, thread);
}

/* The chunks of recorded threads, by thread. */
static const struct trace_chunk **samples_list_chunks(const struct session_file *file, size_t *count)
{
    const struct trace_chunk **list = need_memory(file->chunk_count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_SAMPLES && file->chunks[i].thread)
            list[(*count)++] = &file->chunks[i];
    if (*count)
        qsort(list, *count, sizeof(*list), samples_compare_chunks);
    return list;
}

static void samples_read_chunks(struct samples_reader *r, const struct trace_chunk **chunks, size_t count)
{
    struct session_samples *s = r->samples;
    progress_begin("reading samples", r->file->path, count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || chunks[i]->thread != s->threads[s->thread_count - 1].thread) {
            GROW(s->threads, s->thread_count, s->thread_room);
            s->threads[s->thread_count++] = (struct thread_samples){ .thread = chunks[i]->thread };
        }
        samples_read_chunk(r, &s->threads[s->thread_count - 1], chunks[i]);
        progress_add(1);
    }
    progress_end();
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].count)
            qsort(s->threads[i].points, s->threads[i].count, sizeof *s->threads[i].points, samples_compare_points);
    qsort(s->threads, s->thread_count, sizeof *s->threads, samples_compare_serials);
}

static enum dwell_machine samples_own_machine(void)
{
#if defined(__x86_64__)
    return DWELL_MACHINE_X86_64;
#else
    return DWELL_MACHINE_AARCH64;
#endif
}

static struct session_samples *samples_read(const struct session_file *file, struct binaries *binaries, bool stacks)
{
    size_t count;
    const struct trace_chunk **chunks = samples_list_chunks(file, &count);
    if (!count) {
        free(chunks);
        return NULL;
    }
    struct samples_reader r = {
        .file = file,
        .samples = need_memory(1, sizeof *r.samples),
        .binaries = binaries,
        .has_stubs = !file->stubs.count && (file->levels.change_count || library_slots_read(file).linked),
        .places = index_new(),
        .functions = index_new(),
    };
    r.unwinder = stacks && file->header.machine == samples_own_machine() ? unwinder_new(r.binaries) : NULL;
    samples_read_chunks(&r, chunks, count);
    intern_drop(&r.chains);
    index_free(r.places);
    index_free(r.functions);
    free(r.frame_of);
    free(r.symbols);
    unwinder_free(r.unwinder);
    free(r.buffer.bytes);
    free(chunks);
    return r.samples;
}

struct session_samples *session_samples_read(const struct session_file *file, bool stacks)
{
    struct binaries *binaries = binaries_new_quiet();
    struct session_samples *samples = samples_read(file, binaries, stacks);
    binaries_free(binaries);
    return samples;
}

struct session_samples *session_samples_read_with(const struct session_file *file, struct binaries *binaries)
{
    binaries_be_quiet(binaries, true);
    struct session_samples *samples = samples_read(file, binaries, false);
    binaries_be_quiet(binaries, false);
    return samples;
}

void session_samples_free(struct session_samples *samples)
{
    if (!samples)
        return;
    for (size_t i = 0; i < samples->thread_count; i++)
        free(samples->threads[i].points);
    free(samples->threads);
    free(samples->chains);
    free(samples->links);
    free(samples->frames);
    free(samples);
}

const struct sample_point *session_samples_from(const struct session_samples *samples, uint32_t thread, uint64_t time,
                                                const struct sample_point **end)
{
    const struct thread_samples key = { .thread = thread };
    const struct thread_samples *t =
        bsearch(&key, samples->threads, samples->thread_count, sizeof key, samples_compare_serials);
    *end = t ? t->points + t->count : NULL;
    if (!t)
        return NULL;
    return t->points + LOWER_BOUND(point, t->points, t->count, point->time < time);
}
