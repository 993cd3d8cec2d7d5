/*
 * The module map: which file's code lies where, and since when.
 */
#ifndef DWELL_MODULES_H
#define DWELL_MODULES_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct module;
struct thread;

/* In a thread's block. */
struct thread_modules {
    uint32_t stale;                        /* this thread has loaded or unloaded a library */
    uint32_t inside_loader;                /* it is inside dlclose or fork, so many levels deep */
    const volatile uint64_t *loading_slot; /* it may be inside dlopen, as long as *loading_slot is loading_return */
    uint64_t loading_return;
    uint64_t next_wait; /* before that monotonic time (nanoseconds) it does not wait for the map's lock */
};

/* In the process' block. */
struct process_modules {
    uint32_t lock;
    uint32_t inherited; /* the first look took the parent's map */
    struct module *list;
    uint32_t count, room;
    uint32_t last_serial;
    uint32_t unloads;        /* number of times that the map lost a module */
    uint64_t loader_loads;   /* the loader's counts of libraries loaded */
    uint64_t loader_unloads; /* and unloaded, at the last look */
};

/* The calling thread has loaded or unloaded a library, or is about to. */
void modules_changed(void);

/* dlopen is about to be entered; `slot` is where its return address lies, or NULL. */
void modules_loading(const volatile uint64_t *slot);

/* It has returned. Looks at the library at once, on a thread that is not recorded, too. */
void modules_loaded(void);

/* The calling thread enters dlclose (true) or has left it. */
void modules_unloading(bool now);

/* Whether a probe at that stack pointer runs inside dlopen. */
bool modules_is_loading(const struct thread *t, uint64_t stack_pointer);

/* The process' first look. In a forked child, the map comes from the parent and the loader is not asked. */
void modules_begin(void);

/* Brings the map up to date on a thread that is recorded. Nothing happens in a handler, or inside the loader. */
void modules_look_now(void);

/* Whether the address is in the executable's code. */
bool modules_is_program(uint64_t address);

/* The same whenever the same file is loaded. The texts are kept ones. */
static inline uint32_t modules_identity(struct text path, struct text build_id)
{
    return (uint32_t)((uint64_t)path.at * 31 + (uint64_t)build_id.at);
}

/* The path of the module at that base with that name in the loader's list. Empty if it is not in the map. Under the
 * lock of the map. */
struct text modules_path_of(uint64_t bias, struct text name);

/* The identity of the module in the map that has code at the address; zero if there is none. Under the lock of the map.
 */
uint32_t modules_identity_of(uint64_t address);

/* That of the library that holds a function, which runs. Zero if that cannot be known. Takes no lock of the loader. */
uint32_t modules_identity_at(uint64_t function);

/* Brings the map up to date. `loading`: the caller is inside dlopen. False if not everything could be looked at: try
 * again later. The module that holds `function`, which runs, is known then, too. Signals are held back. */
bool modules_update(bool loading, uint64_t function);

#pragma GCC visibility pop

#endif
