/* The list of the places in a module's code that call a probe. */
#ifndef DWELL_LEVELS_PROBE_CALLS_H
#define DWELL_LEVELS_PROBE_CALLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "levels/call_site.h"
#include "levels/hook_places.h"
#include "levels/unwind_ranges.h"

#pragma GCC visibility push(hidden)

enum { CALL_SITES_SCRATCHES = 2 };

struct call_sites {
    struct call_site *list;
    uint32_t count, room;
    bool more_enters; /* enter probes may be called from places that are not in the list */
    bool complete;    /* there was enough memory */
    bool bare;        /* no site has its function, which makes finding them several times as fast */
    bool lonely;      /* what the functions follow from is not known: another process cannot have them */
    uint64_t *loaded; /* a bit for each eight bytes of the module's constant memory: the functions follow from them */
    size_t loaded_size;
    uint32_t next; /* index of the first range that is not read yet */
    uint64_t end;  /* of the last range that was read */
    struct call_sites_scratch {
        void *at;
        size_t size;
    } scratch[CALL_SITES_SCRATCHES]; /* memory that is used again for each function while sites are found */
};

/* Finds the sites of a module. The caller drops the list. */
void call_sites_find(struct call_sites *sites, const struct hook_places *places, const struct dl_phdr_info *info,
                     bool bare);

/* The same in parts. Each reads at least that many bytes of code, up to a function's end. Returns whether there is more
 * to read. The module stays as it is until then. */
void call_sites_find_first(struct call_sites *sites, bool bare);
bool call_sites_find_more(struct call_sites *sites, const struct hook_places *places, const struct dl_phdr_info *info,
                          uint64_t bytes);

void call_sites_drop(struct call_sites *sites);

/* Makes room in an empty list. False if there is no memory. */
bool call_sites_reserve(struct call_sites *sites, uint32_t count);

/* False if there is no memory. */
bool call_sites_add(struct call_sites *sites, const struct call_site *site);

/* At least `size` bytes that hold anything, until the next call with this `index`. NULL without memory. */
void *call_sites_scratch(struct call_sites *sites, int index, size_t size);

/* Notes that functions follow from eight bytes of the module's constant memory. */
void call_sites_note_load(struct call_sites *sites, const struct hook_places *places, uint64_t address);

/* Adds the call at an address of the module's code, without its function. False if there is none of the usual form, or
 * no memory. Each machine has its own. */
bool call_sites_add_at(struct call_sites *sites, const struct hook_places *places, uint64_t address);

/* Adds the sites of one function's code; each machine has its own. False if there is no memory. */
bool call_sites_in_range(struct call_sites *sites, const struct hook_places *places, const struct unwind_range *range);

#pragma GCC visibility pop

#endif
