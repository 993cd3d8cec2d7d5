/*
 * Counting in place: the call of a probe becomes one instruction, which adds one to the thread's counter. The compiler
 * has put the function's address into rdi for the probe, so the instruction is `incq %gs:0(%rdi)`, of the call's
 * length.
 *
 * Each thread has a distance. The counters of the functions of a page of code, a window, are in a page of counters at
 * the window's address plus the distance. The base of gs is eight bytes more: a counter follows its function's address
 * there (struct dwell_count).
 *
 * All threads of a process must have their pages before such an instruction is in the code. New threads inherit their
 * creator's gs, so each must be set up before it runs the program's code: see in_place_begin_creation. A thread that
 * the program makes by a bare clone counts in the pages of its creator, and counts of both may be lost then.
 */
#ifndef DWELL_LEVELS_IN_PLACE_H
#define DWELL_LEVELS_IN_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Functions of this process may be counted in place, if that turns out to be possible. Set before threads begin. */
extern bool in_place_wanted;

/* Whether forks have to be watched: it is not known to be impossible. */
bool in_place_may_come(void);

/* Whether the process can do it, and whether it is wanted, too. */
bool in_place_is_known(void);
bool in_place_is_possible(void);

/* How the process does it, or why it does not, for people. */
const char *in_place_describe(void);

/* Whether it needs arch_prctl, which a sandbox may forbid. */
bool in_place_needs_calls(void);

/* Somebody else uses gs: the threads' base of gs stays as it is from now on. The program must not count in place then
 * (levels_leave_places). */
void in_place_give_up(void);
bool in_place_is_foreign(void);

/* Whether the runtime has set that base of gs. */
bool in_place_is_ours(uint64_t base);

/* Whether a function's counter can be at its place in a window's page. */
static inline bool in_place_fits(uint64_t function)
{
    enum { STEP = 16, HEAD = 64, WINDOW = 4096 }; /* sizes of a count, of a chunk's header, of a page */
    return function % STEP == 0 && function % WINDOW >= HEAD;
}

/* A distance of its own for a thread. Zero if there is none. */
int64_t in_place_distance(void);

/* Reserves a page's address for the window. False if something else is there. */
bool in_place_reserve(uint64_t window, int64_t distance);

/* The calling thread counts at this distance from now on. At zero, its calls are lost, and in_place_take_lost has
 * them. In a sandbox that the runtime does not know, its base may stay that of its creator. */
void in_place_use(int64_t distance);
bool in_place_is_stuck(void);

/* The same for zero. Returns whether it has changed. */
bool in_place_use_lost(void);

/* Nobody counts the calling thread's calls from now on. */
void in_place_use_paused(void);

/* The calling thread is that of a forked child: its first call raises SIGBUS, unless nobody counts its calls. */
void in_place_use_forked(void);
bool in_place_is_forked(void);

/* Maps the pages for a window that belong to no thread. False if that is not possible. */
bool in_place_map_common(uint64_t window);

/* Whether the address is in the window's page of in_place_use_forked. Loses a call that would count there. */
bool in_place_is_of_forked(uint64_t window, const void *address);
void in_place_lose(uint64_t window, const void *address);

/* Whether calls may have been lost; and how many calls of a window's functions were, since this was asked last. */
bool in_place_loses(void);
uint64_t in_place_take_lost(uint64_t window);

/* Whether the process has exactly that many threads, besides the helper. */
bool in_place_knows_threads(uint32_t count);

/* Sets the calling thread up if it is that of a forked child, and its first call would raise SIGBUS. Threads with its
 * base of gs may block that signal, or may not be allowed to handle it. */
void in_place_set_up(void);

/* A function that a new thread runs: that of pthread_create, or of thrd_create. */
struct in_place_start {
    void *(*run)(void *);
    int (*run_c11)(void *);
    void *argument;
    bool masked;   /* its attributes say which signals it blocks */
    uint64_t mask; /* the creator's signals */
};

/* Lets a thread that is about to be made be set up before it runs the program's code. Gives the function and argument
 * to make it with, and holds signals back until in_place_end_creation. */
void in_place_begin_creation(struct in_place_start *start);
void in_place_end_creation(const struct in_place_start *start, bool made);

#pragma GCC visibility pop

#endif
