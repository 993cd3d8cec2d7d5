/* Where a variable is at an instruction, as the debug information says: in memory, in a register, or nowhere. */
#ifndef DWELL_ARGUMENTS_PLACE_H
#define DWELL_ARGUMENTS_PLACE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "arguments/argument_machine.h"
#include "arguments/load_program.h"
#include "arguments/missing.h"

enum { PLACE_PIECES = 12 };

/* Bytes of a variable. */
struct place_piece {
    uint64_t begin, size;
    bool known;
    bool is_value; /* the program leaves the bytes themselves, and not their address */
    bool of_frame; /* they are computed from the frame's address, and nothing is loaded */
    struct load_program program;
};

struct place {
    struct place_piece pieces[PLACE_PIECES];
    unsigned count;
    uint64_t offset; /* of the part that is meant */
    bool everywhere; /* the debug information states it for the whole function, whether it is stored already or not */
};

/* An instruction in a function. */
struct place_at {
    const struct argument_machine *machine;
    Dwarf_Die *function; /* that has the code; its frame base counts */
    Dwarf_Addr pc;       /* as in the debug information */
    Dwarf_Addr bias;     /* an address in the file less that in the debug information */
    Dwarf_CFI *frames;   /* NULL if there are none */
    Dwarf_Addr frames_pc;
};

/* The place of a variable. `variable` has a location or a constant. */
enum missing place_find(struct place *place, Dwarf_Die *variable, const struct place_at *at);

/* The frame's address there, where the caller's part of the stack begins. False if it is unknown. */
bool place_frame(const struct place_at *at, struct load_program *program);

/* A place of one piece. */
struct place place_of(const struct load_program *program, bool is_value);

/* Adds a piece of that size behind those that the place has. Without a program, it is nowhere. */
void place_add_piece(struct place *place, uint64_t size, const struct load_program *program, bool is_value);

/* The program that leaves the address of `size` bytes of the place. False if they do not lie together in memory. */
bool place_address(const struct place *place, uint64_t size, struct load_program *program);

/* The program that leaves `size` bytes of the place, 1 to 8, extended with zeros. */
enum missing place_load(const struct place *place, uint64_t size, struct load_program *program);

#endif
