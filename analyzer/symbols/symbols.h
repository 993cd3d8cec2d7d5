/* Names of functions and source lines from the binaries on this machine and their debug information. A binary is used
 * only if its build-id shows that it is the recorded one. */
#ifndef DWELL_SYMBOLS_SYMBOLS_H
#define DWELL_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct symbol {
    const char *linkage_name; /* NULL if unknown */
    const char *file;         /* NULL if unknown */
    uint32_t line;            /* zero if unknown */
    uint64_t size;            /* bytes of code; zero if unknown */
};

/* A program or library, as recorded. */
struct symbol_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length;
};

/* Whether both have the same build-id, or none. */
static inline bool symbol_module_has_id_of(const struct symbol_module *a, const struct symbol_module *b)
{
    return a->build_id_length == b->build_id_length &&
           (!a->build_id_length || memcmp(a->build_id, b->build_id, a->build_id_length) == 0);
}

/* Whether both have the same path, and the same build-id or none. */
static inline bool symbol_module_equals(const struct symbol_module *a, const struct symbol_module *b)
{
    return symbol_module_has_id_of(a, b) && strcmp(a->path, b->path) == 0;
}

/* ---- from binaries ---- */

struct binaries;

struct binaries *binaries_new(void);

/* The same without reports on stderr about files that cannot be used. */
struct binaries *binaries_new_quiet(void);
void binaries_free(struct binaries *b);

/* From now on files are reported, or not. Those that were not are reported when they are needed again. */
void binaries_be_quiet(struct binaries *b, bool quiet);

/* The symbol at `offset`, an address as in the file itself. Its texts are valid as long as `b`. A file that is missing
 * or not the recorded one has no symbols, and is reported on stderr once. Not thread-safe. */
struct symbol binaries_find(struct binaries *b, const struct symbol_module *module, uint64_t offset);

/* The same without file and line. It reads no debug information. */
struct symbol binaries_find_name(struct binaries *b, const struct symbol_module *module, uint64_t offset);

/* Whether the file itself has debug information. That of libc is in another file, and takes a tenth of a second to
 * read. */
bool binaries_has_lines(struct binaries *b, const struct symbol_module *module);

/* The position in the source of a call. NULL and zero if unknown. */
struct symbol_site {
    const char *function; /* linkage name of the function that contains the call in the source */
    const char *file;
    uint32_t line;
    const char *outer; /* linkage name of the function into which `function` is inlined; NULL if it is not inlined */
    const char *outer_file;
    uint32_t outer_line;
};

/* The site of the call that returns to `offset`, or of the inlined call at `offset` if `inlined`. Texts as above. */
struct symbol_site binaries_site(struct binaries *b, const struct symbol_module *module, uint64_t offset, bool inlined);

/* The number of functions of the file; zero if it is not instrumented. */
size_t binaries_count(struct binaries *b, const struct symbol_module *module);

/* The address of the i-th function, as in the file itself. Addresses ascend, and may be repeated. */
uint64_t binaries_offset(struct binaries *b, const struct symbol_module *module, size_t i);

/* What the code at `offset` is: unknown, part of a function, or a stub through which calls of other modules go. */
enum code_kind { CODE_UNKNOWN, CODE_OF_FUNCTION, CODE_OF_STUB };

/* Sets *begin to that of the function: by the symbols, or else by the unwind table. Code between functions counts as
 * one of its own. */
enum code_kind binaries_function(struct binaries *b, const struct symbol_module *module, uint64_t offset,
                                 uint64_t *begin);

/* The module's table for unwinding (.eh_frame_hdr): its address as in the file itself, and the number of its functions.
 * False if it has none. */
bool binaries_unwind_table(struct binaries *b, const struct symbol_module *module, uint64_t *address, uint32_t *count);

/* Copies bytes that are loaded at an address as in the file itself. False if they are not in the file. */
bool binaries_read(struct binaries *b, const struct symbol_module *module, uint64_t address, void *into, size_t size);

/* The linkage name of the variable that contains an address as in the file itself. NULL if there is none. *inside is
 * the distance from its start. */
const char *binaries_variable(struct binaries *b, const struct symbol_module *module, uint64_t address,
                              uint64_t *inside);

/* ---- names for people ---- */

/* A linkage name, demangled (C++, Rust, D, Fortran) if it is mangled. If that takes more than 128 bytes a byte of the
 * name, or too many steps, the name is unchanged. The caller frees it. */
char *symbol_demangle(const char *linkage_name);

/* The same for a function of this source file, which may be NULL. Ada's names look like those of C, so only files whose
 * names end as GNAT wants it have them. */
char *symbol_demangle_of_file(const char *linkage_name, const char *file);

#endif
