/* Collects the functions of the recorded modules, and the lines of call sites, and appends their names to the
 * session. */
#include "recorder/record_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/collect.h"
#include "profile/session_samples.h"
#include "symbols/module_names.h"
#include "symbols/os_calls.h"
#include "symbols/symbols.h"
#include "trace/scan.h"
#include "trace/session_finish.h"

/* If the instrumented modules have more functions than this, only those that were called get names. A long trace names
 * all of them as well: a name takes about 100 bytes, and looking through the trace takes longer than writing them. */
enum { MANY_FUNCTIONS = 20000, TRACED_BYTES_FOR_A_NAME = 1024 };

struct symbol_gathering {
    struct module_names *names;
    struct binaries *binaries;     /* of these */
    struct finish_module *modules; /* all that were loaded */
    size_t module_count, module_room;
    struct finish_symbol *symbols;
    size_t symbol_count, symbol_room;
    struct finish_site *sites;
    size_t site_count, site_room;
};

static struct symbol_module gather_recorded_module(const struct finish_module *m)
{
    return (struct symbol_module){ m->path, m->build_id, m->build_id_length };
}

/* Returns module_count if the module is unknown. */
static uint32_t gather_find_module(const struct symbol_gathering *g, const struct finish_module *m)
{
    const struct symbol_module wanted = gather_recorded_module(m);
    for (uint32_t i = 0; i < g->module_count; i++) {
        const struct symbol_module known = gather_recorded_module(&g->modules[i]);
        if (symbol_module_equals(&known, &wanted))
            return i;
    }
    return (uint32_t)g->module_count;
}

static uint32_t gather_module_number(struct symbol_gathering *g, const struct trace_module *m)
{
    const struct finish_module module = { m->path, m->build_id, m->build_id_length };
    const uint32_t found = gather_find_module(g, &module);
    if (found < g->module_count)
        return found;
    GROW(g->modules, g->module_count, g->module_room);
    g->modules[g->module_count] = module;
    return (uint32_t)g->module_count++;
}

static void gather_add(struct symbol_gathering *g, uint32_t module, uint64_t offset, const struct symbol *found)
{
    if (!found->linkage_name)
        return;
    GROW(g->symbols, g->symbol_count, g->symbol_room);
    g->symbols[g->symbol_count++] =
        (struct finish_symbol){ module, offset, found->linkage_name, found->file, found->line };
}

static void gather_symbol(struct symbol_gathering *g, uint32_t module, uint64_t offset, bool lines)
{
    const struct symbol_module m = gather_recorded_module(&g->modules[module]);
    const struct symbol found =
        lines ? module_names_find(g->names, &m, offset) : binaries_find_name(g->binaries, &m, offset);
    gather_add(g, module, offset, &found);
}

static void gather_all_symbols(struct symbol_gathering *g)
{
    for (uint32_t i = 0; i < g->module_count; i++) {
        const struct symbol_module m = gather_recorded_module(&g->modules[i]);
        size_t count;
        const struct found_function *all = module_names_all(g->names, &m, &count);
        for (size_t j = 0; j < count; j++)
            gather_add(g, i, all[j].offset, &all[j].symbol);
    }
}

/* Adds the few functions of libc that are recorded as calls of the OS. */
static void gather_os_calls(struct symbol_gathering *g)
{
    for (uint32_t i = 0; i < g->module_count; i++) {
        const struct symbol_module m = gather_recorded_module(&g->modules[i]);
        size_t count;
        const struct os_call_symbol *found = module_names_os_calls(g->names, &m, &count);
        for (size_t j = 0; j < count; j++) {
            GROW(g->symbols, g->symbol_count, g->symbol_room);
            g->symbols[g->symbol_count++] =
                (struct finish_symbol){ i, found[j].offset, os_calls_name(found[j].number), NULL, 0 };
        }
    }
}

/* Several modules may have had an address one after the other. Each gets the symbol; the reader knows the time. */
static void gather_address(struct symbol_gathering *g, const struct session_file *file, uint32_t process,
                           uint64_t address)
{
    const struct trace_process *p = session_file_process(file, process);
    for (size_t j = 0; p && j < p->module_count; j++)
        if (address >= p->modules[j].begin && address < p->modules[j].end)
            gather_symbol(g, gather_module_number(g, &p->modules[j]), address - p->modules[j].bias, true);
}

