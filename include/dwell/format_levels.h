/* The levels of functions in a session. Part of format.h. */
#ifndef DWELL_FORMAT_LEVELS_H
#define DWELL_FORMAT_LEVELS_H

#include "dwell/format.h"

/* The levels of a function's probes (docs/levels.md). */
enum dwell_level_of_probes {
    DWELL_PROBES_TIMED = 0,
    DWELL_PROBES_COUNTED = 1,
    DWELL_PROBES_OUT = 2,
};

/* From this time on, the function's probes have another level than before. The first record of a function may belong to
 * the start of its module. No strings. */
struct dwell_rec_level {
    struct dwell_record record;
    uint64_t time;
    uint64_t function; /* address */
    uint32_t level;    /* enum dwell_level_of_probes */
    uint32_t pad;
};

/* Code that the runtime has written into the process' memory, outside of all modules, for calls to go through. Forked
 * children have it as well. Other code there is the program's own. No strings. */
struct dwell_rec_stubs {
    struct dwell_record record;
    uint64_t begin; /* addresses: begin <= address < end */
    uint64_t end;
};

/* The recorder has decided, to keep its overhead budget, that a function's probes are to have that level. A record of
 * the change follows when it is done. No strings. */
struct dwell_rec_decision {
    struct dwell_record record;
    uint64_t time;
    uint64_t function; /* address */
    uint32_t level;    /* enum dwell_level_of_probes */
    uint32_t pad;
    uint64_t calls; /* of the function in all processes until then */
    uint64_t mean;  /* ticks of a timed call, with callees and probes; zero: no call was timed */
};

/* A counts chunk holds the calls of functions with the level counted, by one thread. They have no times. Each function
 * is in the module that was loaded at chunk.start_time. chunk.sequence is private to the writer. */
struct dwell_count {
    uint64_t function; /* address; zero if the entry is not used */
    uint64_t calls;
};

struct dwell_counts {
    struct dwell_chunk_header chunk;
    struct dwell_count counts[]; /* up to chunk.used */
};

/* A chunk of the places where a module calls the probes, found by one process of the session for the others. Behind it:
 * the build-id, then numbers of 7 bits a byte, lowest first, whose bytes have the top bit if another one follows. */
struct dwell_sites {
    struct dwell_chunk_header chunk; /* `used` is set before the chunk is in the list */
    uint64_t next;                   /* offset of the chunk that was added before this one, or zero */
    uint64_t key;   /* of what the sites follow from: equal in processes whose module has the same code */
    uint64_t check; /* of the bytes behind this member, in the same way */
    uint32_t build_id_length;
    uint32_t flags;        /* bits of DWELL_SITES_ */
    uint32_t loads, sites; /* numbers of both in the list */
};

enum { DWELL_SITES_MORE = 1 /* enter probes may be called from elsewhere as well */ };

#endif
