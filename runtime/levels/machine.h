/* What depends on the machine when calls of the probes are rewritten: the forms that a call can have, and the order of
 * stores that changes one into another while threads may run it. */
#ifndef DWELL_LEVELS_MACHINE_H
#define DWELL_LEVELS_MACHINE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "levels/call_site.h"

#pragma GCC visibility push(hidden)

#if defined(__x86_64__)
enum { MACHINE_JUMP_SLOT = R_X86_64_JUMP_SLOT, MACHINE_GLOB_DAT = R_X86_64_GLOB_DAT };
#define MACHINE_REACH 0x7ff00000ull /* a stub must be as near to a call */
#define MACHINE_TWIN_STEP (1 << 24) /* calls of two targets that are so far apart differ in one byte */
enum { MACHINE_ORDERS_LOADS = true /* a thread that sees a word sees what was stored before it */ };
#else
enum { MACHINE_JUMP_SLOT = R_AARCH64_JUMP_SLOT, MACHINE_GLOB_DAT = R_AARCH64_GLOB_DAT };
#define MACHINE_REACH 0x7f00000ull
#define MACHINE_TWIN_STEP (1 << 24)
enum { MACHINE_ORDERS_LOADS = false };
#endif

/* The stubs of a module: code near to it that rewritten calls lead to. */
struct machine_stubs {
    uint64_t at[CALL_FORMS]; /* for CALL_OUT: it returns at once */
};

enum { MACHINE_STUB_BYTES = 64 };

/* Writes a stub that jumps to `target`, or one that returns if `target` is zero. */
void machine_write_stub(void *at, uint64_t target);

/* The same for a probe or a check. If the byte of `filter` for the function that it is called for is zero, the stub may
 * return at once: that is the byte at the function's address / 16 % MACHINE_FILTER_BYTES. NULL: there is no filter. */
enum { MACHINE_FILTER_BYTES = 4096 };
void machine_write_filtering_stub(void *at, uint64_t target, const uint8_t *filter);

/* The slot through which the code at `target` jumps, or zero if it is no such stub. */
uint64_t machine_stub_slot(uint64_t target, uint64_t end);

/* Where a direct call leads in its original form. Zero if it is none, or its target does not matter. */
uint64_t machine_call_target(const struct call_site *site);

/* Reads the direct call at the site's address, or the jump that is a last call: its length, its bytes, and where it
 * leads to. False if the code up to `end` begins with none. */
bool machine_read_call(struct call_site *site, uint64_t end, uint64_t *target);

/* The bytes of a form of the site. False if the form is not possible. `synchronizes`: all of the site can be changed,
 * by the order of machine_step. */
bool machine_form(const struct call_site *site, enum call_form form, const struct machine_stubs *stubs,
                  bool synchronizes, uint8_t bytes[MAX_CALL_BYTES]);

/* Whether the displacement of a direct call lies across cache lines. Then threads may run it while one of its bytes
 * changes, but not while several do: it can only lead to what is a multiple of MACHINE_TWIN_STEP away. */
bool machine_needs_twin(const struct call_site *site);

enum { COUNT_IN_PLACE_BYTES = 5 };

/* Whether the site can be counted in place. */
bool machine_counts_in_place(const struct call_site *site);

/* Whether programs may change the base of gs by an instruction; whether the system lets the process set it by a call.
 */
bool machine_has_gs(void);
bool machine_lets_set_gs(void);

/* Whether the code sets the base of gs itself: by wrgsbase, or by an instruction for the system call arch_prctl near
 * that call's number. Loads of the segment register are too short to tell them from other bytes. */
bool machine_code_sets_gs(const uint8_t *begin, const uint8_t *end);

/* How the bytes of a site can be changed. */
enum machine_change {
    MACHINE_SAME,
    MACHINE_AT_ONCE,  /* by one store */
    MACHINE_IN_STEPS, /* by MACHINE_STEPS steps, between which all processors synchronize */
    MACHINE_NEVER,
};

enum { MACHINE_STEPS = 3 };

/* `skippable`: calls may be left out while the site changes. */
enum machine_change machine_change_of(const struct call_site *site, const uint8_t *wanted, bool skippable);

/* Does a step of a change. One at once has only the first. */
void machine_step(const struct call_site *site, const uint8_t *wanted, enum machine_change change, int step);

/* What the loader adds to the protection of the module's code, which no list of mappings tells: on aarch64, that
 * indirect calls and jumps have to lead to landing pads (BTI). */
int machine_guard(const struct dl_phdr_info *info);

/* The changed code is visible to this processor. */
void machine_flush(uint64_t begin, uint64_t end);

#pragma GCC visibility pop

#endif
