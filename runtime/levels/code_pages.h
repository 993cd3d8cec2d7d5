/* The present protection of pages of code: programs change it, too. */
#ifndef DWELL_LEVELS_CODE_PAGES_H
#define DWELL_LEVELS_CODE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/hook_places.h"

#pragma GCC visibility push(hidden)

struct code_range {
    uint64_t begin, end;
    int protection; /* PROT_ bits; zero if nothing is mapped there */
};

struct code_pages {
    int fd;
    struct code_range last; /* answer */
};

/* Opens the system's list of mappings. False if it cannot be read. The caller closes it by code_pages_end. */
bool code_pages_begin(struct code_pages *pages);
void code_pages_end(struct code_pages *pages);

/* The program may have changed the protection of its code. */
extern bool code_pages_changed;

/* The range of pages of one protection that holds the address. Answers may be older than the last change by the caller,
 * who then sets `last` to nothing. */
struct code_range code_pages_at(struct code_pages *pages, uint64_t address);

/* Whether all of the code can be read now. */
bool code_pages_are_readable(const struct hook_places *places);

#pragma GCC visibility pop

#endif
