/* Files of programs that are recorded, kept open: they may be removed before their names are read. */
#ifndef DWELL_SYMBOLS_KEPT_FILES_H
#define DWELL_SYMBOLS_KEPT_FILES_H

#include <stddef.h>

/* Keeps a file, which is or was at `path`, by its descriptor. Closes that one if the file is kept already, or if there
 * are too many. Any thread. */
void kept_file_add(const char *path, int fd);

/* Opens the i-th kept file that was at `path`. Returns a new descriptor; -1 if there is none. The caller closes it. */
int kept_file_open(const char *path, size_t i);

#endif
