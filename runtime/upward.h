/*
 * Calls upwards. The runtime's lower parts, such as chunks and the helper thread, do not name what stands on them. They
 * call it through this table, which upward.c fills.
 */
#ifndef DWELL_RUNTIME_UPWARD_H
#define DWELL_RUNTIME_UPWARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "levels/counts.h"

#pragma GCC visibility push(hidden)

struct event;
struct frame_exit;
struct process;
struct thread;

struct upward {
    /* No chunks are to be taken any more. Any thread. */
    void (*space_is_gone)(void);
    /* Events up to that time, in ticks, make room: windows of kept calls that have them are dropped. Any thread. */
    void (*drop_windows)(uint64_t until);
    /* Whether changes of privileges are seen. */
    bool (*sees_privileges)(void);
    /* In the helper: carries out commands from outside. `fd` is the helper's descriptor of the session. */
    void (*take_commands)(struct process *p, int fd);
    /* In the helper: does what is due. Returns after how many milliseconds to call it again; negative for never. */
    long (*tick)(struct process *p);
    /* In the helper: whether what is due is to be done before chunks are prepared, as threads fill fewer after it. */
    bool (*hurries)(void);
    /* A thread makes so many calls that an overhead budget may soon change levels. Any thread. */
    void (*expect_changes)(void);
    /* In the helper: opens a thread's ring of OS events, as os_open_ring does. */
    void *(*open_ring)(uint32_t tid, int *syscalls);
    /* Whether a SIGBUS wakes the helper where memory has taken the place of the page on which it sleeps. */
    bool (*bus_wakes_helper)(void);
    /* In the handler of SIGBUS: begins a forked child that counts its first call at that address. */
    enum counts_child (*begin_child)(const void *address);
    /* In the helper, before it sleeps, and when it ends: its CPU time is noted. */
    void (*note_helper)(bool ends);

    /* The calling process is to be recorded, if it is not yet: enters the session. Returns whether it is. Signals are
     * held back, as in what follows. */
    bool (*begin_process)(void);
    /* The calling thread begins to be recorded in this process; then it is in the list of live ones. */
    void (*begin_thread)(struct thread *t, bool forked);
    void (*thread_is_listed)(struct thread *t);
    /* It is about to end; then it is in that list no more. Later, whether another thread can use its block. */
    void (*end_thread)(struct thread *t);
    void (*thread_has_ended)(struct thread *t);
    bool (*block_is_free)(const struct thread *t);
    /* The calling thread cannot be recorded. */
    void (*thread_is_not_recorded)(void);
    /* Whether the calling thread's counted calls are counted; or they take the slow path, in any thread. */
    void (*count_calls)(struct thread *t, bool counts);
    void (*divert_calls)(struct thread *t);

    /* On the slow path: as level_takes_enter and level_answer do. */
    bool (*takes_enter)(struct thread *t, const struct event *event);
    void (*answer_levels)(struct thread *t, uint64_t stack_pointer);
    /* An exit whose results are recorded: as level_exit_if_watched does. */
    void (*watched_exit)(const struct frame_exit *exit);
    /* On the slow path, too: a filter switches the process on or off. */
    void (*switch_recording)(bool on);
    /* Of the module map: as modules_update, modules_is_loading, modules_is_program and modules_identity_at do. */
    bool (*update_modules)(bool loading, uint64_t function);
    bool (*is_loading)(const struct thread *t, uint64_t stack_pointer);
    bool (*is_program)(uint64_t address);
    uint32_t (*module_identity_at)(uint64_t function);
    /* A child of the program was waited for, with that answer. Not in libdwell.a. */
    void (*child_ended)(pid_t pid, int status);
};

extern const struct upward upward;

#pragma GCC visibility pop

#endif
