/* The parts of a demangled name that precede and follow the function's own name, and matching without them. */
#ifndef DWELL_SYMBOLS_SHORT_NAME_H
#define DWELL_SYMBOLS_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* A name's part without return type, parameters, and what follows them. For "int ns::twice<int>(int)" it is
 * "ns::twice<int>". It is the whole name if there is nothing to leave out. */
struct short_name {
    size_t begin, end; /* byte offsets in the name */
    size_t last;       /* where it begins without its namespaces and classes */
};

struct short_name short_name_find(const char *name);

/* That part as a text. The caller frees it. */
char *short_name_of(const char *name);

/* The length of a word such as "operator<<" or "operator()" at `at`, which is in `name`; zero if there is none. */
size_t short_name_operator(const char *name, const char *at);

typedef bool short_name_test(const char *form, const void *wanted);

/* True if the test holds for the whole name, or for the name without return type, without parameters, or without both.
 * The name as display_name shows it has these forms, too. Everything that compares functions' names with a user's text
 * calls this. */
bool short_name_matches(const char *name, short_name_test *test, const void *wanted);

/* Tests for short_name_matches: `wanted` is the same text; the name as a narrow table shows it, with "…" or "..." for
 * what was cut and "(anon)"; or a glob, the same text or one with "…". */
bool short_name_is_text(const char *form, const void *wanted);
bool short_name_is_elided(const char *form, const void *wanted);
bool short_name_is_glob(const char *form, const void *wanted);

#endif
