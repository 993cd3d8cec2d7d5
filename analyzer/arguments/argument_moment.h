/* Where the parameters and the result of a function are while one of its probes is called. */
#ifndef DWELL_ARGUMENTS_ARGUMENT_MOMENT_H
#define DWELL_ARGUMENTS_ARGUMENT_MOMENT_H

#include "arguments/argument_path.h"
#include "arguments/hook_calls.h"
#include "arguments/place.h"
#include "symbols/scopes.h"

/* A function whose probes are looked at. */
struct moment_function {
    struct units *units;
    const struct image *image;
    const struct argument_machine *machine;
    Dwarf_CFI *frames;
    Dwarf_Addr frames_bias;
    Dwarf_Die origin; /* what copies of its code are made from */
    const char *name;
};

/* A call of a probe, with the function around it. */
struct argument_moment {
    const struct moment_function *function;
    struct scope_chain chain;
    int own; /* the function's place in the chain; -1 if it is not in it */
    struct place_at at;
    const struct hook_call *call;
};

/* The function that a copy of its code is made from. */
Dwarf_Die function_origin(const Dwarf_Die *function);

/* `m` must stay where it is. */
void moment_find(struct argument_moment *m, const struct moment_function *f, const struct hook_call *call);

/* Finds the place of a parameter, or of the result, whose type the part has. */
enum missing moment_place_parameter(const struct argument_moment *m, const char *name, struct argument_part *part);
enum missing moment_place_result(const struct argument_moment *m, struct argument_part *part);

#endif
