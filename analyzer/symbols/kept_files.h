/* Files of programs that are recorded, kept open: they may be removed or replaced before their names are read. */
#ifndef DWELL_SYMBOLS_KEPT_FILES_H
#define DWELL_SYMBOLS_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symbols.h"

/* Keeps a module's file, by its descriptor. Closes that one if the file is kept already, if it has no build-id, or if
 * there are too many. Any thread. */
void kept_file_add(const struct symbol_module *module, int fd);

/* Opens the kept file with the module's build-id. Returns a new descriptor; -1 if there is none. The caller closes it.
 */
int kept_file_open(const struct symbol_module *module);

/* Waits for the i-th kept file. False if kept_files_end was called. The texts of *module are valid permanently. */
bool kept_file_await(size_t i, struct symbol_module *module);

/* Nobody waits for files any more. */
void kept_files_end(void);

#endif
