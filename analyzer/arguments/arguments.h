/* The arguments and results of functions: where each can be read when the probes are called, by the debug information.
 */
#ifndef DWELL_ARGUMENTS_ARGUMENTS_H
#define DWELL_ARGUMENTS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments/argument_type.h"
#include "arguments/enum_names.h"
#include "arguments/hook_calls.h"
#include "arguments/load_program.h"
#include "arguments/missing.h"
#include "base/error.h"
#include "symbols/symbols.h"

/* A parameter, a part of one, or the result or a part of it. */
struct argument {
    char *name;
    char *type;
    enum argument_kind kind;
    uint64_t size; /* of the value in bytes; zero if unknown */
    bool result;
    struct enum_names names; /* of an enumeration */
};

/* How it is read at a call of a probe. */
struct argument_use {
    enum missing missing;
    struct load_program program; /* if it is not missing */
};

/* A call of a probe. Parameters are read at those of enters, results at those of exits. There is no result if an
 * exception goes on there. */
struct argument_site {
    struct hook_call call;
    bool inlined;              /* in another function's code */
    struct argument_use *uses; /* as many as there are arguments; unused ones are MISSING_NOT and have no program */
};

struct function_arguments {
    struct argument *list;
    size_t count, room;
    struct argument_site *sites;
    size_t site_count;
    const struct load_names *registers; /* of the machine; NULL without sites */
    char optimisation[8];               /* the compiler's option, such as "-O2"; empty if unknown */
};

struct argument_reader;

/* Reads a binary's code and debug information. If that is not possible, sets the error and returns NULL. The texts of
 * `module` must stay valid. */
struct argument_reader *arguments_open(struct binaries *b, const struct symbol_module *module, struct error *error);
void arguments_close(struct argument_reader *r);

/* Calls of probes whose function is not known. */
size_t arguments_unknown_calls(const struct argument_reader *r);

/* The functions that probes are called for, by address. *place is zero at first. False after the last one. */
bool arguments_next_function(const struct argument_reader *r, size_t *place, uint64_t *function);

/* Finds the parts that `what` names of a function, by its address in the file; without any, all parameters and the
 * result. If the debug information does not have them, sets the error; `f` must be dropped nevertheless. */
bool arguments_find(struct argument_reader *r, uint64_t function, char *const *what, size_t what_count,
                    struct function_arguments *f, struct error *error);
void function_arguments_drop(struct function_arguments *f);

#endif
