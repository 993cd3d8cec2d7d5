/* Functions of a shared library that is loaded when it is first needed: with the libraries that it needs, some take
 * longer to load than all of dwell.
 *
 *     #define PAPER_FUNCTIONS(X) X(paper_open) X(paper_close)
 *     static LOADED_LIBRARY(PAPER_FUNCTIONS) paper;
 *     static const char *const functions[] = { LOADED_NAMES(PAPER_FUNCTIONS) };
 *     if (loaded_library_find("libpaper.so.1", functions, sizeof functions / sizeof *functions, &paper))
 *         paper.paper_open();
 */
#ifndef DWELL_BASE_LOADED_LIBRARY_H
#define DWELL_BASE_LOADED_LIBRARY_H

#include <stddef.h>

#define LOADED_MEMBER(function) __typeof__(function) *function;
#define LOADED_NAME(function) #function,
#define LOADED_LIBRARY(list)                                                                                           \
    struct {                                                                                                           \
        list(LOADED_MEMBER)                                                                                            \
    }
#define LOADED_NAMES(list) list(LOADED_NAME)

enum loaded { LIBRARY_LOADED, LIBRARY_MISSING, LIBRARY_LACKS_FUNCTIONS };

/* Loads the library for the rest of the process' life, as some have threads, and stores its functions in a struct that
 * LOADED_LIBRARY has made of the same list. Not thread-safe for the same struct. */
enum loaded loaded_library_find(const char *library, const char *const *functions, size_t count, void *members);

#endif
