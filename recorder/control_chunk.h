/* Commands to the runtime of a recorded process, through its control chunk in the session file (docs/format.md). */
#ifndef DWELL_RECORDER_CONTROL_CHUNK_H
#define DWELL_RECORDER_CONTROL_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/format.h"

/* The list of control chunks. Recorded processes write it, so it may lead in a circle: then it ends. */
struct control_walk {
    uint64_t at;     /* the offset of a chunk; zero after the last one */
    uint64_t kept;   /* an earlier one */
    uint32_t steps;  /* since that */
    uint32_t period; /* after so many steps, another one is kept */
};

/* The newest chunk of the session. */
struct control_walk control_walk_begin(uint64_t first);

/* Goes on to the chunk that was made before; `next` is from the chunk at walk->at. */
void control_walk_on(struct control_walk *walk, uint64_t next);

/* Maps the chunk at walk->at and goes on. Returns NULL after the last one. The newest process comes first. The caller
 * unmaps DWELL_UNIT bytes. */
struct dwell_control *control_chunk_next(int fd, struct control_walk *walk);

/* The process of the chunk has ended: it does not listen any more, even if it was killed. */
void control_chunk_deafen(int fd, uint64_t offset, uint32_t process);

/* The process looks for what there is to do. */
void control_chunk_wake(struct dwell_control *control);

/* Whether its process has recorded all and is about to end. */
bool control_chunk_has_ended(int fd, uint64_t offset, uint32_t process);

enum control_answer {
    CONTROL_DONE,   /* the result is in the chunk */
    CONTROL_DEAF,   /* the process takes no commands */
    CONTROL_BUSY,   /* with another command */
    CONTROL_SILENT, /* it did not answer in time */
};

/* Whether the process takes commands. */
bool control_chunk_listens(const struct dwell_control *control);

/* Sends a command: CONTROL_DONE. Waits `patience` milliseconds until an earlier one is done. The second waits for the
 * answer. */
enum control_answer control_chunk_post(struct dwell_control *control, uint32_t command, const char *text,
                                       long patience);
enum control_answer control_chunk_await(const struct dwell_control *control, long patience);

/* Sends a command and waits for its answer. Waits `patience` milliseconds until an earlier command is done, and
 * `answer_patience` for the answer. */
enum control_answer control_chunk_send(struct dwell_control *control, uint32_t command, const char *text, long patience,
                                       long answer_patience);

/* Pauses the processes of the session, and those that begin later; waits for their answers. Returns the number of
 * living processes that have not answered. */
size_t control_chunks_pause(int fd, struct dwell_file_header *header);

#endif
