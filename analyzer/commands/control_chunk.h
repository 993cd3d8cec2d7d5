/* Commands to the runtime of a recorded process, through its control chunk in the session file (docs/format.md). */
#ifndef DWELL_COMMANDS_CONTROL_CHUNK_H
#define DWELL_COMMANDS_CONTROL_CHUNK_H

#include <stdint.h>

#include "dwell/format.h"

/* Maps the chunk at *offset and sets *offset to the next one. Returns NULL after the last one. The newest process comes
 * first. The caller unmaps DWELL_UNIT bytes. */
struct dwell_control *control_chunk_next(int fd, uint64_t *offset);

enum control_answer {
    CONTROL_DONE,   /* the result is in the chunk */
    CONTROL_DEAF,   /* the process takes no commands */
    CONTROL_BUSY,   /* with another command */
    CONTROL_SILENT, /* it did not answer in time */
};

/* Sends a command and waits for its answer. Waits `patience` milliseconds until an earlier command is done, and
 * `answer_patience` for the answer. */
enum control_answer control_chunk_send(struct dwell_control *control, uint32_t command, const char *text, long patience,
                                       long answer_patience);

#endif
