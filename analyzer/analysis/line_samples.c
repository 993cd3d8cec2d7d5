/* Reads the samples of a session, and finds the lines of their innermost addresses. */
#include "analysis/line_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "symbols/symbols.h"
#include "trace/samples.h"

/* An address of a module in memory, and the samples there. */
struct sampled_place {
    const struct trace_module *module;
    uint64_t offset;
    struct sample_sum samples;
};

struct line_sampler {
    const struct analysis *analysis;
    struct number_index *index; /* (offset, number of the module in memory) -> place */
    struct sampled_place *places;
    size_t count, room;
    struct chunk_buffer buffer;
};

static void line_samples_add(struct line_sampler *s, const struct trace_process *process,
                             const struct stack_sample *sample, uint32_t period)
{
    const struct trace_module *m = trace_module_at(process, sample->registers[0], sample->time);
    if (!m)
        return;
    const uint64_t offset = sample->registers[0] - m->bias;
    const uint32_t number = (uint32_t)((uintptr_t)m / sizeof *m);
    struct index_slot *slot = index_find(s->index, offset, number);
    if (s->places && slot->value_plus_1) {
        sample_sum_add(&s->places[slot->value_plus_1 - 1].samples, 1, period);
        return;
    }
    GROW(s->places, s->count, s->room);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): GROW has made room
    s->places[s->count] = (struct sampled_place){ .module = m, .offset = offset };
    sample_sum_add(&s->places[s->count].samples, 1, period);
    index_set(s->index, slot, offset, number, (uint32_t)s->count++);
}

static void line_samples_read_chunk(struct line_sampler *s, const struct trace_chunk *chunk)
{
    const struct session_file *file = s->analysis->file;
    const struct trace_process *process = session_file_process(file, chunk->process);
    if (!process || !session_file_fill_buffer(file, chunk, &s->buffer))
        return;
    const uint32_t end = trace_chunk_end(chunk), period = samples_period(file, chunk);
    uint32_t at = sizeof(struct dwell_chunk_header);
    struct stack_sample sample;
    for (bool damaged = false; !damaged && samples_next(s->buffer.bytes, end, &at, &sample, &damaged);)
        line_samples_add(s, process, &sample, period);
}

/* The functions that have calls, by their linkage names. */
static struct number_index *line_samples_index_names(const struct analysis *analysis)
{
    struct number_index *names = index_new();
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        const char *name = analysis->names[i].linkage_name;
        const uint64_t key = name ? index_bytes_key(name, strlen(name)) : 0;
        struct index_slot *slot = index_find(names, key, analysis->profile->functions[i].module);
        if (name && sums[i].calls && !slot->value_plus_1)
            index_set(names, slot, key, analysis->profile->functions[i].module, i);
    }
    free(sums);
    return names;
}

/* The function whose own code is at the place. Sets *inlined if the code is that of another one inside it. */
static uint32_t line_samples_owner(const struct analysis *analysis, const struct number_index *names,
                                   struct binaries *b, const struct sampled_place *place,
                                   const struct symbol_site *site, bool *inlined)
{
    const struct symbol_module module = { place->module->path, place->module->build_id,
                                          place->module->build_id_length };
    const uint32_t number =
        profile_find_module(analysis->profile, module.path, module.build_id, module.build_id_length);
    uint64_t begin = 0;
    *inlined = false;
    if (number == PROFILE_NONE)
        return PROFILE_NONE;
    if (site->function && site->outer) {
        const uint64_t key = index_bytes_key(site->function, strlen(site->function));
        const struct index_slot *slot = index_find(names, key, number);
        if (slot->value_plus_1)
            return slot->value_plus_1 - 1;
        *inlined = true;
    }
    return binaries_function(b, &module, place->offset, &begin) == CODE_OF_FUNCTION
               ? profile_find_function(analysis->profile, number, begin)
               : PROFILE_NONE;
}

void line_samples_find(const struct analysis *analysis, line_samples_taker *take, void *context)
{
    struct line_sampler s = { .analysis = analysis, .index = index_new() };
    for (size_t i = 0; i < analysis->file->chunk_count; i++)
        if (analysis->file->chunks[i].kind == DWELL_CHUNK_SAMPLES && analysis->file->chunks[i].thread)
            line_samples_read_chunk(&s, &analysis->file->chunks[i]);
    struct number_index *names = line_samples_index_names(analysis);
    struct binaries *binaries = binaries_new_quiet();
    for (size_t i = 0; i < s.count; i++) {
        const struct sampled_place *p = &s.places[i];
        const struct symbol_module module = { p->module->path, p->module->build_id, p->module->build_id_length };
        const struct symbol_site site = binaries_site(binaries, &module, p->offset + 1, false);
        bool inlined;
        const uint32_t owner = line_samples_owner(analysis, names, binaries, p, &site, &inlined);
        const char *file = inlined ? site.outer_file : site.file;
        if (owner != PROFILE_NONE)
            take(context, owner, file, !file ? 0 : inlined ? site.outer_line : site.line, &p->samples);
    }
    binaries_free(binaries);
    index_free(names);
    index_free(s.index);
    free(s.places);
    free(s.buffer.bytes);
}
