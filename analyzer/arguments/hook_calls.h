/* The calls of the probes in a binary's code, and the function that each is about. */
#ifndef DWELL_ARGUMENTS_HOOK_CALLS_H
#define DWELL_ARGUMENTS_HOOK_CALLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/image.h"

struct hook_call {
    uint64_t function; /* the probe's first argument */
    uint64_t at, next; /* the instruction that calls the probe, and the one behind it */
    uint64_t begin;    /* of the code that the unwind table has as one function */
    bool exit;
    bool jump;    /* the last call of a function */
    bool unwinds; /* an exit by an exception */
};

struct hook_calls {
    struct hook_call *list; /* by function and address */
    size_t count, room;
    size_t unknown;     /* calls at enters whose function is not always the same, or of another module */
    bool other_machine; /* the code is for a machine that is not known, and was not read */
};

/* Reads all functions of the unwind table. Addresses are as in the file itself. */
struct hook_calls hook_calls_find(Elf *elf, const struct image *image);
void hook_calls_drop(struct hook_calls *h);

/* The index of the first call that is about the function or a later one. */
size_t hook_calls_first(const struct hook_calls *h, uint64_t function);

#endif
