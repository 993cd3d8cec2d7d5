/* What an instruction on x86-64 does to a number in a register, if that can be taken back: additions of numbers, bytes
 * in the other order, shifts to the left and the like. */
#ifndef DWELL_ARGUMENTS_NUMBER_CHANGE_H
#define DWELL_ARGUMENTS_NUMBER_CHANGE_H

#include "arguments/load_program.h"
#include "arguments/operands.h"

/* The number of register `from` goes to register `to`, changed. */
struct change {
    uint8_t to, from;
    uint8_t bytes;  /* of the number that are changed */
    uint8_t shift;  /* by how many bits the number is shifted to the left */
    bool whole;     /* the lowest bytes depend on those above them */
    bool has_other; /* the number is taken back with register `other`, which has to be the same still */
    uint8_t other;
    uint8_t op; /* enum load_op: what takes it back, with `number` or the other register if it takes two words */
    int64_t number;
};

/* False if the instruction does anything else. */
bool change_parse(struct change *c, const struct operands *i, const uint8_t *code);

/* Appends what takes it back. The other register has the number `other` there. False if there are too many loads. */
bool change_undo(const struct change *c, unsigned other, struct load_program *program);

#endif
