/* Collects the strings and stacks of a Firefox profile, and writes them and the functions, modules and sources as JSON
 * tables, column by column. */
#include "export/firefox_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sources.h"
#include "base/index.h"
#include "base/json_text.h"
#include "base/memory.h"

enum { GUID_BYTES = 16 };

struct firefox_tables firefox_tables_begin(const struct analysis *session, const struct order *order)
{
    return (struct firefox_tables){ .session = session, .order = order, .stack_index = index_new() };
}

void firefox_tables_end(struct firefox_tables *t)
{
    intern_drop(&t->strings);
    index_free(t->stack_index);
    free(t->stacks);
}

uint32_t firefox_string(struct firefox_tables *t, const char *text)
{
    return intern(&t->strings, text, strlen(text));
}

uint32_t firefox_stack(struct firefox_tables *t, uint32_t parent_plus_1, uint32_t function,
                       enum firefox_category category)
{
    const uint32_t rank = function < t->session->profile->function_count ? t->order->ranks[function] : function;
    const uint32_t frame = rank * FIREFOX_CATEGORIES + category;
    struct index_slot *slot = index_find(t->stack_index, frame, parent_plus_1);
    if (slot->value_plus_1)
        return slot->value_plus_1;
    GROW(t->stacks, t->stack_count, t->stack_room);
    t->stacks[t->stack_count] = (struct firefox_row){ parent_plus_1, frame };
    index_set(t->stack_index, slot, frame, parent_plus_1, (uint32_t)t->stack_count);
    return (uint32_t)++t->stack_count;
}

/* ---- columns ---- */

/* Writes the value of a row. */
typedef void column_writer(struct firefox_tables *t, size_t row, FILE *out);

static void firefox_table_write_column(struct firefox_tables *t, const char *name, size_t count, column_writer *write,
                                       FILE *out)
{
    fprintf(out, "\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i)
            putc(',', out);
        write(t, i, out);
    }
    fputs("],", out);
}

static void firefox_put_null(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    (void)row;
    fputs("null", out);
}

static void firefox_put_zero(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    (void)row;
    putc('0', out);
}

static void firefox_put_one(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    (void)row;
    putc('1', out);
}

static void firefox_put_minus_one(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    (void)row;
    fputs("-1", out);
}

static void firefox_put_false(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    (void)row;
    fputs("false", out);
}

static void firefox_put_row(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    fprintf(out, "%zu", row);
}

/* ---- stacks and frames ---- */

static void firefox_put_stack_frame(struct firefox_tables *t, size_t row, FILE *out)
{
    fprintf(out, "%" PRIu32, t->stacks[row].frame);
}

/* Writes the distance to the row of the parent stack; 0 if there is none. */
static void firefox_put_stack_prefix(struct firefox_tables *t, size_t row, FILE *out)
{
    fprintf(out, "%zu", t->stacks[row].parent_plus_1 ? row + 1 - t->stacks[row].parent_plus_1 : 0);
}

static void firefox_write_stacks(struct firefox_tables *t, FILE *out)
{
    fputs("\"stackTable\":{", out);
    firefox_table_write_column(t, "frame", t->stack_count, firefox_put_stack_frame, out);
    firefox_table_write_column(t, "prefixOffset", t->stack_count, firefox_put_stack_prefix, out);
    fprintf(out, "\"length\":%zu},\n", t->stack_count);
}

static void firefox_put_frame_function(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    fprintf(out, "%zu", row / FIREFOX_CATEGORIES);
}

static void firefox_put_frame_category(struct firefox_tables *t, size_t row, FILE *out)
{
    (void)t;
    fprintf(out, "%zu", row % FIREFOX_CATEGORIES);
}

/* Writes a frame for each function and category. */
static void firefox_write_frames(struct firefox_tables *t, FILE *out)
{
    const size_t count = (t->session->profile->function_count + 1) * FIREFOX_CATEGORIES;
    fputs("\"frameTable\":{", out);
    firefox_table_write_column(t, "address", count, firefox_put_minus_one, out);
    firefox_table_write_column(t, "inlineDepth", count, firefox_put_zero, out);
    firefox_table_write_column(t, "category", count, firefox_put_frame_category, out);
    firefox_table_write_column(t, "subcategory", count, firefox_put_zero, out);
    firefox_table_write_column(t, "func", count, firefox_put_frame_function, out);
    firefox_table_write_column(t, "nativeSymbol", count, firefox_put_null, out);
    firefox_table_write_column(t, "innerWindowID", count, firefox_put_null, out);
    firefox_table_write_column(t, "line", count, firefox_put_null, out);
    firefox_table_write_column(t, "column", count, firefox_put_null, out);
    firefox_table_write_column(t, "originalLocation", count, firefox_put_null, out);
    fprintf(out, "\"length\":%zu},\n", count);
}

/* ---- functions, by rank; the unknown one comes last ---- */

static const struct function_name *firefox_row_function_name(const struct firefox_tables *t, size_t row)
{
    return row < t->session->profile->function_count ? &t->session->names[t->order->functions[row]] : NULL;
}

static void firefox_put_function_name(struct firefox_tables *t, size_t row, FILE *out)
{
    const struct function_name *name = firefox_row_function_name(t, row);
    fprintf(out, "%" PRIu32, firefox_string(t, name ? name->name : "[unknown]"));
}

static void firefox_put_function_resource(struct firefox_tables *t, size_t row, FILE *out)
{
    const struct profile *p = t->session->profile;
    if (row < p->function_count)
        fprintf(out, "%" PRIu32, t->order->module_ranks[p->functions[t->order->functions[row]].module]);
    else
        fputs("-1", out);
}

