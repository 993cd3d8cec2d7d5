/* Whether a library may be gone, or another one may be in its place, since the modules were visited (levels.h). */
#ifndef DWELL_LEVELS_LEVEL_UNLOADS_H
#define DWELL_LEVELS_LEVEL_UNLOADS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* In a process' block, which forked children find zero. */
struct process_level_unloads {
    uint32_t closing; /* number of threads inside dlclose */
};

/* Whether no library has gone since the last visit. Without the interposed dlclose that is never known. Any thread, any
 * time. */
bool level_unloads_are_known(void);

/* The number of unloadings so far. If a look at the loader's list that began after it has found that no module has
 * come or gone, level_unloads_confirm takes the place of a visit. */
uint32_t level_unloads(void);
void level_unloads_confirm(uint32_t unloads);

/* Around a visit. */
void level_unloads_visit(void);
void level_unloads_visited(void);

/* The calling thread enters dlclose (true), or has left it. Under the levels' lock. */
void level_unloads_note(bool now);

/* In a forked child: a thread of the parent may have been inside dlclose. */
void level_unloads_forked(void);

#pragma GCC visibility pop

#endif
