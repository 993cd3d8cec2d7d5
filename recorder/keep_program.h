/* Keeps the files of recorded programs and their libraries open, so that their names can be read while they run, and
 * after they were removed or replaced. */
#ifndef DWELL_RECORDER_KEEP_PROGRAM_H
#define DWELL_RECORDER_KEEP_PROGRAM_H

#include <stdint.h>

#include "symbols/symbols.h"

/* Keeps the program of a process, if that does no harm: an open file keeps its file system from being unmounted. So it
 * has to be on one that is in use anyway: that of the session, that of dwell itself, or the root. Any thread. */
void keep_program(uint32_t pid, int session);

/* The same for a module that the process has loaded. */
void keep_module(const struct symbol_module *module, uint32_t pid, int session);

#endif
