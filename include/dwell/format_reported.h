/* Records of the session file in which an imported report states its rows. Part of format.h. */
#ifndef DWELL_FORMAT_REPORTED_H
#define DWELL_FORMAT_REPORTED_H

#include "dwell/format.h"

enum dwell_reported {
    DWELL_REPORTED_FUNCTION = 1, /* the whole function */
    DWELL_REPORTED_CALLER = 2,   /* the function as called from `other`; zero: by an unknown caller */
    DWELL_REPORTED_CALLEE = 3,   /* `other` as called from the function */
    DWELL_REPORTED_MODULE = 4,   /* the whole module that contains the address `function` */
};

/* What an imported report says about a function. It takes precedence: a call tree that was estimated, or is incomplete
 * in the report, gives other inclusive times. */
struct dwell_rec_reported { /* no strings */
    struct dwell_record record;
    uint32_t kind; /* enum dwell_reported */
    uint32_t pad;
    uint64_t function; /* addresses */
    uint64_t other;
    uint64_t elapsed_inclusive, elapsed_exclusive;
    uint64_t application_inclusive, application_exclusive;
    uint64_t calls;
    uint64_t shortest; /* elapsed inclusive of single calls; UINT64_MAX and zero if unknown */
    uint64_t longest;
};

/* More columns of a row of an imported report. */
enum dwell_stated_column {
    DWELL_STATED_PERCENT = 0,  /* elapsed (or samples) inclusive, exclusive, application inclusive, exclusive */
    DWELL_STATED_OVERHEAD = 4, /* time inclusive, exclusive probe overhead */
    DWELL_STATED_EACH = 6,     /* minimum, average and maximum of a call, of each of the four times in that order */
    DWELL_STATED_COLUMNS = 18,
};

/* What the report states in these columns, after struct dwell_rec_reported if it states any of them. */
struct dwell_stated {
    uint64_t columns; /* bit N: column N is stated */
    double values[DWELL_STATED_COLUMNS];
};

_Static_assert(sizeof(struct dwell_stated) == 152, "the layout of stated columns is fixed");

#endif
