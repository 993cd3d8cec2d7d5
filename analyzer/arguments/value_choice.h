/* Which values of which functions, as users type them: FUNCTION[:WHAT,...]. */
#ifndef DWELL_ARGUMENTS_VALUE_CHOICE_H
#define DWELL_ARGUMENTS_VALUE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/function_pattern.h"
#include "symbols/symbols.h"

struct value_choice {
    struct function_pattern function;
    char *text;
    char *parts; /* has the words of `what` */
    char **what;
    size_t count, room;
    size_t matches; /* functions so far */
};

/* If the text is not valid, sets the error; the choice must be dropped nevertheless. */
bool value_choice_parse(struct value_choice *c, const char *text, struct error *error);
void value_choice_drop(struct value_choice *c);

/* The colon before WHAT; NULL if there is none. Those of A::B, FILE:LINE and re:REGEX are the function's. */
char *value_choice_colon(char *text);

/* Separates WHAT from FUNCTION, which the text is then. Returns NULL if there is none. */
char *value_choice_take_what(char *text);

/* Whether the pattern names the module's function at that address, and then counts it. Returns its demangled name,
 * which the caller frees, or NULL. */
char *value_choice_take(struct value_choice *c, struct binaries *b, const struct symbol_module *module,
                        uint64_t function);

/* Whether it is a single name and no pattern. */
bool value_choice_is_name(const struct value_choice *c);

#endif
