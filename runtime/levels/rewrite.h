/* Rewrites the calls of the probes in a module's code. */
#ifndef DWELL_LEVELS_REWRITE_H
#define DWELL_LEVELS_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/hook_places.h"
#include "levels/machine.h"
#include "levels/probe_calls.h"

#pragma GCC visibility push(hidden)

enum { MAX_TWINS = 4, MAX_COUNTING_TWINS = 64 /* each takes two pages of memory, one of them for the page table */ };

/* A stub whose distance from what calls lead to differs in one byte only, so that one store changes such a call,
 * wherever it lies. */
struct rewriter_twin {
    uint64_t target, stub;
    void *pages;
    uint32_t number; /* of the counter, if it counts calls */
};

struct rewriter {
    const struct hook_places *places;
    struct machine_stubs stubs;
    void *stub_page;                       /* NULL if there is none */
    struct rewriter_twin twins[MAX_TWINS]; /* for checked calls */
    struct rewriter_twin counting[MAX_COUNTING_TWINS];
    uint32_t counting_count;
    int32_t counting_step; /* of the place that was tried last for one of these */
    bool synchronizes;     /* the system can make all processors synchronize */
    bool alone;            /* no other thread runs the code */
    uint32_t first;        /* number plus one of the first site that changes, in rewriter_apply; zero: there is none */
};

/* Maps writable memory for near code at that address, or returns NULL. */
void *rewriter_map_at(uint64_t address, uint64_t size);

/* Unmaps what one of these two functions has mapped. */
void rewriter_unmap(void *at, uint64_t size);

/* Maps memory within reach of all of the module's code, or returns NULL. `size` is a multiple of PAGE. */
void *rewriter_map_near(const struct hook_places *places, uint64_t size);

/* Where checked calls of the hooks go, and the filter of the stubs for enters (machine.h) or NULL; and where calls go
 * whose values are read, or zeros. */
struct rewriter_checks {
    uint64_t of[HOOKS];
    const uint8_t *filter;
    uint64_t values[HOOKS];
};

/* Makes the stubs of a module. False if that is not possible. The caller passes the rewriter to rewriter_end when all
 * sites have their original form, or the module is unmapped. */
bool rewriter_begin(struct rewriter *r, const struct hook_places *places, const struct rewriter_checks *checks);
void rewriter_end(struct rewriter *r);

/* Makes twins of the stubs for the targets of the sites' direct calls, as far as there is memory in the right place. */
void rewriter_make_twins(struct rewriter *r, const struct call_sites *sites, const struct rewriter_checks *checks);

/* The stub of a function for a call that needs a twin: one that counts, with the counter of that number. `write` writes
 * it in MACHINE_STUB_BYTES if it is new. Zero if the call has no original target, or if there is no room for one more.
 * It stays until rewriter_end, as a thread may be in it. */
uint64_t rewriter_counting_stub(struct rewriter *r, const struct call_site *site, uint32_t number,
                                void (*write)(void *at, uint32_t number));

/* Gives each site of a hook its wanted form, if that is possible without harm to threads that run it; else it keeps its
 * form. False if the system does not allow to write code: then nothing has changed. Writes only the pages of changed
 * sites. One thread at a time, with signals held back. */
bool rewriter_apply(struct rewriter *r, struct call_sites *sites, enum hook hook);

/* Whether the site's bytes are those of its form. */
bool rewriter_is_as_expected(const struct rewriter *r, const struct call_site *site);

/* The same for a site whose memory may be unmapped. */
bool rewriter_is_in_memory(const struct rewriter *r, const struct call_site *site);

struct slot_change {
    uint64_t slot, target;
};

/* Stores addresses into slots of the module, which are in the order of their addresses. False if the system does not
 * allow that for all. */
bool rewriter_set_slots(const struct rewriter *r, const struct slot_change *list, uint32_t count);

/* Tells the system that the process will synchronize. Linux waits for 10 to 30 ms if it has several threads, and not if
 * it has one. Forked children need not tell it. False if the system cannot do that. */
bool rewriter_prepare(void);

/* All threads of the process see what was stored before. False if the system cannot do that. */
bool rewriter_synchronize(void);

#pragma GCC visibility pop

#endif
