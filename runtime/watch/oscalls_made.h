/* The function in which an object is being made. */
#ifndef DWELL_OSCALLS_MADE_H
#define DWELL_OSCALLS_MADE_H

#include "makers.h"

#pragma GCC visibility push(hidden)

/* The calling thread's innermost recorded function, now. Its function is zero if nothing is recorded, or if it is not
 * known for certain. */
struct maker os_call_maker(void);

#pragma GCC visibility pop

#endif
