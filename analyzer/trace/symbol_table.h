/* Finds the modules and source files of a session's symbols by their numbers, and the modules by path and build-id. */
#ifndef DWELL_TRACE_SYMBOL_TABLE_H
#define DWELL_TRACE_SYMBOL_TABLE_H

#include "trace/session_file.h"

#define SYMBOL_TABLE_NONE UINT32_MAX

struct symbol_table;

struct symbol_table *symbol_table_new(void);
void symbol_table_free(struct symbol_table *table);

/* Add the next module or file of the session's list. If a number occurs twice, the first one counts. */
void symbol_table_add_module(struct symbol_table *table, const struct trace_symbol_module *module);
void symbol_table_add_file(struct symbol_table *table, uint32_t number);

/* The index of the module with that number in the list, or SYMBOL_TABLE_NONE. */
uint32_t symbol_table_module(const struct symbol_table *table, uint32_t number);

/* Modules of the same path and build-id have the same identity. The first one returns SYMBOL_TABLE_NONE if there is
 * none. */
uint32_t symbol_table_identity(const struct symbol_table *table, const char *path, const uint8_t *build_id,
                               size_t build_id_length);
uint32_t symbol_table_identity_of(const struct symbol_table *table, uint32_t module);

/* The path of the source file with that number, or NULL. */
const char *symbol_table_path(const struct session_file *file, uint32_t number);

#endif
