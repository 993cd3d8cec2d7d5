/*
 * The helper thread, which prepares and unmaps chunks. All functions but helper_is_here may wait for it; a lock that
 * the helper takes must not be held then.
 */
#ifndef DWELL_HELPER_H
#define DWELL_HELPER_H

#include "common.h"
#include "processor.h"

#pragma GCC visibility push(hidden)

enum { HELD_SLOTS = 64 };

/* In the process' block. */
struct helper {
    uint32_t tid;   /* zero if there is none: then chunks are prepared by the threads themselves */
    uint32_t *work; /* changes whenever there is something to do: a word of the control chunk, or `own_work` */
    uint32_t own_work;
    uint32_t sleeps;
    uint32_t waker; /* number, plus 1, of the processor of the thread that woke it last */
    struct processor_moves moves;
    char *stack;
    int fd;                /* the session, in the helper's own table of descriptors */
    uint32_t stop;         /* it is to end */
    uint32_t request_lock; /* one request at a time */
    uint32_t request_size; /* of the requested chunk in bytes, or a REQUEST_ of helper.c */
    uint32_t request_tid;  /* the thread that needs a perf ring */
    int request_fd;        /* a descriptor to be closed, or one of the answer */
    uint32_t request_done; /* changes when the answer is there */
    struct area answer;
    struct area units;      /* prepared by chunk_prepare_unit */
    uint32_t unit_count;    /* to be prepared at once next; zero: one */
    char *held[HELD_SLOTS]; /* finished chunks with a record that is not stored yet */
};

/* `fd` is a descriptor of the session; the helper copies it. */
void helper_start(int fd);

/* Safe in signal handlers. */
void helper_wake(void);

/* Requests the helper's end, and does not wait. */
void helper_end(void);

/* Whether the caller is the helper thread. */
bool helper_is_here(void);

/* In the helper, within long work: does what other threads may wait for. */
void helper_serve(void);

/* Asks for a chunk of `size` bytes. {NULL, 0} if there is none. */
struct area helper_ask(uint32_t size);

/* Opens a perf ring of that thread where the program cannot see its descriptor. *ring is NULL if the kernel refuses it.
 * *syscalls is a descriptor for helper_close, or OS_NOTHING. False if there is no helper. */
bool helper_open_ring(uint32_t tid, void **ring, int *syscalls);

/* Closes a descriptor in the helper's table. */
void helper_close(int fd);

/* Ends the helper and waits for its end. Returns a descriptor of the session for helper_resume, which closes it;
 * negative if there was no helper. */
int helper_pause(void);
void helper_resume(int fd);

#pragma GCC visibility pop

#endif
