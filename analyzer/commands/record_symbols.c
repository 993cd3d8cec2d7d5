#include "commands/record_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/collect.h"
#include "symbols/os_calls.h"
#include "symbols/symbols.h"
#include "trace/scan.h"
#include "trace/session_finish.h"

/* With more functions than this in the instrumented modules, those that were called are looked for first. */
enum { MANY_FUNCTIONS = 20000 };

struct gathering {
    struct binaries *binaries;
    struct finish_module *modules; /* all that were loaded */
    size_t module_count, module_room;
    struct finish_symbol *symbols;
    size_t symbol_count, symbol_room;
};

static struct symbol_module as_recorded(const struct finish_module *m)
{
    return (struct symbol_module){ m->path, m->build_id, m->build_id_length };
}

static uint32_t number_of(struct gathering *g, const struct trace_module *m)
{
    for (size_t i = 0; i < g->module_count; i++)
        if (strcmp(g->modules[i].path, m->path) == 0 && g->modules[i].build_id_length == m->build_id_length &&
            memcmp(g->modules[i].build_id, m->build_id, m->build_id_length) == 0)
            return (uint32_t)i;
    GROW(g->modules, g->module_count, g->module_room);
    g->modules[g->module_count] = (struct finish_module){ m->path, m->build_id, m->build_id_length };
    return (uint32_t)g->module_count++;
}

static void gather(struct gathering *g, uint32_t module, uint64_t offset)
{
    struct symbol_module m = as_recorded(&g->modules[module]);
    struct symbol found = binaries_find(g->binaries, &m, offset);
    if (!found.linkage_name)
        return;
    GROW(g->symbols, g->symbol_count, g->symbol_room);
    g->symbols[g->symbol_count++] = (struct finish_symbol){ module, offset, found.linkage_name, found.file, found.line };
}

static void gather_all(struct gathering *g)
{
    for (uint32_t i = 0; i < g->module_count; i++) {
        struct symbol_module m = as_recorded(&g->modules[i]);
        const size_t count = binaries_count(g->binaries, &m);
        for (size_t j = 0; j < count; j++) {
            uint64_t offset = binaries_offset(g->binaries, &m, j);
            if (j == 0 || offset != binaries_offset(g->binaries, &m, j - 1))
                gather(g, i, offset);
        }
    }
}

/* libc's functions that may be rows: they are few. */
static void gather_os_calls(struct gathering *g)
{
    for (uint32_t i = 0; i < g->module_count; i++) {
        const struct symbol_module m = as_recorded(&g->modules[i]);
        size_t count;
        struct os_call_symbol *found = os_calls_of(&m, &count);
        for (size_t j = 0; j < count; j++) {
            GROW(g->symbols, g->symbol_count, g->symbol_room);
            g->symbols[g->symbol_count++] =
                (struct finish_symbol){ i, found[j].offset, os_calls_name(found[j].number), NULL, 0 };
        }
        free(found);
    }
}

/* An address that several modules had one after the other is one of each: the reader knows the time. */
static void gather_seen(struct gathering *g, const struct session_file *file)
{
    struct scan scan = scan_session(file, collect_default_jobs());
    for (size_t i = 0; i < scan.function_count; i++) {
        const struct trace_process *p = session_file_process(file, scan.functions[i].process);
        const uint64_t address = scan.functions[i].address;
        for (size_t j = 0; p && j < p->module_count; j++)
            if (address >= p->modules[j].begin && address < p->modules[j].end)
                gather(g, number_of(g, &p->modules[j]), address - p->modules[j].bias);
    }
    scan_free(&scan);
}

void record_symbols(const struct session *session, int fd, const struct session_file *file)
{
    struct gathering g = { .binaries = binaries_new() };
    size_t functions = 0;
    for (size_t i = 0; i < file->process_count; i++)
        for (size_t j = 0; j < file->processes[i].module_count; j++)
            number_of(&g, &file->processes[i].modules[j]);
    for (size_t i = 0; i < g.module_count; i++) {
        struct symbol_module m = as_recorded(&g.modules[i]);
        functions += binaries_count(g.binaries, &m);
    }
    if (functions <= MANY_FUNCTIONS) {
        gather_all(&g);
        gather_os_calls(&g);
    } else {
        gather_seen(&g, file);
    }
    finish_symbols(session, fd, g.modules, g.module_count, g.symbols, g.symbol_count);
    binaries_free(g.binaries);
    free(g.modules);
    free(g.symbols);
}
