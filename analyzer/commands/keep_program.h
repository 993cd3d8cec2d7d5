/* Keeps the files of recorded programs open, so that their names can be read after they were removed. */
#ifndef DWELL_COMMANDS_KEEP_PROGRAM_H
#define DWELL_COMMANDS_KEEP_PROGRAM_H

#include <stdint.h>

/* Keeps the program of a process, if that does no harm: an open file keeps its file system from being unmounted. So it
 * has to be on that of the session `fd`, which is open anyway. Any thread. */
void keep_program(uint32_t pid, int fd);

#endif
