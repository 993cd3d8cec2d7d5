/* A module whose functions can have levels: its calls of the probes, and how they come to the functions' levels. All
 * functions are called under the levels' lock. */
#ifndef DWELL_LEVELS_LEVEL_MODULE_H
#define DWELL_LEVELS_LEVEL_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "level_table.h"
#include "levels/count_stubs.h"
#include "levels/counts.h"
#include "levels/hook_places.h"
#include "levels/level_pause.h"
#include "levels/probe_calls.h"
#include "levels/rewrite.h"
#include "levels/site_key.h"
#include "value_plan.h"

#pragma GCC visibility push(hidden)

enum { MAX_TRIES_IN_PLACE = 12 /* with growing waits: 2.5 s in all */ };
enum { MAX_COUNT_STUBS = 8, MIN_COUNT_STUBS = 2 * COUNTS_IN_PAGE /* at a time, doubled each time */ };

struct level_module {
    struct level_module *next;
    struct dl_phdr_info info;   /* without its name */
    uint64_t begin, end;        /* of its code */
    struct text build_id, path; /* kept permanently */
    uint64_t patterns;          /* offset of the newest levels chunk whose pattern its levels are of; zero if none */
    uint32_t number;            /* in the slots of its functions; never used again */
    bool loaded;                /* now */
    bool program;               /* it is never unloaded */
    bool later;                 /* the helper brings it to the levels that it begins with, when it is worth while */
    bool reading;               /* a part of its code was looked at */
    uint8_t stage;              /* enum level_stage at that time */
    struct site_key key, again; /* of its code: before it was read, and after that */
    bool read;                  /* and all of it */
    const char *problem;        /* that was found then and is not reported yet, or NULL */
    bool denied;                /* its functions stay timed */
    bool changes;               /* some function may not have its wanted level */
    bool hides;                 /* its functions that filters hide are listed */
    bool keeps_probes;          /* while the program is paused */
    bool watch_changed;         /* its calls may not be as functions are watched and values read */
    bool pause_changed;         /* its calls may not be what its pause says */
    bool nests_known;           /* what level_nested_find finds in the calls as they are now */
    uint32_t pause;             /* enum level_pause_phase */
    uint32_t pause_generation;  /* threads that have seen this one know that its calls are checked */
    bool slots_check;           /* the slots of the enter probe lead to a check */
    uint32_t leaving, reduced;  /* numbers of functions that are LEAVING, and that are not timed */
    uint32_t watched, valued;   /* numbers of functions whose exits are watched, and whose enters read values */
    uint64_t *functions;        /* that were ever not to be timed */
    uint32_t count, room;
    struct hook_places places;
    struct call_sites sites;
    struct rewriter rewriter;
    struct count_stubs stubs[MAX_COUNT_STUBS];
    uint32_t stub_count;
    uint32_t tries; /* that are left to let functions be counted in place */
};

/* Sets the level that a function of the module is to have. False without memory, or without a counter. */
bool level_module_want(struct level_module *m, uint64_t function, enum level level);

/* The exits of a function are watched (keep_calls.h), or not with zero. It stays timed while they are. False without
 * memory. */
bool level_module_watch(struct level_module *m, uint64_t function, uint32_t watch);

/* The enters of a function read values (value_probe.h), and its exits if it has results; or neither does. It stays
 * timed while they do. False without memory. */
bool level_module_read_values(struct level_module *m, uint64_t function, enum value_plan_reads reads);

/* Whether it cannot be unloaded now. */
bool level_module_is_reachable(const struct level_module *m);

/* When LEAVING functions have left: no call of theirs can be open or begin. */
struct level_look {
    uint32_t number; /* marks the slots of functions with open calls */
    uint32_t seen;   /* all threads have seen this generation */
    bool blind;      /* calls may be open that no look finds */
    bool open_known; /* level_may_be_open says which functions have open calls in modules whose calls are checked */
    bool open_fewer; /* than at the last look */
    bool ends;       /* nothing more is recorded */
    bool in_parts;   /* code is read in parts: the levels' lock is free between them, and the caller comes again */
};

/* Whether calls of the module's functions that are not below open ones have ended, or are not on their way, since a
 * pause made its calls checked. If not, `generation` is that of a change. */
bool level_module_is_quiet(struct level_module *m, const struct level_look *look, uint32_t generation);

/* Whether the module's calls are not yet what the program's pause wants. */
bool level_module_lags(const struct level_module *m);

/* Brings all functions of the module closer to their wanted levels. `alone`: no thread can be in a call of the module's
 * functions. `generation`: that of the changes. Returns NULL, or a problem. */
const char *level_module_work(struct level_module *m, const struct level_look *look, uint32_t generation, bool alone);

/* Functions are not counted in place any more. */
void level_module_leave_places(struct level_module *m);

/* Whether the module's code is in memory with calls that lead to stubs. */
bool level_module_is_in_use(const struct level_module *m);

/* Whether the module is loaded, and has that build-id; or that path, without one. */
static inline bool level_module_is(const struct level_module *m, struct text build_id, struct text path)
{
    return m->loaded && (build_id.length ? text_is_same(m->build_id, build_id) : text_is_same(m->path, path));
}

/* Whether the module is the one whose code was rewritten: the loader may have put the same file in its place again. */
bool level_module_is_same(const struct level_module *m, const struct dl_phdr_info *info);

/* Another module may be in its place: forgets all that is known of its code. Its functions are timed. */
void level_module_forget(struct level_module *m);

#pragma GCC visibility pop

#endif
