/* The tables by which the modules and source files of symbols are found. */
#include "trace/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"

struct symbol_table {
    struct number_index *modules, *files; /* number to the index in the list */
    struct intern identities;             /* path, a zero byte, build-id */
    uint32_t *identity_of;                /* by module */
    size_t module_count, module_room;
    uint32_t file_count;
};

struct symbol_table *symbol_table_new(void)
{
    struct symbol_table *table = need_memory(1, sizeof *table);
    table->modules = index_new();
    table->files = index_new();
    return table;
}

void symbol_table_free(struct symbol_table *table)
{
    if (!table)
        return;
    index_free(table->modules);
    index_free(table->files);
    intern_drop(&table->identities);
    free(table->identity_of);
    free(table);
}

static void symbol_table_add_number(struct number_index *numbers, uint32_t number, uint32_t index)
{
    struct index_slot *slot = index_find(numbers, number, 0);
    if (!slot->value_plus_1)
        index_set(numbers, slot, number, 0, index);
}

void symbol_table_add_module(struct symbol_table *table, const struct trace_symbol_module *module)
{
    symbol_table_add_number(table->modules, module->number, (uint32_t)table->module_count);
    GROW(table->identity_of, table->module_count, table->module_room);
    table->identity_of[table->module_count++] =
        intern_pair(&table->identities, module->path, module->build_id, module->build_id_length);
}

void symbol_table_add_file(struct symbol_table *table, uint32_t number)
{
    symbol_table_add_number(table->files, number, table->file_count++);
}

uint32_t symbol_table_module(const struct symbol_table *table, uint32_t number)
{
    return index_find(table->modules, number, 0)->value_plus_1 - 1;
}

uint32_t symbol_table_identity(const struct symbol_table *table, const char *path, const uint8_t *build_id,
                               size_t build_id_length)
{
    return intern_find_pair(&table->identities, path, build_id, build_id_length);
}

uint32_t symbol_table_identity_of(const struct symbol_table *table, uint32_t module)
{
    return table->identity_of[module];
}

const char *symbol_table_path(const struct session_file *file, uint32_t number)
{
    const struct index_slot *slot = index_find(file->code.symbol_table->files, number, 0);
    return number && slot->value_plus_1 ? file->code.symbol_files[slot->value_plus_1 - 1].path : NULL;
}
