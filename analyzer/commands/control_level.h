/* dwell control PID level: the functions that a pattern selects in a running process. */
#ifndef DWELL_COMMANDS_CONTROL_LEVEL_H
#define DWELL_COMMANDS_CONTROL_LEVEL_H

#include <stdint.h>

struct dwell_file_header;

/* Ends the program unless `setting` is LEVEL=PATTERN. */
void control_level_check(const char *setting);

/* Writes a chunk with the functions of the process' loaded modules that `setting` selects, and their level, into its
 * session: the open file `fd` with the mapped `header`. Returns the command's text, which the caller frees. Ends the
 * program if there is no such function. */
char *control_level_text(const char *setting, uint32_t pid, int fd, struct dwell_file_header *header);

#endif
