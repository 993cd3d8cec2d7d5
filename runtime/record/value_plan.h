/* What is read when functions are called (`dwell record --values`), as the recorder has put it into the session. */
#ifndef DWELL_VALUE_PLAN_H
#define DWELL_VALUE_PLAN_H

#include "common.h"
#include "dwell/format.h"
#include "load_run.h"

#pragma GCC visibility push(hidden)

enum { VALUE_REGISTERS = 8 };

/* A value in a register: to be shifted to the left, and back with zeros or its sign. */
struct value_register {
    uint8_t number; /* in the order of DWARF */
    uint8_t shift;
    bool is_signed;
};

/* Values that are all in registers or cannot be read, so that no program has to run. */
struct value_registers {
    bool all; /* false if some are elsewhere */
    uint8_t count;
    uint32_t unread; /* a bit for each value that cannot be read */
    struct value_register list[VALUE_REGISTERS];
};

/* A call of a probe in a loaded module. */
struct value_site {
    uint64_t address; /* behind the call; zero while the slot is free, and stored last */
    uint64_t bias;    /* of the module */
    uint32_t number;  /* in the plan */
    struct value_registers registers;
};

/* Whether a program of the plan uses vector registers, and whether one reads memory. */
extern bool value_plan_has_vectors, value_plan_has_memory;

/* Reads the plan in the session `fd`. It outlives a fork. */
void value_plan_begin(int fd);

/* Adds what the plan chunk at an offset has besides, and takes over which functions it has changed. The chunk begins
 * with the functions that are known, or with some of them. False if it does not, or without memory. In the helper. */
bool value_plan_add(int fd, uint64_t offset);

enum value_plan_reads { VALUES_NONE, VALUES_ENTERS, VALUES_ENTERS_AND_RESULTS };

/* Takes a function whose calls of the enter's probe, and of the exit's if it has results, lead to stubs for values; or
 * neither of them does any more. */
typedef bool value_plan_taker(void *context, uint64_t function, enum value_plan_reads reads);

/* The functions that the plan has of a module. From then on, value_plan_find knows their calls. False if there was no
 * room for all, or `take` has refused one. One thread at a time. Calls that are known already can be found meanwhile.
 */
bool value_plan_use_module(struct text build_id, struct text path, uint64_t bias, value_plan_taker *take,
                           void *context);

/* The call behind which a probe returns; NULL if it is not known. Any thread, any time. */
const struct value_site *value_plan_find(uint64_t probe_return);

/* The programs of a site's values, one behind the other: each is a struct dwell_value_loads with its loads, which
 * load_run can run if there are any. Returns their number. */
uint32_t value_plan_loads(uint32_t site, const struct dwell_value_loads **first);

/* How many bytes of a site's texts are kept: at most DWELL_VALUES_TEXT_MOST. */
uint32_t value_plan_text_bytes(uint32_t site);

static inline const struct dwell_value_loads *value_plan_next(const struct dwell_value_loads *loads)
{
    return (const struct dwell_value_loads *)((const char *)(loads + 1) + loads->count * sizeof(struct dwell_load));
}

static inline const struct load_program *value_plan_program(const struct dwell_value_loads *loads)
{
    return (const struct load_program *)loads;
}

_Static_assert(offsetof(struct load_program, loads) == sizeof(struct dwell_value_loads), "a program is as in the file");
_Static_assert(sizeof(struct load) == sizeof(struct dwell_load), "a load is as in the file");
_Static_assert(offsetof(struct load, number) == offsetof(struct dwell_load, number), "a load is as in the file");

#pragma GCC visibility pop

#endif
