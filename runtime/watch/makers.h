/*
 * Where the objects were made that threads wait for: the innermost recorded function when the object was initialized.
 * The table of addresses is lossy. When it is full, the oldest entry of a few is replaced, and that object's maker
 * stays unknown.
 */
#ifndef DWELL_MAKERS_H
#define DWELL_MAKERS_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct maker {
    uint64_t time;     /* ticks */
    uint64_t function; /* zero: unknown */
    uint64_t id;       /* of the object */
    uint32_t recorded; /* serial number of the process that has recorded it last */
    uint8_t kind;      /* the object's kind when it was recorded */
    bool shared;       /* several descriptors mean the object, and another one may live on */
};

enum { MAKERS_IN_SET = 4, MAKER_SETS = 1 << 12 };

/* The object at the address was made. An unknown maker removes what was known of the address. */
void makers_add(uint64_t address, const struct maker *maker);

/* The object at the address is destroyed. */
void makers_remove(uint64_t address);

/* A thread has waited for the object at the address: its maker is recorded, once in each process. */
void makers_record(enum dwell_object kind, uint64_t address);

/* The same for an object whose maker the caller has. */
void maker_record(struct maker *maker, enum dwell_object kind, uint64_t id);

/* The object ends, and its maker is unknown from now on. The session says so if it had the maker. */
void maker_end(struct maker *maker);

#pragma GCC visibility pop

#endif
