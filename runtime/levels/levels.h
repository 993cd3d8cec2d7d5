/* Levels of the probes: whether a function's calls are recorded, or the calls of its probes are taken out of the code.
 * A level can change at any time. */
#ifndef DWELL_LEVELS_LEVELS_H
#define DWELL_LEVELS_LEVELS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "level_table.h"
#include "levels/level_check.h"
#include "levels/level_records.h"
#include "levels/level_unloads.h"

#pragma GCC visibility push(hidden)

/* In a process' block, which forked children find zero. */
struct process_levels {
    uint32_t lock;
    uint32_t code_lock; /* of the program's code (code_lock.h) */
    struct process_level_unloads unloads;
    uint32_t forking; /* number of threads inside fork */
    bool ended;       /* the process' end is recorded */
    struct process_level_records records;
};

/*
 * The modules that are loaded now, each time that this may have changed: levels_begin, then levels_visit for each
 * module while the loader cannot unmap it, then levels_end. Under the lock of the module map, with signals held back.
 * levels_begin returns false if this is not possible now; levels_end is not called then.
 */
struct level_visit {
    const struct dl_phdr_info *info;
    uint64_t begin, end;        /* of its code */
    struct text build_id, path; /* kept permanently */
    uint32_t filter;            /* the module's number in the filters, or zero */
    bool program;               /* the main program */
};

bool levels_begin(void);
void levels_visit(const struct level_visit *visit);
void levels_end(void);

/* Sets the level of a function: an address, or an offset in all loaded modules of that build-id or, without one, path.
 * Returns the number of functions that this concerns. They have their level when levels_settle has returned true, or
 * later: calls that are open stay timed to their ends. Any thread with signals held back. */
uint32_t levels_set(uint64_t function, enum level level);
uint32_t levels_set_in_module(struct text build_id, struct text path, uint64_t offset, enum level level);

/* How many of these functions stay timed whatever their level is set to, as their values are read or their slow calls
 * are kept. */
uint32_t levels_that_stay_timed(struct text build_id, struct text path, uint64_t offset);

/* Watches the exits of a function (keep_calls.h), or ends that with zero. As levels_set_in_module otherwise. */
uint32_t levels_watch_in_module(struct text build_id, struct text path, uint64_t offset, uint32_t watch);

/* Reads values in all loaded modules as the plan says now (value_plan.h). In the helper. */
void levels_read_values(void);

/* Calls a function for each loaded module, and returns the sum of what that returns. Under the levels' lock. */
struct level_module;
typedef uint32_t level_change(struct level_module *m, const void *context);
uint32_t levels_change(level_change *change, const void *context);

/* The levels of these modules are those of the patterns up to that levels chunk. The second one asks the recorder for
 * those of all other modules. Both are called in the helper. Modules whose changes wait for their time do not wait
 * any longer then. */
void levels_have_patterns(struct text build_id, struct text path, uint64_t patterns);
void levels_ask_for_patterns(void);

/* Rewrites the calls of functions whose level was set. False if not all could be reached now; the helper tries again.
 */
bool levels_settle(void);

/* The same again and again, for less than half a second. */
void levels_try_to_settle(void);

/* For a process without threads yet: takes the probes of all modules out of the code as they are loaded. */
void levels_begin_paused(void);

/* In the helper, after recording was switched off: it takes the probes out of the code if the pause lasts. */
void levels_may_pause(void);

/* Puts the probes back and returns when they are there. Then levels_are_resumed returns true, unless levels_may_pause
 * was called meanwhile. Any thread with signals held back. */
void levels_resume(void);
bool levels_are_resumed(void);

/* In the helper: goes on with changes. Returns after how many milliseconds to call it again; negative if nothing is
 * left to do. */
long levels_tick(void);

/* Whether its next call reads code: levels change after that, and threads have fewer events to store then. */
bool levels_hurry(void);

/* A program is making so many calls that a budget may soon change levels: code is read now. Any thread. */
void levels_expect_changes(void);

/* All functions are timed again, and stay so. All calls get their original bytes. */
void levels_stop(void);

/* No call is counted in place any more (in_place.h). False if the system does not let the code change. */
bool levels_leave_places(void);

/* The calling thread cannot be set up. Its calls that are counted in place are lost until the code is changed. */
void levels_lose_places(void);

/* The calling thread enters dlclose (true), or has left it. The second returns whether the modules should be visited
 * soon. */
bool levels_unloading(bool now);

/* The calling thread is about to fork (true), or has forked. In the child, levels_forked takes the second's place. */
void levels_forking(bool now);
void levels_forked(void);

/* Once in a program: forked children need not call it. */
void levels_begin_process(void);

/* Before the process ends: no level changes any more, and the session has the changes so far. The second is called if
 * the process does not end: an exec has failed. */
void levels_end_process(void);
void levels_take_end_back(void);

#pragma GCC visibility pop

#endif
