/* How the values of registers flow through one function's code on x86-64: its instructions, as far as they matter, and
 * what is known where jumps lead. */
#ifndef DWELL_LEVELS_FLOW_X86_H
#define DWELL_LEVELS_FLOW_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/probe_calls.h"
#include "levels/x86_decode.h"
#include "levels/x86_stack.h"

#pragma GCC visibility push(hidden)

enum { FLOW_SLOTS = 24, FLOW_PLACES = X86_REGISTERS + FLOW_SLOTS };

/* An address on the stack is the distance from where the stack pointer was at the code's begin, or this. */
enum { FLOW_NOWHERE = INT32_MIN };

/* Constants that the general registers hold, and the slots of the stack that registers with constants are spilled to.
 */
struct flow_values {
    uint64_t of[FLOW_PLACES];
    uint64_t known;   /* a bit for each place that always holds the same constant */
    int32_t stack[2]; /* addresses that rsp and rbp hold: see flow_base */
    bool reached;
};

enum flow_kind {
    FLOW_WRITES, /* registers change */
    FLOW_TARGET, /* a jump leads here */
    FLOW_CONSTANT,
    FLOW_COPY,
    FLOW_CALL,
    FLOW_BRANCH,   /* to a target in the code */
    FLOW_JUMP,     /* the same */
    FLOW_JUMP_ANY, /* to an address that is computed */
    FLOW_END,      /* the next instruction does not follow */
    FLOW_RESUME,   /* the first instruction after an end, without padding */
    FLOW_SITE,     /* a probe is called */
    FLOW_MOVE,     /* the stack pointer moves */
    FLOW_LEAVE,    /* the same, elsewhere */
    FLOW_SPILL,    /* a register is stored in a slot of the stack */
    FLOW_STORE,    /* the same, but a constant */
    FLOW_FILL,     /* a register is loaded from there */
};

/* An instruction that matters. */
struct flow_insn {
    uint64_t value; /* a constant, the offset of a target, or the number of a site; what the stack pointer moves */
    uint32_t offset;
    int32_t displacement;    /* of memory */
    uint16_t writes;         /* registers */
    uint8_t kind, registers; /* enum flow_kind; `to`, and `from` in the upper half. Memory has its base there. */
};

/* Instructions that change registers, and the next one that does more. */
struct flow_event {
    uint64_t value;  /* a constant; what the stack pointer moves */
    uint32_t number; /* of a target or a site */
    int32_t displacement;
    uint16_t writes;
    bool calls, others; /* there are calls among them, and such of other functions than probes */
    uint8_t kind, to, from;
};

struct flow {
    const struct hook_places *places;
    const struct unwind_range *range;
    struct call_sites *sites;
    uint32_t first_site;
    struct flow_insn *insns;
    uint32_t insn_count;
    uint64_t *targets; /* a bit for each byte of the code: a jump leads there */
    uint64_t *starts;  /* the same: an instruction begins there */
    uint32_t *ranks;   /* for each word of bits: the number of targets before it */
    uint64_t words;
    struct flow_event *events;
    uint32_t event_count;
    struct flow_values *at; /* for each target */
    uint32_t target_count;
    uint32_t arrived;               /* targets that lie above, in a pass */
    bool strict;                    /* nothing is known after a call, as the next instruction may not follow it */
    bool indirect;                  /* there is a jump to an address that is computed */
    struct flow_values at_indirect; /* the values at that jump */
    bool changed;
    bool fills;                /* registers are loaded from the stack */
    bool follows_stack;        /* the events have what happens to it */
    bool finds_slots;          /* slots are added to the list, and nothing is known of them yet */
    int32_t slots[FLOW_SLOTS]; /* their addresses */
    uint32_t slot_count;
};

enum flow_result { FLOW_READ, FLOW_UNREADABLE, FLOW_NO_MEMORY };

/* Decodes all instructions, and adds the calls of the probes to the sites, without their functions. */
enum flow_result flow_read(struct flow *f);

/* Makes the list of events, with those of the stack if `follows_stack`. */
enum flow_result flow_make_events(struct flow *f);

/* The target that lies at this offset. */
uint32_t flow_target(const struct flow *f, uint64_t offset);

/* Adds the instruction if it is a site. False without memory. */
bool flow_add_site(struct flow *f, uint64_t address, const struct x86_insn *insn);

/* The hook that is called, or HOOK_NONE. */
int flow_hook(const struct flow *f, const struct x86_insn *insn);

/* Whether the probe's address comes into a register, by which it may be called. */
bool flow_loads_enter(const struct flow *f, const struct x86_insn *insn);

/* Whether a call of this form can be rewritten. An enter is no last call. */
static inline bool flow_is_usual(const struct call_site *site)
{
    return site->length >= 5 && site->length <= 6 && !(site->jump && site->hook == HOOK_ENTER);
}

static inline bool flow_decode(const struct flow *f, uint64_t address, struct x86_insn *insn)
{
    return x86_decode((const uint8_t *)address, f->range->end - address, address, insn);
}

static inline bool flow_is_inside(const struct flow *f, uint64_t address)
{
    return address - f->range->begin < f->range->end - f->range->begin;
}

#pragma GCC visibility pop

#endif
