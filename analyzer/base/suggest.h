/* Suggestions for a mistyped name. */
#ifndef DWELL_BASE_SUGGEST_H
#define DWELL_BASE_SUGGEST_H

#include <stddef.h>

/* The name that is most similar to `typed`, by the number of characters that are missing, added, wrong, or swapped with
 * their neighbour. If several are equally similar, it is the first. NULL if no name is similar enough. */
const char *suggest(const char *typed, const char *const *names, size_t count);

/* The same for a message: "; did you mean 'report'?", or `otherwise`. Valid until the next call by the same
 * thread. */
const char *suggestion(const char *typed, const char *const *names, size_t count, const char *otherwise);

/* The same for names in one text: "text, csv, json". */
const char *suggestion_of(const char *typed, const char *names, const char *otherwise);

#endif
