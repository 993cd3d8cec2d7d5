/* Code near a module that a changed call leads to (near_calls.h): it goes on where the level of the function says, and
 * counts calls by itself. */
#ifndef DWELL_LEVELS_NEAR_CODE_H
#define DWELL_LEVELS_NEAR_CODE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What the code reads at each call. Near it, and writable. */
struct near_ways {
    uint64_t way;         /* where a call goes on: the function, its stub, or what counts the call */
    uint64_t stub;        /* for calls of threads without a page */
    uint64_t page, count; /* offsets of the page in a thread's directory, and of the counter in the page */
};

#if defined(__x86_64__)
enum { NEAR_CODE_BYTES = 80 };
#else
enum { NEAR_CODE_BYTES = 16 };
#endif

/* Writes the code. The function is as near. */
void near_code_write(char *at, const struct near_ways *ways, uint64_t function);

/* What counts a call and goes on with the function. All registers but the flags are as they were. Zero where nothing
 * near counts. */
uint64_t near_code_counter(const char *at);

/* What a stub calls by an indirect call, to get to the function. */
uint64_t near_code_function(const char *at, uint64_t function);

#pragma GCC visibility pop

#endif
