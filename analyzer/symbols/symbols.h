/*
 * Names for functions: from the symbols that the recording brought along, else from the binaries and their
 * debug information on this machine, where the build-id shows that they are the recorded ones.
 */
#ifndef DWELL_SYMBOLS_SYMBOLS_H
#define DWELL_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    const char *linkage_name; /* NULL: unknown */
    const char *file;         /* NULL: unknown */
    uint32_t line;            /* zero: unknown */
};

/* A file of code as recorded. */
struct symbol_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
};

/* ---- from binaries ---- */

struct binaries;

struct binaries *binaries_new(void);
void binaries_free(struct binaries *b);

/* What is at `offset`, an address in the file's own terms. The texts live as long as `b`. A file that is
 * missing, or not the recorded one, is told once on stderr, and has no symbols. Not for several threads. */
struct symbol binaries_find(struct binaries *b, const struct symbol_module *module, uint64_t offset);

/* Where in the source a call was made; NULL and zero: unknown. */
struct symbol_site {
    const char *function; /* linkage name of the one that it is written in, */
    const char *file;     /* and where */
    uint32_t line;
    const char *outer; /* that one is inlined, at last in this one: NULL, if it is not; */
    const char *outer_file;
    uint32_t outer_line; /* there */
};

/* Of the call that returns to `offset`; `inlined`: of the inlined call in whose place that is. Texts as above. */
struct symbol_site binaries_site(struct binaries *b, const struct symbol_module *module, uint64_t offset, bool inlined);

/* How many functions the file has, if it is instrumented at all; else zero. */
size_t binaries_count(struct binaries *b, const struct symbol_module *module);

/* The address of the i-th of them, in the file's own terms; in ascending order, each address once or more. */
uint64_t binaries_offset(struct binaries *b, const struct symbol_module *module, size_t i);

/* ---- names for people ---- */

/* A linkage name demangled (C++, Rust, D), or as it is; to be freed by the caller. */
char *symbol_demangle(const char *linkage_name);

#endif
