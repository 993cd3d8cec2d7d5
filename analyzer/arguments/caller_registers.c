#include "arguments/caller_registers.h"

#include <string.h>

#include "arguments/argument_type.h"
#include "arguments/function_parameters.h"

enum { VECTORS = 8, WORD = 8, LONG_DOUBLE = 16 };

static const uint8_t caller_generals[] = { 7, 6, 2, 1, 8, 9 }; /* rdi, rsi, rdx, rcx, r8, r9 */

/* Goes through the parameters, and counts the registers that the caller passes them in. */
struct register_search {
    const char *name;
    unsigned generals, vectors;
    struct caller_registers found;
    bool has_found;
};

/* Takes the next register. False if there is none. */
static bool register_take(struct register_search *s, bool vector, uint64_t size)
{
    struct spilled_parameter *word = &s->found.words[s->found.count];
    unsigned *next = vector ? &s->vectors : &s->generals;
    if (*next >= (vector ? (unsigned)VECTORS : (unsigned)sizeof caller_generals))
        return false;
    *word = (struct spilled_parameter){ .vector = vector, .size = size };
    word->number = vector ? *next : caller_generals[*next];
    ++*next;
    s->found.count++;
    return true;
}

/* A class comes in registers only if there are enough for all of its words. */
static bool register_take_class(struct register_search *s, Dwarf_Die *type)
{
    const struct passing passing = passing_of_class(type);
    const uint64_t size = type_size(type);
    const unsigned generals = s->generals, vectors = s->vectors;
    bool taken = true;
    if (!passing.known)
        return false;
    if (passing.by_address) {
        s->found.is_address = true;
        register_take(s, false, WORD);
        return true;
    }
    for (unsigned i = 0; i < PASSING_WORDS && i * WORD < size && !passing.in_memory && taken; i++) {
        const uint64_t left = size - i * WORD;
        taken = passing.words[i] != PASSING_NOTHING &&
                register_take(s, passing.words[i] == PASSING_VECTOR, left < WORD ? left : WORD);
    }
    if (!taken) { /* it is on the stack, or has bytes that nobody needs */
        s->generals = generals;
        s->vectors = vectors;
        s->found.count = 0;
    }
    return passing.in_memory || taken || passing.words[0] != PASSING_NOTHING;
}

static bool register_take_parameter(void *data, Dwarf_Die *parameter)
{
    struct register_search *s = data;
    const char *name = parameter_name(parameter);
    Dwarf_Die type;
    s->found = (struct caller_registers){ .count = 0 };
    if (!type_of(parameter, &type) || !type_strip(&type))
        return false;
    const enum argument_kind kind = type_kind(&type);
    const uint64_t size = type_size(&type);
    if (type_is_class(&type)) {
        if (!register_take_class(s, &type))
            return false;
    } else if (kind != ARGUMENT_FLOAT || size != LONG_DOUBLE) { /* which is on the stack */
        if (kind == ARGUMENT_NONE || !size || size > WORD)
            return false;
        if (register_take(s, kind == ARGUMENT_FLOAT, size))
            s->found.words[0].is_bool = kind == ARGUMENT_BOOL;
    }
    s->has_found = name && strcmp(name, s->name) == 0;
    return !s->has_found;
}

/* A result in memory has its address in the first register. */
bool caller_registers_find(const Dwarf_Die *function, const char *name, struct caller_registers *found)
{
    struct register_search search = { .name = name };
    Dwarf_Die die = *function, type;
    if (type_of(&die, &type) && type_strip(&type) && type_is_class(&type)) {
        const struct passing passing = passing_of_class(&type);
        if (!passing.known)
            return false;
        search.generals = passing.by_address || passing.in_memory;
    }
    function_each_parameter(function, register_take_parameter, &search);
    *found = search.found;
    return search.has_found && found->count > 0;
}
