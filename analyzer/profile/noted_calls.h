/*
 * Calls that collectors note while they read a session, in few bytes: who needs their durations later need not decode
 * the chunks once more (call_scan_notes.c). Memory is bounded. Chunks for which there is no room, and those with events
 * that are rare, have no notes.
 *
 * A note consists of words. There is one for each call that ends, one for each interval with OS events, and one for
 * each call that was open at the beginning of the chunk and ends in it. Calls come in the order in which they end. So a
 * call's callees are those that have ended since the last call that is not deeper than it.
 */
#ifndef DWELL_PROFILE_NOTED_CALLS_H
#define DWELL_PROFILE_NOTED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "trace/session_file.h"

/* The lower bits of a note's first word are its kind. The upper ones are a path or a number. The second word has the
 * ticks since the last note, or since the chunk's start.
 *
 * The level is one more than the depth of the innermost call that can be open. An outermost call has depth 1. A note of
 * depth d has the step d + 1 - level. */
enum noted_kind {
    NOTED_STEPS = 12, /* lower kinds are the step of a path's call that ended; a third word: its ticks. Then the level
                       * is the call's depth */
    NOTED_OS = NOTED_STEPS, /* an interval of a path's call; words: its length, and of enum noted_os. Then the level is
                             * one more than the call's depth */
    NOTED_FOUND,            /* the innermost call that was open at the chunk's beginning ended. Then the level is its
                             * depth */
    NOTED_DEEPER,           /* the level grows by the number. There are no more words */
    NOTED_FIRST,            /* the next call is the first one of its path that a worker has seen. No more words */
    NOTED_KIND_BITS = 4,
    NOTED_MOST_NUMBER = (1 << (32 - NOTED_KIND_BITS)) - 1,
    NOTED_MOST_WORDS = 8, /* of a note and those before it that belong to it */
};

/* Flags of an interval with OS events. The lower bits are its step. Amounts of flags follow in this order. */
enum noted_os {
    NOTED_STEP_BITS = 4,
    NOTED_PARTLY = 16,  /* it is flagged in part; otherwise, all of it is */
    NOTED_RUNTIME = 32, /* the runtime worked in it */
    NOTED_OFF_CPU = 64, /* it has time off the CPU */
};

/* A call that is open where a chunk begins or ends. */
struct noted_open {
    uint64_t function; /* address */
    uint64_t entered;  /* as in struct call_part */
    uint32_t path;
};

struct noted_chunk {
    const uint32_t *words;
    size_t count;
    struct noted_open *open; /* those open at its beginning, and then those that began in it and are open at its end */
    uint32_t inherited, begun;
    uint64_t last;  /* time of the last event */
    uint32_t paths; /* 1 + number of the list that its paths are in; 0: the chunk has no notes */
};

struct noted_calls {
    struct noted_chunk *chunks; /* by chunk of the file */
    size_t chunk_count;
    size_t bytes, most; /* in use, and how many may be */
    uint32_t **blocks;  /* of words */
    size_t block_count, block_room;
    uint32_t **paths; /* of workers: by path of the worker, that of the profile */
    size_t *path_counts;
    size_t paths_count, paths_room, counts_room;
    struct noted_path *timed; /* the profile's timed paths, in order */
    size_t timed_count;
};

enum { NOTED_BYTES = 64 << 20 };

/* The notes take about `most` bytes at most. */
struct noted_calls *noted_calls_new(const struct session_file *file, size_t most);
void noted_calls_free(struct noted_calls *n);

/* Remembers the timed paths of the session's profile, which all workers were added to. Paths that are known by samples
 * come and go after that. */
void noted_calls_remember(struct noted_calls *n, const struct profile *p);

/* Gives the notes the numbers that their paths have in the profile that became of that one. If it has other timed
 * paths, the notes are lost. */
void noted_calls_number(struct noted_calls *n, const struct profile *p);

/* The notes of a chunk, or NULL. *paths: the paths of their numbers. */
const struct noted_chunk *noted_calls_of(const struct noted_calls *n, size_t chunk, const uint32_t **paths);

#endif
