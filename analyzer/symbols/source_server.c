/* Loads libdebuginfod if a server is set, as it loads some thirty other libraries, and asks for source files. */
#include "symbols/source_server.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *server_begin(void);
typedef int server_find_source(void *client, const unsigned char *build_id, int length, const char *file, char **path);
typedef void server_end(void *client);

/* A function of the library. NULL if it has none of that name. */
static void *source_server_symbol(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

char *source_server_find(const uint8_t *build_id, size_t length, const char *file)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers || !length || length > INT_MAX || *file != '/')
        return NULL;
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL); /* stays loaded: its libraries have threads */
    server_begin *begin;
    server_find_source *find;
    server_end *end;
    *(void **)&begin = source_server_symbol(library, "debuginfod_begin");
    *(void **)&find = source_server_symbol(library, "debuginfod_find_source");
    *(void **)&end = source_server_symbol(library, "debuginfod_end");
    void *client = begin && find && end ? begin() : NULL;
    if (!client)
        return NULL;
    char *path = NULL;
    const int found = find(client, build_id, (int)length, file, &path);
    end(client);
    if (found < 0)
        return NULL;
    close(found);
    return path;
}