static void firefox_put_function_line(struct firefox_tables *t, size_t row, FILE *out)
{
    const struct function_name *name = firefox_row_function_name(t, row);
    if (name && name->line)
        fprintf(out, "%" PRIu32, name->line);
    else
        fputs("null", out);
}

static void firefox_write_functions(struct firefox_tables *t, const struct sources *sources, FILE *out)
{
    const size_t count = t->session->profile->function_count + 1;
    fputs("\"funcTable\":{", out);
    firefox_table_write_column(t, "name", count, firefox_put_function_name, out);
    firefox_table_write_column(t, "isJS", count, firefox_put_false, out);
    firefox_table_write_column(t, "relevantForJS", count, firefox_put_false, out);
    firefox_table_write_column(t, "resource", count, firefox_put_function_resource, out);
    fputs("\"source\":[", out);
    for (size_t i = 0; i < count; i++) {
        const uint32_t source = i + 1 < count ? sources->of[t->order->functions[i]] : 0;
        if (source)
            fprintf(out, "%s%" PRIu32, i ? "," : "", source - 1);
        else
            fputs(i ? ",null" : "null", out);
    }
    fputs("],", out);
    firefox_table_write_column(t, "lineNumber", count, firefox_put_function_line, out);
    firefox_table_write_column(t, "columnNumber", count, firefox_put_null, out);
    firefox_table_write_column(t, "originalLocation", count, firefox_put_null, out);
    fprintf(out, "\"length\":%zu},\n", count);
}

static void firefox_write_sources(struct firefox_tables *t, const struct sources *sources, FILE *out)
{
    const size_t count = sources->count - 1; /* number 0 stands for no file */
    fputs("\"sources\":{\"filename\":[", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : "", firefox_string(t, sources->paths[i + 1]));
    fputs("],", out);
    firefox_table_write_column(t, "id", count, firefox_put_null, out);
    firefox_table_write_column(t, "startLine", count, firefox_put_one, out);
    firefox_table_write_column(t, "startColumn", count, firefox_put_one, out);
    firefox_table_write_column(t, "sourceMapURL", count, firefox_put_null, out);
    firefox_table_write_column(t, "content", count, firefox_put_null, out);
    fprintf(out, "\"length\":%zu},\n", count);
}

/* ---- modules ---- */

static void firefox_put_module_name(struct firefox_tables *t, size_t row, FILE *out)
{
    char *name = names_module(t->session->profile->modules[t->order->modules[row]].path);
    fprintf(out, "%" PRIu32, firefox_string(t, name));
    free(name);
}

static void firefox_write_resources(struct firefox_tables *t, FILE *out)
{
    const size_t count = t->session->profile->module_count;
    fputs("\"resourceTable\":{", out);
    firefox_table_write_column(t, "lib", count, firefox_put_row, out);
    firefox_table_write_column(t, "name", count, firefox_put_module_name, out);
    firefox_table_write_column(t, "host", count, firefox_put_null, out);
    firefox_table_write_column(t, "type", count, firefox_put_one, out); /* 1 means library */
    fprintf(out, "\"length\":%zu},\n", count);
}

static void firefox_write_build_id(const struct profile_module *m, FILE *out)
{
    for (size_t i = 0; i < m->build_id_length; i++)
        fprintf(out, "%02x", m->build_id[i]);
}

/* Writes Breakpad's form of a build-id: its first bytes as a GUID, whose first three numbers are little-endian, and an
 * age. */
static void firefox_write_breakpad_id(const struct profile_module *m, FILE *out)
{
    static const uint8_t order[GUID_BYTES] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    if (!m->build_id_length)
        return;
    for (int i = 0; i < GUID_BYTES; i++)
        fprintf(out, "%02X", order[i] < m->build_id_length ? m->build_id[order[i]] : 0);
    putc('0', out);
}

void firefox_write_libs(const struct firefox_tables *t, FILE *out)
{
    const char *arch = t->session->file->header.machine == DWELL_MACHINE_AARCH64 ? "aarch64" : "x86_64";
    fputs("\"libs\":[", out);
    for (size_t i = 0; i < t->session->profile->module_count; i++) {
        const struct profile_module *m = &t->session->profile->modules[t->order->modules[i]];
        char *name = names_module(m->path), *quoted = json_text(name), *path = json_text(m->path);
        fprintf(out, "%s{\"arch\":\"%s\",\"name\":%s,\"path\":%s,\"debugName\":%s,\"debugPath\":%s,\"breakpadId\":\"",
                i ? ",\n" : "\n", arch, quoted, path, quoted, path);
        firefox_write_breakpad_id(m, out);
        fputs(m->build_id_length ? "\",\"codeId\":\"" : "\",\"codeId\":null}", out);
        firefox_write_build_id(m, out);
        fputs(m->build_id_length ? "\"}" : "", out);
        free(name);
        free(quoted);
        free(path);
    }
    fputs("],\n", out);
}

/* ---- the shared tables ---- */

void firefox_write_shared(struct firefox_tables *t, FILE *out)
{
    struct sources sources = sources_of(t->session);
    fputs("\"shared\":{\n", out);
    firefox_write_stacks(t, out);
    firefox_write_frames(t, out);
    firefox_write_functions(t, &sources, out);
    firefox_write_sources(t, &sources, out);
    firefox_write_resources(t, out);
    fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
          "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n\"stringArray\":[",
          out);
    for (size_t i = 0; i < t->strings.count; i++) {
        fputs(i ? ",\n" : "\n", out);
        json_put_text(out, t->strings.pieces[i].bytes);
    }
    fputs("]}", out);
    sources_drop(&sources);
}
