/* Source files from the debuginfod servers that DEBUGINFOD_URLS names. */
#ifndef DWELL_SYMBOLS_SOURCE_SERVER_H
#define DWELL_SYMBOLS_SOURCE_SERVER_H

#include <stddef.h>
#include <stdint.h>

/* The path of a copy of the file in the client's cache. NULL if no server is set, the client's library is not
 * installed, or no server has the file. The caller frees it. */
char *source_server_find(const uint8_t *build_id, size_t length, const char *file);

#endif
