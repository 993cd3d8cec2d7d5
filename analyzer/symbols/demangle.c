/* Demangles linkage names of C++, Rust and D. */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/symbols.h"

char *symbol_demangle(const char *linkage_name)
{
    char *name = NULL;
    if (linkage_name[0] == '_')
        name = cplus_demangle(linkage_name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    return name ? name : need_copy(linkage_name, strlen(linkage_name));
}
