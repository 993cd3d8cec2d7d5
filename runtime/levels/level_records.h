/* The changes of functions' levels and the notes about levels, on their way into the session. Threads that change
 * levels hold a lock and cannot write to the session, so both wait in lists. */
#ifndef DWELL_LEVELS_LEVEL_RECORDS_H
#define DWELL_LEVELS_LEVEL_RECORDS_H

#include <stdint.h>

#include "level.h"

#pragma GCC visibility push(hidden)

/* In a process' block, which forked children find zero. */
struct process_level_records {
    uint32_t lock;
    uint32_t writing; /* number of threads that write records of changes */
};

/* The function has had this level since `time` (ticks). */
void level_records_add(uint64_t function, enum level level, uint64_t time);

/* The runtime has mapped memory for code there, for calls to go through. */
void level_records_add_stubs(uint64_t begin, uint64_t end);

/* The session gets this note once. The text is kept permanently. Under the levels' lock. */
void level_note(const char *text);

/* What a change of code costs: protection, synchronization and copies of pages. The second adds the CPU time of the
 * calling thread since the first to the session. */
uint64_t level_cost_begins(void);
void level_cost_ends(uint64_t begin);

/* Writes what waits. Without the levels' lock, as the calling thread may wait for the helper, which takes it. */
void level_records_write(void);

/* The same, and waits until other threads have written what they took. */
void level_records_finish(void);

#pragma GCC visibility pop

#endif
