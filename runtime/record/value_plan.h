/* What is read when functions are called (`dwell record --values`), as the recorder has put it into the session. */
#ifndef DWELL_VALUE_PLAN_H
#define DWELL_VALUE_PLAN_H

#include "common.h"
#include "dwell/format.h"
#include "load_run.h"
#include "value_source.h"

#pragma GCC visibility push(hidden)

enum { VALUE_SOURCES = 8, VALUE_SLOTS = 4 * DWELL_VALUES_SITES /* a power of two */ };

/* What the stub of a probe saves besides the registers that functions preserve, and the stack pointer. */
enum value_saves {
    VALUE_SAVES_OTHERS = 1,
    VALUE_SAVES_VECTORS = 2 /* and the others */
};

/* How the values of a site are read. It does not change. */
struct value_reads {
    uint32_t site;                              /* its number in the plan, of all functions */
    uint32_t unread;                            /* a bit for each value that cannot be read */
    uint32_t text_bytes;                        /* of a text that are kept: at most DWELL_VALUES_TEXT_MOST */
    uint8_t saves;                              /* enum value_saves: what it needs */
    bool by_programs;                           /* `list` does not have all of them: programs are run */
    bool in_registers;                          /* `list` does, and none is in memory */
    uint8_t count;                              /* of `list` */
    struct value_source list[VALUE_SOURCES];    /* of those that can be read */
    struct value_source lengths[VALUE_SOURCES]; /* of counted texts: as the texts are in `list` */
};

/* A call of a probe in a loaded module. */
struct value_site {
    uint64_t address;                /* behind the call; zero while the slot is free, and stored last */
    uint64_t bias;                   /* of the module */
    const struct value_reads *reads; /* others if another module lies there now */
};

/* What the stubs of probes save: what any site needs. Stored before such a site can be found. */
extern uint8_t value_plan_saves;

/* Whether a program of the plan reads memory. */
extern bool value_plan_has_memory;

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

extern const struct value_site *value_sites; /* VALUE_SLOTS; NULL if there are none. Stored once */

static ALWAYS_INLINE uint32_t value_slot(uint64_t address)
{
    return (uint32_t)(address * 0x9e3779b97f4a7c15u >> 40) % VALUE_SLOTS;
}

/* The call behind which a probe returns; NULL if it is not known. Any thread, any time. */
static ALWAYS_INLINE const struct value_site *value_plan_find(uint64_t probe_return)
{
    const struct value_site *sites = __atomic_load_n(&value_sites, __ATOMIC_ACQUIRE);
    for (uint32_t i = value_slot(probe_return); LIKELY(sites != NULL); i = (i + 1) % VALUE_SLOTS) {
        const uint64_t address = __atomic_load_n(&sites[i].address, __ATOMIC_ACQUIRE);
        if (LIKELY(address == probe_return))
            return &sites[i];
        if (!address)
            break;
    }
    return NULL;
}

static ALWAYS_INLINE const struct value_reads *value_plan_reads(const struct value_site *site)
{
    return __atomic_load_n(&site->reads, __ATOMIC_ACQUIRE);
}

/* The function of the call behind which a probe returns, if the plan has it of that module and bias; zero if not. */
uint64_t value_plan_function_at(struct text build_id, struct text path, uint64_t bias, uint64_t probe_return);

/* The programs of a site's values, one behind the other: each is a struct dwell_value_loads with its loads, which
 * load_run can run if there are any. Returns their number. */
uint32_t value_plan_loads(uint32_t site, const struct dwell_value_loads **first);

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
