/* Filters and levels that the recorder sets, in a session. Part of format.h. */
#ifndef DWELL_FORMAT_FILTERS_H
#define DWELL_FORMAT_FILTERS_H

#include "dwell/format.h"

/* What happens when a function is entered: bits. */
enum dwell_filter_action {
    DWELL_FILTER_RECORD = 0,
    DWELL_FILTER_SUPPRESS = 1,  /* its time belongs to its caller */
    DWELL_FILTER_IGNORE = 2,    /* its time and that of its callees is discarded */
    DWELL_FILTER_START = 4,     /* the process starts recording, before the enter */
    DWELL_FILTER_STOP = 8,      /* the process stops recording, before the enter */
    DWELL_FILTER_ROOT = 16,     /* if there are roots: only their calls and those below them are recorded */
    DWELL_FILTER_TARGET = 32,   /* if there are targets: only their calls and those that lead to one are recorded */
    DWELL_FILTER_OUT = 64,      /* the calls of its probes are taken out of the code: see docs/levels.md */
    DWELL_FILTER_COUNTED = 128, /* its calls are only counted: the same */
    /* Bits 8..15: 1 + the depth below its calls to which others are recorded; zero: no limit of its own. Bits 16..18:
     * in its calls, dwell_filters.shortest_in with this number minus 1 takes the place of the shortest duration. */
    DWELL_FILTER_DEPTH = 0xff00,
    DWELL_FILTER_TIME = 0x70000,
    DWELL_FILTER_HIDDEN_OUT = 1 << 19, /* of all patterns: functions that are hidden whatever calls them are out */
    DWELL_FILTER_KEEP = 0x1f00000, /* bits 20..24: 1 + the index in dwell_keep.watch; zero: its calls are not watched */
    DWELL_FILTER_HISTOGRAM = 1 << 25, /* mode profile: how long its calls take is counted (durations chunks) */
};

enum {
    DWELL_FILTER_DEPTH_SHIFT = 8,
    DWELL_FILTER_TIME_SHIFT = 16,
    DWELL_FILTER_TIMES = 7,
    DWELL_FILTER_KEEP_SHIFT = 20,
};

/* A filters chunk. The recorder writes it, the first one before the program starts. Its chunk.link is the offset of the
 * chunk before, or zero. Each module is in one of the chunks. Modules follow one after another. */
struct dwell_filters {
    struct dwell_chunk_header chunk;
    uint32_t modules;
    uint32_t only;           /* not zero: functions that are not listed are suppressed */
    uint32_t depth;          /* deeper calls are suppressed; zero: no limit */
    uint32_t starts;         /* not zero: a function starts the recording, which is off until then */
    uint64_t shortest;       /* ticks; shorter calls are not recorded */
    uint32_t actions;        /* of all patterns, even if they match nothing: bits of enum dwell_filter_action */
    uint32_t pattern_length; /* levels chunks: of the pattern after the last module, for later libraries; or zero */
    uint64_t shortest_in[DWELL_FILTER_TIMES]; /* ticks; see DWELL_FILTER_TIME */
};

struct dwell_filter_module { /* build-id, path, zeros up to a multiple of 8 and the functions follow */
    uint32_t size;           /* of the whole entry; a multiple of 8 */
    uint32_t functions;
    uint32_t build_id_length; /* zero: the path identifies the module */
    uint32_t path_length;
};

struct dwell_filter {
    uint64_t offset; /* virtual address in the module's ELF file */
    uint32_t action; /* enum dwell_filter_action */
    uint32_t pad;
};

#endif
