/* The functions of a loaded module as its unwind table lists them: where their code begins and ends, and where
 * exceptions continue in it. */
#ifndef DWELL_LEVELS_UNWIND_RANGES_H
#define DWELL_LEVELS_UNWIND_RANGES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct unwind_segment {
    uint64_t begin, end; /* bytes of the file; both are zero if there is none */
};

struct unwind_ranges {
    const struct dl_phdr_info *info;
    uint64_t header; /* of .eh_frame_hdr */
    const uint8_t *table;
    uint32_t count;
    struct unwind_segment segment; /* around the table */
};

struct unwind_range {
    uint64_t begin, end;
    uint64_t handlers;     /* the table of its exception handlers, or zero */
    uint64_t handlers_end; /* of the segment around that; zero if there is none */
};

/* False if the module has no table, or one of an unknown form. Uses `info` until the last range was read. Nothing is
 * read outside of the module's segments, whatever its tables hold. */
bool unwind_ranges_begin(struct unwind_ranges *ranges, const struct dl_phdr_info *info);

/* The range number `index`. False if it cannot be read. */
bool unwind_range_at(const struct unwind_ranges *ranges, uint32_t index, struct unwind_range *range);

/* Calls `found` for each address of `range` where an exception continues. False if the table cannot be read. */
bool unwind_handlers(const struct unwind_range *range, void (*found)(void *data, uint64_t address), void *data);

#pragma GCC visibility pop

#endif
