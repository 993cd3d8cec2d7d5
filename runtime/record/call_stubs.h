/* Stubs that stand for functions of libraries: a stub calls the function, and records that as one of the program's own
 * calls (`dwell record --calls-to`). */
#ifndef DWELL_RECORD_CALL_STUBS_H
#define DWELL_RECORD_CALL_STUBS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Whether this machine has such stubs. */
bool call_stubs_exist(void);

/* The stub that calls `target`, which the session knows as `function`. At most `stack_bytes` of its arguments are on
 * the stack: a multiple of 16. Zero if there is none left. One thread at a time. A stub is never given back, as a
 * thread may run it. */
uint64_t call_stub_of(uint64_t target, uint64_t function, uint32_t stack_bytes);

#pragma GCC visibility pop

#endif
