/* How much of the stack the arguments of functions of other modules take, from their declarations. */
#ifndef DWELL_ARGUMENTS_STACK_ARGUMENTS_H
#define DWELL_ARGUMENTS_STACK_ARGUMENTS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function that takes a number of arguments that its declaration does not say. */
#define STACK_ARGUMENTS_ANY UINT64_MAX

struct stack_arguments_of {
    char *name;     /* linkage name */
    uint64_t bytes; /* at most; or STACK_ARGUMENTS_ANY */
};

struct stack_arguments {
    struct stack_arguments_of *list; /* by name */
    size_t count, room;
    bool aarch64; /* the module is for that machine, not for x86-64 */
};

/* Reads the declarations in the debug information of a module. There are none without it. */
struct stack_arguments stack_arguments_find(Dwfl_Module *module);
void stack_arguments_drop(struct stack_arguments *s);

/* The declaration of that name; NULL if there is none. */
const struct stack_arguments_of *stack_arguments_of(const struct stack_arguments *s, const char *name);

#endif
