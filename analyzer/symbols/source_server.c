/* Loads libdebuginfod if a server is set, as it loads some thirty other libraries, and asks for source files. */
#include "symbols/source_server.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/loaded_library.h"

/* Of elfutils/debuginfod.h, which is not needed to build. */
void *debuginfod_begin(void);
int debuginfod_find_source(void *client, const unsigned char *build_id, int length, const char *file, char **path);
void debuginfod_end(void *client);

#define SOURCE_SERVER_FUNCTIONS(X) X(debuginfod_begin) X(debuginfod_find_source) X(debuginfod_end)

char *source_server_find(const uint8_t *build_id, size_t length, const char *file)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers || !length || length > INT_MAX || *file != '/')
        return NULL;
    static const char *const functions[] = { LOADED_NAMES(SOURCE_SERVER_FUNCTIONS) };
    LOADED_LIBRARY(SOURCE_SERVER_FUNCTIONS) library;
    const enum loaded end =
        loaded_library_find("libdebuginfod.so.1", functions, sizeof functions / sizeof *functions, &library);
    void *client = end == LIBRARY_LOADED ? library.debuginfod_begin() : NULL;
    if (!client)
        return NULL;
    char *path = NULL;
    const int found = library.debuginfod_find_source(client, build_id, (int)length, file, &path);
    library.debuginfod_end(client);
    if (found < 0)
        return NULL;
    close(found);
    return path;
}