/* The makers of objects were seen, too, but their events may be missing. */
static void gather_seen_symbols(struct symbol_gathering *g, const struct session_file *file)
{
    struct scan scan = scan_session(file, collect_default_jobs());
    for (size_t i = 0; i < scan.function_count; i++)
        gather_address(g, file, scan.functions[i].process, scan.functions[i].address);
    for (size_t i = 0; i < file->makers.count; i++)
        gather_address(g, file, file->makers.list[i].process, file->makers.list[i].function);
    scan_free(&scan);
}

/* Adds the functions that were sampled. Those of system libraries have no lines, as `dwell record` would end later. */
static void gather_sampled_functions(struct symbol_gathering *g, const struct session_file *file)
{
    struct session_samples *samples = session_samples_read_with(file, g->binaries);
    for (size_t i = 0; samples && i < samples->frame_count; i++) {
        const struct sampled_frame *frame = &samples->frames[i];
        if (!frame->module || !frame->offset)
            continue;
        const uint32_t number = gather_module_number(g, frame->module);
        const struct symbol_module m = gather_recorded_module(&g->modules[number]);
        const bool lines = binaries_has_lines(g->binaries, &m) || binaries_count(g->binaries, &m);
        gather_symbol(g, number, frame->offset, lines);
    }
    session_samples_free(samples);
}

/* Adds the call sites with their lines. This reads the session once more. */
static void gather_call_sites(struct symbol_gathering *g, const struct session_file *file)
{
    struct profile *p = collect_sites(file, NULL, collect_default_jobs(), NULL);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *s = &p->sites[i];
        const struct profile_module *m = &p->modules[s->module];
        const struct finish_module module = { m->path, m->build_id, m->build_id_length };
        const uint32_t number = gather_find_module(g, &module);
        if (number == g->module_count)
            continue;
        const struct symbol_module recorded = gather_recorded_module(&module);
        const struct symbol_site found = binaries_site(g->binaries, &recorded, s->offset, s->inlined);
        if (!found.function && !found.file)
            continue;
        GROW(g->sites, g->site_count, g->site_room);
        g->sites[g->site_count++] = (struct finish_site){
            .module = number,
            .offset = s->offset,
            .inlined = s->inlined,
            .function = found.function,
            .file = found.file,
            .line = found.line,
            .outer = found.outer,
            .outer_file = found.outer_file,
            .outer_line = found.outer_line,
        };
    }
    profile_free(p);
}

static uint64_t gather_traced_bytes(const struct session_file *file)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            bytes += file->chunks[i].used;
    return bytes;
}

bool record_symbols(const struct session *session, int fd, const struct session_file *file, struct module_names *known)
{
    struct symbol_gathering g = { .names = known, .binaries = module_names_binaries(known) };
    size_t functions = 0;
    for (size_t i = 0; i < file->process_count; i++)
        for (size_t j = 0; j < file->processes[i].module_count; j++)
            gather_module_number(&g, &file->processes[i].modules[j]);
    for (size_t i = 0; i < g.module_count; i++) {
        struct symbol_module m = gather_recorded_module(&g.modules[i]);
        functions += module_names_count(g.names, &m);
    }
    if (functions <= MANY_FUNCTIONS || functions <= gather_traced_bytes(file) / TRACED_BYTES_FOR_A_NAME) {
        gather_all_symbols(&g);
        gather_os_calls(&g);
    } else {
        gather_seen_symbols(&g, file);
    }
    gather_sampled_functions(&g, file);
    if (file->header.also & DWELL_ALSO_CALL_SITES)
        gather_call_sites(&g, file);
    const struct finish_names names = {
        .modules = g.modules,
        .module_count = g.module_count,
        .symbols = g.symbols,
        .symbol_count = g.symbol_count,
        .sites = g.sites,
        .site_count = g.site_count,
    };
    const bool done = finish_symbols(session, fd, &names);
    free(g.modules);
    free(g.symbols);
    free(g.sites);
    return done;
}
