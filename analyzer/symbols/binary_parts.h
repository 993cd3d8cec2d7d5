/* What libdw and the other modules of this floor know of a binary, for those that read more of it. */
#ifndef DWELL_SYMBOLS_BINARY_PARTS_H
#define DWELL_SYMBOLS_BINARY_PARTS_H

#include <elfutils/libdwfl.h>

#include "symbols/compile_units.h"
#include "symbols/image.h"
#include "symbols/symbols.h"

struct binary_parts {
    Dwfl_Module *module;
    struct units *units;
    const struct image *image;
};

/* The parts of a binary, valid as long as `b`. False if its file is missing or not the recorded one. */
bool binaries_parts(struct binaries *b, const struct symbol_module *module, struct binary_parts *parts);

#endif
