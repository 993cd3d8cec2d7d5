/* Where the address of a result in memory is at the probe of the exit, if the caller has passed it in a register. */
#ifndef DWELL_ARGUMENTS_RESULT_ADDRESS_H
#define DWELL_ARGUMENTS_RESULT_ADDRESS_H

#include "arguments/load_program.h"
#include "symbols/image.h"

enum { MOST_CODE_RANGES = 8 };

/* A function's code, of which the part at `entry` begins. */
struct function_code {
    uint64_t entry;
    struct code_range {
        uint64_t begin, end;
    } ranges[MOST_CODE_RANGES];
    unsigned count;
};

/* Makes the program that leaves that address at all calls of the function, those of the probe among them. False if the
 * code does not show that some register has it at all of them. */
typedef bool result_address_finder(const struct image *image, const struct function_code *code,
                                   struct load_program *program);

result_address_finder result_address_aarch64;

#endif
