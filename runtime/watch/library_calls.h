/* Calls into libraries: the slots that the recorder has chosen lead to stubs, which record the calls. Not part of
 * libdwell.a. */
#ifndef DWELL_WATCH_LIBRARY_CALLS_H
#define DWELL_WATCH_LIBRARY_CALLS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Reads the plans in the session `fd`, and lets the slots of the modules that are loaded lead to stubs. When the
 * process is set up. */
void library_calls_begin(int fd) __attribute__((weak));

/* The same for the modules that were loaded since. Under the lock of the module map, after it is up to date, while no
 * thread forks, with signals held back. */
void library_calls_look(void) __attribute__((weak));

/* Whether such calls are recorded. */
bool library_calls_are_wanted(void) __attribute__((weak));

#pragma GCC visibility pop

#endif
