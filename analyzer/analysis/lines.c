/* The source lines of call sites: from the symbols that the session records, or else from the binaries. */
#include "analysis/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "symbols/symbols.h"
#include "trace/symbol_table.h"

/* ---- names of sites ---- */

/* The sites that the recording has names for, in the order of their modules' identities, addresses and modules. */
struct recorded_sites {
    const struct session_file *file;
    const struct trace_site **sorted;
};

static int lines_compare_place(const struct session_file *file, const struct trace_site *x, uint32_t identity,
                               uint64_t offset, bool inlined)
{
    const uint32_t own = symbol_table_identity_of(file->code.symbol_table, x->module);
    if (own != identity)
        return own < identity ? -1 : 1;
    if (x->offset != offset)
        return x->offset < offset ? -1 : 1;
    return x->inlined - inlined;
}

static int lines_compare_sites(const void *a, const void *b, void *context)
{
    const struct trace_site *x = *(const struct trace_site *const *)a, *y = *(const struct trace_site *const *)b;
    const struct session_file *file = context;
    const int order = lines_compare_place(file, x, symbol_table_identity_of(file->code.symbol_table, y->module),
                                          y->offset, y->inlined);
    if (order)
        return order;
    return x->module != y->module ? (x->module < y->module ? -1 : 1) : ORDER(x, y);
}

static struct recorded_sites lines_sort_recorded(const struct session_file *file)
{
    struct recorded_sites b = { file, need_memory(file->code.site_count, sizeof *b.sorted) };
    for (size_t i = 0; i < file->code.site_count; i++)
        b.sorted[i] = &file->code.sites[i];
    if (file->code.site_count)
        qsort_r(b.sorted, file->code.site_count, sizeof *b.sorted, lines_compare_sites, (void *)file);
    return b;
}

static bool lines_find_recorded(const struct recorded_sites *b, const struct profile_module *m,
                                const struct profile_site *site, struct symbol_site *found)
{
    const struct session_file *file = b->file;
    const uint32_t identity = symbol_table_identity(file->code.symbol_table, m->path, m->build_id, m->build_id_length);
    const size_t place = LOWER_BOUND(recorded, b->sorted, identity == SYMBOL_TABLE_NONE ? 0 : file->code.site_count,
                                     lines_compare_place(file, *recorded, identity, site->offset, site->inlined) < 0);
    if (identity == SYMBOL_TABLE_NONE || place == file->code.site_count ||
        lines_compare_place(file, b->sorted[place], identity, site->offset, site->inlined) != 0)
        return false;
    const struct trace_site *at = b->sorted[place];
    *found = (struct symbol_site){
        .function = at->function[0] ? at->function : NULL,
        .file = symbol_table_path(file, at->file),
        .line = at->line,
        .outer = at->outer[0] ? at->outer : NULL,
        .outer_file = symbol_table_path(file, at->outer_file),
        .outer_line = at->outer_line,
    };
    return true;
}

static char *lines_inlined_text(const struct symbol_site *s)
{
    char *outer = symbol_demangle_of_file(s->outer, s->outer_file);
    char *text = s->outer_file && s->outer_line
                     ? need_text("%s (%s:%" PRIu32 ")", outer, path_file_name(s->outer_file), s->outer_line)
                     : need_text("%s", outer);
    free(outer);
    return text;
}

static struct line_name lines_name_site(const struct profile_module *m, const struct profile_site *site,
                                        const struct symbol_site *s)
{
    struct line_name name = { .module = names_module(m->path), .path = need_copy(m->path, strlen(m->path)) };
    if (s->file && s->line) {
        name.file = need_copy(s->file, strlen(s->file));
        name.line = s->line;
        name.source = need_text("%s:%" PRIu32, path_file_name(s->file), s->line);
    } else {
        name.source = need_text("%s+0x%" PRIx64, name.module, site->offset);
    }
    name.function = s->function             ? symbol_demangle_of_file(s->function, s->file)
                    : name.module[0] == '[' ? need_copy(name.module, strlen(name.module))
                                            : need_text("[%s]", name.module);
    name.inlined = s->outer ? lines_inlined_text(s) : NULL;
    if (s->outer && s->outer_file) {
        name.outer_file = need_copy(s->outer_file, strlen(s->outer_file));
        name.outer_line = s->outer_line;
    }
    return name;
}

