/* What tells the files of loaded modules apart. The texts are in the module's memory. */
#ifndef DWELL_MODULE_IDENTITY_H
#define DWELL_MODULE_IDENTITY_H

#include <link.h>

#include "common.h"

#pragma GCC visibility push(hidden)

/* Empty if it has none. */
struct text module_build_id(const struct dl_phdr_info *info);

/* The loader's name of it, empty for the main program. */
struct text module_name(const struct dl_phdr_info *info);

#pragma GCC visibility pop

#endif
