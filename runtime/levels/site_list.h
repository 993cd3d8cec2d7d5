/* The sites of a module as bytes, which do not depend on where it lies. */
#ifndef DWELL_LEVELS_SITE_LIST_H
#define DWELL_LEVELS_SITE_LIST_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "levels/probe_calls.h"

#pragma GCC visibility push(hidden)

struct site_list {
    uint8_t *bytes; /* the caller's */
    uint64_t size;
    uint32_t loads, sites;
    bool more_enters;
};

/* Writes all sites into at most `size` bytes, and sets the rest. False if they do not fit, or if another process may
 * not have the same ones. */
bool site_list_write(struct site_list *list, const struct call_sites *sites, const struct hook_places *places,
                     const struct dl_phdr_info *info);

/* The most bytes that this needs: few of them are used. */
uint64_t site_list_room(const struct call_sites *sites, const struct hook_places *places);

/* Finds the sites of a module that has the same code. Each must be a call of a probe. False if one is not, or if the
 * functions would be others here; then the caller drops what there is. */
bool site_list_read(const struct site_list *list, struct call_sites *sites, const struct hook_places *places,
                    const struct dl_phdr_info *info);

#pragma GCC visibility pop

#endif
