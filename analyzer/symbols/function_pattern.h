/* Patterns that select functions, as the filters of `dwell record` and of views take them. */
#ifndef DWELL_SYMBOLS_FUNCTION_PATTERN_H
#define DWELL_SYMBOLS_FUNCTION_PATTERN_H

#include <regex.h>

#include "base/error.h"
#include "symbols/typed_name.h"

/* A name with a place (typed_name.h) as globs, re:REGEX, file:GLOB, module:GLOB or GLOB!PATTERN. */
struct function_pattern {
    char *text;           /* as typed */
    char *module;         /* glob; NULL for any */
    char *file;           /* glob of a source file; NULL for any */
    char *name;           /* glob, also with a place; NULL for any */
    char *nearest;        /* the most similar name so far; NULL if there is none */
    char *nearest_module; /* file name of one that has the function, and a name like the typed one; NULL if none does */
    regex_t regex;
    bool by_regex;
};

/* If the text is not valid, sets the error; the pattern must be dropped nevertheless. */
bool function_pattern_parse(struct function_pattern *p, const char *text, struct error *error);
void function_pattern_drop(struct function_pattern *p);

/* `path` is that of the function's module. */
bool function_pattern_matches(const struct function_pattern *p, const char *path, const struct named_function *f);

/* For a pattern that has matched nothing yet: keeps the function's name, or its module's, if it is the most similar
 * one. `path` is that of the module. */
void function_pattern_note_similar(struct function_pattern *p, const char *path, const struct named_function *f);

/* A hint with what is most similar for a message, as suggestion() makes it, or `otherwise`. Valid until the
 * next call by the same thread. */
const char *function_pattern_hint(const struct function_pattern *p, const char *otherwise);

/* A name as a glob that matches nothing else. The caller frees it. */
char *function_pattern_escape(const char *name);

#endif
