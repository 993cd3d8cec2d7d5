/*
 * Functions as users type them: NAME, NAME@MODULE, NAME@FILE, NAME@FILE:LINE, NAME@0xADDRESS or
 * NAME@0xADDRESS:BUILD-ID. A place after '@' tells functions of one name apart.
 */
#ifndef DWELL_SYMBOLS_TYPED_NAME_H
#define DWELL_SYMBOLS_TYPED_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/short_name.h"

/* What is known of a function that a text can name. */
struct named_function {
    const char *name;         /* demangled */
    const char *linkage_name; /* NULL if unknown */
    const char *module;       /* file name without folders; NULL if unknown */
    const char *file;         /* source file; NULL if unknown */
    uint32_t line;            /* zero if unknown */
    uint64_t address;         /* in the module's file; zero if unknown */
    const uint8_t *build_id;  /* of the module */
    size_t build_id_length;   /* zero if unknown */
};

/* As many bytes of a build-id tell builds apart. */
enum { TYPED_BUILD_ID = 6 };

/* Whether the function is at that place: its module, its source file with or without folders, FILE:LINE, or 0xADDRESS,
 * which may be followed by the first TYPED_BUILD_ID bytes of the build-id. Module and file are compared by the test. */
bool typed_place_matches(const struct named_function *f, short_name_test *test, const char *place);

/* Whether the text names the function. Names are compared as by short_name_matches, and linkage names as a whole. */
bool typed_name_matches(const struct named_function *f, short_name_test *test, const char *text);

/* The '@' before the place in a text; NULL if it has none. */
const char *typed_place_of(const char *text);

#endif
