/* Calls into libraries: the slots that the recorder has chosen lead to stubs, which record the calls. Not part of
 * libdwell.a. */
#ifndef DWELL_WATCH_LIBRARY_CALLS_H
#define DWELL_WATCH_LIBRARY_CALLS_H

#pragma GCC visibility push(hidden)

/* Reads the plan in the session `fd`, and lets the slots of the modules that are loaded lead to stubs. When the process
 * is set up. */
void library_calls_begin(int fd) __attribute__((weak));

#pragma GCC visibility pop

#endif
