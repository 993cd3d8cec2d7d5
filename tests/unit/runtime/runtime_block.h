/*
 * A thread's and a process' block for tests of single files of the runtime. Functions of other files that these files
 * call are replaced here: they only record the calls.
 */
#ifndef TESTS_RUNTIME_BLOCK_H
#define TESTS_RUNTIME_BLOCK_H

#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "thread.h"

struct runtime_calls {
    int trigger;                         /* upward.switch_recording: 0 never, 1 on, -1 off */
    uint64_t pause_time;                 /* pause_begin */
    int chunks, given_up;                /* chunk_take, thread_give_up_chunk */
    int notified;                        /* gate_notify */
    int switches, limits;                /* the recorder's switch_stack, thread_set_limit */
    struct stack *stack;                 /* of the last switch */
    uint64_t program_begin, program_end; /* modules_is_program */
    size_t rows;                         /* value_rows_append */
};

/* The rows of values that were appended. */
enum { RUNTIME_ROWS = 8192 };
extern const struct value_row *runtime_rows[RUNTIME_ROWS];

extern struct runtime_calls runtime_calls;

/* Is called with each record of metadata; it has no texts. The test sets it. */
extern void (*runtime_append)(const struct dwell_record *record, size_t size);

/* Makes a thread with an empty shadow stack the calling one, in a process that records. */
struct thread *runtime_block(void);

/* Opens a call of that function on the thread's shadow stack. */
struct call *runtime_open_call(struct thread *t, uint64_t function, uint64_t call_site);

/* A session of the given filters, for filter_begin: a descriptor. */
int runtime_filters(const void *chunk, uint32_t size);

#endif
