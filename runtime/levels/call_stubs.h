/* Stubs that stand for functions of libraries: a stub calls the function, and records that as one of the program's own
 * calls (`dwell record --calls-to`). */
#ifndef DWELL_LEVELS_CALL_STUBS_H
#define DWELL_LEVELS_CALL_STUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level.h"

#pragma GCC visibility push(hidden)

/* What a stub copies of the arguments on the stack. All are multiples of 16. */
struct call_stack {
    uint32_t bytes;            /* at most */
    uint16_t frame_bytes;      /* at least this ... */
    uint16_t to_frame_pointer; /* ... and no more, if rbp is not further above; not zero if that is so */
};

/* The stub that calls `target`, which the session knows as `function`. Zero if there is none left. One thread at a
 * time. `direct`: for callers that may know which registers the function changes. */
uint64_t call_stub_of(uint64_t target, uint64_t function, const struct call_stack *stack, bool direct);

struct near_ways;

/* Calls of a stub for direct ones come through code near their module: its ways are the stub's from now on. `called`:
 * what the stub calls there. `counter`: what counts a call there, or zero. One thread at a time. The second one ends
 * that for all ways in that memory. */
void call_stub_set_near(uint64_t stub, struct near_ways *ways, uint64_t called, uint64_t counter);
void call_stubs_leave_near(const char *at, size_t size);

/* Whether an address is that of a stub. */
bool call_stubs_have(uint64_t address);

/* Sets the level of a function that stubs call: `number` is that of its counter, if it is counted. Calls that have
 * begun stay what they are. False if no stub calls it. One thread at a time. */
bool call_stubs_set_level(uint64_t function, enum level level, uint32_t number);

/* The exits of a function that stubs call are watched from now on, or not: the function's slot has the watch. One
 * thread at a time. */
void call_stubs_watch(uint64_t function, bool watched);

/* From now on, all calls go to their functions, past the stubs. Calls that have begun end as they would have. */
void call_stubs_end(void);

/* Stubs whose targets are unloaded may get others when there are no new ones any more: no thread runs such a stub, as
 * it would return into what is unloaded. */
typedef bool call_stub_is_unloaded(uint64_t target);
void call_stubs_give_back(call_stub_is_unloaded *is_unloaded);

#pragma GCC visibility pop

#endif
