/* Looks for libdwell.so in the build directory and in the installed place, and checks that it can be preloaded. */
#include "recorder/runtime_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/memory.h"

static char *runtime_library_path_in(const char *folder, const char *place)
{
    char *path = need_text("%s%s", folder, place);
    char *whole = realpath(path, NULL);
    free(path);
    return whole;
}

struct runtime_library runtime_library_find(void)
{
    static const char *const places[] = { "../runtime/libdwell.so.0", "../" DWELL_LIBDIR "/libdwell.so.0" };
    struct runtime_library library = { NULL, NULL };
    char *self = realpath("/proc/self/exe", NULL);
    if (!self) /* /proc may not be mounted */
        self = realpath((const char *)getauxval(AT_EXECFN), NULL);
    if (!self) {
        library.wrong = need_text("/proc/self/exe: %s", strerror(errno));
        return library;
    }
    *(strrchr(self, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places && !library.path; i++)
        library.path = runtime_library_path_in(self, places[i]);
    if (!library.path)
        library.wrong =
            need_text("libdwell.so.0 is neither in ../runtime nor in ../" DWELL_LIBDIR ", seen from %s", self);
    else if (strpbrk(library.path, ": "))
        library.wrong =
            need_text("%s: LD_PRELOAD takes no path with a blank or a colon; install dwell elsewhere", library.path);
    free(self);
    return library;
}
