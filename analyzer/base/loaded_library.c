/* Loads shared libraries when they are needed. */
#include "base/loaded_library.h"

#include <dlfcn.h>

enum loaded loaded_library_find(const char *library, const char *const *functions, size_t count, void *members)
{
    void **found = members; /* POSIX: pointers to functions and to data are alike */
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return LIBRARY_MISSING;
    enum loaded result = LIBRARY_LOADED;
    for (size_t i = 0; i < count; i++) {
        found[i] = dlsym(handle, functions[i]);
        if (!found[i])
            result = LIBRARY_LACKS_FUNCTIONS;
    }
    return result;
}
