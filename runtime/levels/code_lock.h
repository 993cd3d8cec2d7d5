/* Keeps the program from changing the protection of its code while calls in it are rewritten. */
#ifndef DWELL_LEVELS_CODE_LOCK_H
#define DWELL_LEVELS_CODE_LOCK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* This code may be rewritten from now on. Under the levels' lock. */
void code_lock_cover(uint64_t begin, uint64_t end);

/* Around rewriting, with signals held back. */
void code_lock_take(void);
void code_lock_release(void);

/* Around a call of the program that changes the protection of these pages. Holds signals back if they may be code; the
 * result is for the second function. */
uint64_t code_lock_begin_call(uint64_t at, uint64_t size);
void code_lock_end_call(uint64_t mask);

#pragma GCC visibility pop

#endif
