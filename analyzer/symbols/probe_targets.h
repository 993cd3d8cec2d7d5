/* Where calls of the probes lead in a binary: to the probe itself, to a slot that a relocation names, or to a stub of
 * the linker that jumps through such a slot. */
#ifndef DWELL_SYMBOLS_PROBE_TARGETS_H
#define DWELL_SYMBOLS_PROBE_TARGETS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/code_machine.h"
#include "symbols/image.h"

enum probe_kind { PROBE_ENTER, PROBE_EXIT, PROBE_KINDS, PROBE_NONE = -1 };

enum { PROBE_SLOTS = 4 }; /* of each probe */

struct probe_targets {
    const struct code_machine *machine;
    uint64_t probes[PROBE_KINDS]; /* those in the file itself; zero if there are none */
    uint64_t slots[PROBE_KINDS][PROBE_SLOTS];
    unsigned slot_count[PROBE_KINDS];
    uint64_t resume_slot; /* of what goes on with an exception; zero if there is none */
};

/* Reads the symbols and relocations. False if the file has no probe at enters, or is for a
 * machine whose code is not read. */
bool probe_targets_find(struct probe_targets *t, Elf *elf);

/* Whether the file has functions with probes. */
bool probe_targets_any(Elf *elf);

/* The probe that an instruction calls or jumps to: enum probe_kind. *other is set if it goes anywhere else. */
int probe_target_of(const struct probe_targets *t, const struct image *image, const struct code_insn *insn,
                    bool *other);

/* The slot through which the linker's stub at an address jumps; zero if there is no such stub. */
uint64_t probe_slot_of_stub(const struct probe_targets *t, const struct image *image, uint64_t address);

/* Whether an instruction calls what goes on with an exception. */
bool probe_target_resumes(const struct probe_targets *t, const struct image *image, const struct code_insn *insn);

#endif
