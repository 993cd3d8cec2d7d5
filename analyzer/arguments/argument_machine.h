/* What depends on the machine when arguments are found. */
#ifndef DWELL_ARGUMENTS_ARGUMENT_MACHINE_H
#define DWELL_ARGUMENTS_ARGUMENT_MACHINE_H

#include "arguments/load_program.h"
#include "arguments/result_address.h"
#include "arguments/result_flow.h"
#include "arguments/spilled.h"
#include "arguments/stored.h"

/* Registers have their numbers in DWARF. */
struct argument_machine {
    unsigned general;               /* how many general registers there are, from 0 on */
    unsigned vector_first, vectors; /* likewise */
    unsigned frame, stack;
    unsigned long_double; /* bytes that count, of the 16 in memory */
    uint32_t lost;        /* a bit for each register that no longer has its value when the probe begins */
    uint32_t kept;        /* a bit for each register that calls preserve */
    const struct load_names *names;
    result_finder *find_result;
    result_address_finder *find_address; /* of a result in memory; NULL: that is found as a result itself */
    stored_finder *stored_before;
    spilled_finder *find_spilled; /* NULL: not looked for, as below */
    spilled_finder *find_entered;
};

/* The machine that a file is for; x86-64 if it is another one. */
const struct argument_machine *argument_machine_of(Elf *elf);

#endif
