/*
 * Leaves calls out of a thread's events, as the filters of `dwell record` leave them out of a recording. The result is
 * events again, in chunks of their own, so every reader of a session can read it.
 *
 * The time of a suppressed call counts for the innermost call around it that is shown. Its OS events do so, too, and
 * the cost of its probes is recorded as the runtime records it. The time of an ignored call and of all that it calls is
 * a pause.
 */
#ifndef DWELL_TRACE_FILTERED_THREAD_H
#define DWELL_TRACE_FILTERED_THREAD_H

#include "trace/event_writer.h"
#include "trace/kept_extras.h"
#include "trace/stack.h"

enum call_action { CALL_SHOWN, CALL_SUPPRESSED, CALL_IGNORED };

struct stream_filter {
    /* The action for a function at an address of a process (serial number). Threads call it at the same time. */
    enum call_action (*judge)(void *context, uint32_t process, uint64_t function, uint64_t time);
    void *context;
    uint32_t depth;    /* calls within so many shown calls are suppressed; zero if unlimited */
    uint64_t shortest; /* ticks: shorter calls are suppressed, unless the OS intervened in them; zero: none */
};

/* How a call of the stack is filtered. */
enum filtered_kind {
    FILTERED_SHOWN,
    FILTERED_WAITING, /* it is shown if it lasts */
    FILTERED_HIDDEN,
    FILTERED_IGNORED, /* or within an ignored call */
};

struct filtered_call {
    uint64_t function, site;
    uint64_t entered;        /* enter time as recorded, less the pauses of the thread until then */
    uint64_t ignored_before; /* ticks of the thread in ignored calls until its enter */
    uint64_t cost;           /* 1/256 ticks: the thread's costs until its enter */
    uint32_t shown;          /* shown and waiting calls, with it */
    uint8_t kind;
    bool calls, shows; /* it has made calls; calls that are shown */
};

enum { FILTERED_CACHE = 1 << 12 };

struct filtered_answer {
    uint64_t function;
    size_t generation; /* of the process' code, plus one */
    enum call_action action;
};

/* A control event that lists calls, until all of them are known. */
struct filtered_control {
    unsigned type; /* zero if there is none */
    uint64_t time;
    uint32_t ended;        /* RESUME */
    uint64_t stack_number; /* SWITCH */
    size_t opened;         /* the calls from this place of the stack on were found open */
};

/* One thread. */
struct filtered_thread {
    const struct session_file *file;
    const struct stream_filter *filter;
    const struct trace_process *process;
    const struct trace_chunk *chunk;
    struct stack_state state;
    struct filtered_call *stack;
    size_t depth, room;
    size_t waiting_from; /* place of the outermost call that waits */
    size_t waiting;
    uint64_t paused, ignored; /* ticks in pauses and in ignored calls */
    struct event_writer out;
    bool out_paused;           /* the output is in a pause */
    uint32_t unwound;          /* shown calls left without an exit since the last event */
    struct kept_extras kept;   /* OS events since then */
    uint64_t cost, cost_noted; /* 1/256 ticks; the part that was written */
    struct filtered_control control;
    struct filtered_answer *answers;
    size_t generation;
    uint64_t damaged_chunks;
};

/* The thread's functions are judged by the filter, and its chunks are passed to `take`. */
void filtered_thread_begin(struct filtered_thread *thread, const struct session_file *file,
                           const struct stream_filter *filter, chunk_taker *take, void *context);

/* Adds the next chunk of the thread, in the order of sequence. Returns false if no more is wanted. */
struct chunk_window;
bool filtered_thread_add(struct filtered_thread *thread, struct chunk_window *window, const struct trace_chunk *chunk);

/* Ends the thread after its last chunk. Then another thread can begin with the same structure. */
void filtered_thread_end(struct filtered_thread *thread);
void filtered_thread_free(struct filtered_thread *thread);

#endif
