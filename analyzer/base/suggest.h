/* What somebody may have meant who typed a name that does not exist. */
#ifndef DWELL_BASE_SUGGEST_H
#define DWELL_BASE_SUGGEST_H

#include <stddef.h>

/* The one of the names that is most like `typed`, by the fewest characters that are missing, too many, wrong, or
 * swapped with their neighbour; the first of several. NULL: none is near enough. */
const char *suggest(const char *typed, const char *const *names, size_t count);

/* The same for a message: "; did you mean 'report'?", or else `otherwise`. Valid until the next call. */
const char *suggestion(const char *typed, const char *const *names, size_t count, const char *otherwise);

/* Likewise, of names in one text: "text, csv, json". */
const char *suggestion_of(const char *typed, const char *names, const char *otherwise);

#endif
