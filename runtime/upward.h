/*
 * Calls upwards. The runtime's lower parts, such as chunks and the helper thread, do not name what stands on them. They
 * call it through this table, which upward.c fills.
 */
#ifndef DWELL_RUNTIME_UPWARD_H
#define DWELL_RUNTIME_UPWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/counts.h"

#pragma GCC visibility push(hidden)

struct process;

struct upward {
    /* No chunks are to be taken any more. Any thread. */
    void (*space_is_gone)(void);
    /* Something that all threads look at has changed: adds one to its count. Any thread, with signals held back. */
    void (*changed)(uint32_t *count);
    /* In the helper: carries out commands from outside. `fd` is the helper's descriptor of the session. */
    void (*take_commands)(struct process *p, int fd);
    /* In the helper: does what is due. Returns after how many milliseconds to call it again; negative for never. */
    long (*tick)(struct process *p);
    /* In the helper: opens a thread's ring of OS events, as os_open_ring does. */
    void *(*open_ring)(uint32_t tid, int *syscalls);
    /* Whether a SIGBUS wakes the helper where memory has taken the place of the page on which it sleeps. */
    bool (*bus_wakes_helper)(void);
    /* In the handler of SIGBUS: begins a forked child that counts its first call at that address. */
    enum counts_child (*begin_child)(const void *address);
    /* In the helper, before it sleeps, and when it ends: its CPU time is noted. */
    void (*note_helper)(bool ends);
};

extern const struct upward upward;

#pragma GCC visibility pop

#endif
