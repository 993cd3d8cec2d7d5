/* What a session that `dwell profile` made holds beside call trees. Part of format.h. */
#ifndef DWELL_FORMAT_SUMS_H
#define DWELL_FORMAT_SUMS_H

#include "dwell/format.h"

/* Of which calls of a recorded session the durations chunks have the durations. */
enum dwell_durations {
    DWELL_DURATIONS_NONE = 0,
    DWELL_DURATIONS_NET = 1, /* of all completed calls, without the time of the probes */
    DWELL_DURATIONS_RAW = 2, /* of those of chosen functions, with the time of the probes */
};

/* What collecting a session's events has counted, as in the analyzer's struct profile_counts. */
enum { DWELL_SUMMED_COUNTS = 18, DWELL_MOST_SHARDS = 10000, DWELL_MOST_DELTAS = 250000 };

/*
 * A recorded session whose sums the file has. The records are in the order of session ids. The first one's processes
 * and threads have the lowest serial numbers, then come those of the next one. Strings: a bit for each shard that is
 * included, the lowest one of the first byte for shard 1; then those of HOST, which are empty if there is none.
 *
 * While a session is recorded, its sums can be written as deltas: each has what was added since the one before. They
 * have zero shards, and bits for deltas. The processes and threads of a delta are those that had begun by then: the
 * first ones of the session. All deltas together are the session.
 */
struct dwell_rec_summed {
    struct dwell_record record;
    uint32_t processes, threads; /* their numbers */
    uint32_t shards;             /* into how many parts the session was split; 1 if all parts are included */
    uint32_t waits_counted;      /* not zero: the numbers of its waits are known */
    uint64_t damaged_chunks, damaged_bytes, damaged_records;
    uint64_t counts[DWELL_SUMMED_COUNTS];
    struct dwell_file_header header; /* of the recorded session; what only its writers need is zero */
    uint32_t deltas;                 /* of the session, where the last one is included; else zero */
    uint32_t durations;              /* enum dwell_durations; none in older sums */
    uint64_t begin;                  /* of the earliest delta, as start_realtime; zero if there are none */
};

/* A word and a text that the user gave the recording. Strings: key, value. */
struct dwell_rec_label {
    struct dwell_record record;
};

/* The name of an object that a thread of the process waited for. String: name. */
struct dwell_rec_object_name {
    struct dwell_record record;
    uint64_t id;
};

/* In dwell_tree_node.site: the path is known by samples. It has no calls. */
#define DWELL_SITE_SAMPLED UINT64_MAX

/* A sums chunk has rows of nodes of the thread's call tree whose values the tree alone does not give. They take the
 * place of the tree's. They are in the order of their nodes. A row whose node is zero ends the chunk. */
struct dwell_sum_row {
    uint32_t node;             /* number in the thread's call tree */
    uint32_t weighed;          /* not zero: the next but two are known; zero in older sums */
    uint64_t flagged, runtime; /* ticks of the node's `elapsed`: in flagged intervals, and of the runtime */
    uint64_t runtime_flagged;  /* the part of `runtime` in flagged intervals */
    uint64_t sample_time;      /* nanoseconds of CPU time that the samples stand for */
    uint64_t stub_time;        /* the same in code that counts calls. In older sums, both are parts of `runtime` */
    uint64_t samples, samples_in_stubs;
    uint64_t first;                     /* number of the first chunk of the thread that has the path */
    uint64_t net_shortest, net_longest; /* of completed calls without probes; 2^64 - 1 and 0 if unknown */
};

/*
 * A durations chunk has rows of the completed calls of the thread's call paths: how many took about how long, elapsed
 * inclusive. In sums they are in the order of their nodes, and then of their counters. A row whose node is zero ends
 * the chunk. In sessions of mode profile, they are those of chosen functions, with the time of the probes, and a thread
 * has at most DWELL_MAX_DURATION_ROWS. The node's `shortest` says which paths have rows, and whether some calls of
 * these have none.
 *
 * A duration of t ticks is in the counter 32 * d + (t >> d), where d is the number of bits that t has above 6. So a
 * counter is as wide as a 32nd of its durations, or less. The only call of a path has no counter: its row has the
 * duration itself.
 */
struct dwell_duration_row {
    uint32_t node;    /* number in the thread's call tree */
    uint32_t counter; /* or DWELL_DURATION_ONE */
    uint64_t calls;   /* less than 2^48; with DWELL_DURATION_ONE: the call's time in 1/256 ticks, signed */
};
enum { DWELL_DURATION_COUNTERS = 1920, DWELL_MAX_DURATION_ROWS = 1 << 16 };
#define DWELL_DURATION_ONE UINT32_MAX

enum dwell_cause_set { DWELL_CAUSE_RAW = 1, DWELL_CAUSE_NET = 2, DWELL_CAUSE_REST = 4, DWELL_CAUSE_FAULTED = 8 };

/* A causes chunk has rows of the thread's waits: sums of a call path, an object and a cause. A row without waits ends
 * the chunk. */
struct dwell_cause_row {
    uint32_t node; /* number in the thread's call tree; zero: waits of the thread without rows of their own */
    uint8_t kind;  /* enum dwell_object; zero: unknown */
    uint8_t cause; /* 0 none, 1 the holder, 2 the waker */
    uint8_t set;   /* bits of enum dwell_cause_set: with the probes' time, without it; node is zero */
    uint8_t pad;
    uint64_t id;         /* of the object */
    uint32_t thread;     /* serial number of the thread that is the cause, or zero */
    uint32_t cause_node; /* number in its call tree; zero: unknown; 2^32 - 1: outside of its functions */
    uint64_t waits;
    uint64_t blocked, longest; /* ticks */
    uint64_t first_time;       /* when the first wait began */
    uint64_t made_time;        /* of the MADE record of the object; zero if there is none */
};

_Static_assert(sizeof(struct dwell_rec_summed) == 464, "the layout of a summed session is fixed");
_Static_assert(sizeof(struct dwell_sum_row) == 88, "the layout of a row of sums is fixed");
_Static_assert(sizeof(struct dwell_duration_row) == 16, "the layout of a row of durations is fixed");
_Static_assert(sizeof(struct dwell_cause_row) == 64, "the layout of a row of causes is fixed");

#endif