struct line_name *lines_find(const struct session_file *file, const struct profile *p)
{
    struct line_name *lines = need_memory(p->site_count, sizeof *lines);
    struct binaries *binaries = binaries_new();
    const struct recorded_sites b = lines_sort_recorded(file);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        const struct profile_module *m = &p->modules[site->module];
        struct symbol_site found;
        if (!lines_find_recorded(&b, m, site, &found)) {
            const struct symbol_module module = { m->path, m->build_id, m->build_id_length };
            found = binaries_site(binaries, &module, site->offset, site->inlined);
        }
        lines[i] = lines_name_site(m, site, &found);
    }
    free(b.sorted);
    binaries_free(binaries);
    return lines;
}

void lines_free(struct line_name *lines, size_t count)
{
    for (size_t i = 0; lines && i < count; i++) {
        free(lines[i].source);
        free(lines[i].file);
        free(lines[i].function);
        free(lines[i].module);
        free(lines[i].path);
        free(lines[i].inlined);
        free(lines[i].outer_file);
    }
    free(lines);
}

/* ---- sites of one line ---- */

/* Sites with unknown lines are never joined. */
static int lines_compare_names(const struct line_name *x, const struct line_name *y)
{
    int order = strcmp(x->path, y->path);
    if (order == 0)
        order = x->file && y->file ? strcmp(x->file, y->file) : !x->file - !y->file;
    if (order == 0 && x->line != y->line)
        order = x->line < y->line ? -1 : 1;
    return order ? order : strcmp(x->function, y->function);
}

static bool lines_are_same(const struct line_name *x, const struct line_name *y)
{
    return x->file && lines_compare_names(x, y) == 0;
}

int lines_compare(const struct analysis *analysis, uint32_t x, uint32_t y)
{
    if (x == y || x >= PROFILE_SAMPLED || y >= PROFILE_SAMPLED)
        return (x < y) - (x > y);
    const int order = lines_compare_names(&analysis->lines[x], &analysis->lines[y]);
    const struct profile_site *s = &analysis->profile->sites[x], *t = &analysis->profile->sites[y];
    if (order)
        return order;
    if (s->offset != t->offset)
        return s->offset < t->offset ? -1 : 1;
    return s->inlined - t->inlined;
}

static int lines_compare_sites_by_name(const void *a, const void *b, void *data)
{
    return lines_compare(data, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* A line that was inlined in several places has no single outer place. */
static void lines_join_places(struct line_name *first, const struct line_name *other)
{
    if (!first->inlined || (other->inlined && strcmp(first->inlined, other->inlined) == 0))
        return;
    free(first->inlined);
    first->outer_line = 0;
    first->inlined = need_copy("several places", strlen("several places"));
}

void lines_join(struct analysis *analysis)
{
    struct profile *p = analysis->profile, *joined = profile_new();
    uint32_t *sorted = need_memory(p->site_count, sizeof *sorted), *first = need_memory(p->site_count, sizeof *first);
    for (uint32_t i = 0; i < p->site_count; i++)
        sorted[i] = i;
    if (p->site_count)
        qsort_r(sorted, p->site_count, sizeof *sorted, lines_compare_sites_by_name, analysis);
    for (size_t i = 0; i < p->site_count; i++) {
        const uint32_t site = sorted[i], before = i ? first[sorted[i - 1]] : site;
        const bool same = i && lines_are_same(&analysis->lines[before], &analysis->lines[site]);
        first[site] = same ? before : site;
        if (same)
            lines_join_places(&analysis->lines[before], &analysis->lines[site]);
    }
    for (size_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].site < PROFILE_SAMPLED)
            p->nodes[i].site = first[p->nodes[i].site];
    profile_merge(joined, p); /* sites and functions keep their numbers */
    profile_free(p);
    analysis->profile = joined;
    free(sorted);
    free(first);
}

char *lines_function(const struct line_name *line)
{
    return line->inlined ? need_text("%s, in %s", line->function, line->inlined)
                         : need_copy(line->function, strlen(line->function));
}

uint32_t lines_in_file(const struct analysis *analysis, const struct profile_node *node, const char *file)
{
    const struct line_name *line = lines_of_node(analysis, node);
    if (!line || !file)
        return 0;
    if (line->file && strcmp(line->file, file) == 0)
        return line->line;
    return line->outer_file && strcmp(line->outer_file, file) == 0 ? line->outer_line : 0;
}

const struct line_name *lines_of_node(const struct analysis *analysis, const struct profile_node *node)
{
    return analysis->lines && node->site < PROFILE_SAMPLED ? &analysis->lines[node->site] : NULL;
}
