/* Texts that are kept permanently, each once: the names, paths and build-ids of modules. Equal ones have one address.
 */
#ifndef DWELL_KEPT_TEXTS_H
#define DWELL_KEPT_TEXTS_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* A copy of the text; an empty one without memory. Under the lock of the module map. */
struct text text_keep(struct text text);

#pragma GCC visibility pop

#endif
