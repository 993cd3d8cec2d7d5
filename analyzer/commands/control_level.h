/* dwell control PID level: the functions that a pattern selects in a running process. */
#ifndef DWELL_COMMANDS_CONTROL_LEVEL_H
#define DWELL_COMMANDS_CONTROL_LEVEL_H

#include <stdint.h>

struct dwell_control;
struct dwell_file_header;

/* Ends the program unless `setting` is LEVEL=PATTERN. */
void control_level_check(const char *setting);

/* Writes a chunk with the functions of the process' loaded modules that `setting` selects, their level and the pattern,
 * into its session: the open file `fd` with the mapped `header`. From then on, the recorder applies the pattern to
 * libraries that the process loads. Returns the command's text, which the caller frees. Prints a remark if there is no
 * such function, and ends the program if there is no recorder, either. */
char *control_level_text(const char *setting, struct dwell_control *control, int fd, struct dwell_file_header *header);

#endif
