/* The stack that the main thread begins on. */
#ifndef DWELL_BASE_MAIN_STACK_H
#define DWELL_BASE_MAIN_STACK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Stacks that are larger are not looked at. */
enum { LARGEST_STACK = 64 << 20 };

/* The end of that stack if the stack pointer lies on it; zero otherwise, and where it is not known. All between the two
 * is the stack: the system keeps other mappings away from it. */
uint64_t main_stack_end(uint64_t stack_pointer);

/* The same for any stack: where memory ends that is part of it for certain. Of another stack than the main thread's, no
 * more is certain than the page in use: what lies above may belong to others, who may unmap it. */
uint64_t stack_certain_end(uint64_t stack_pointer);

#pragma GCC visibility pop

#endif
