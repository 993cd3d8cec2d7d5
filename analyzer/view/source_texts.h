/* The text of the source files of a session's functions, as they are now, and the samples of their lines. */
#ifndef DWELL_VIEW_SOURCE_TEXTS_H
#define DWELL_VIEW_SOURCE_TEXTS_H

#include "analysis/order.h"
#include "view/blocks.h"

/* Makes the header's member "sources" and adds its block, in at most `most` bytes. The files of the functions with the
 * most exclusive time come first. Returns NULL if no file can be read. */
struct json_object *source_texts_make(const struct analysis *session, const struct order *order, size_t most,
                                      struct blocks *blocks);

#endif
