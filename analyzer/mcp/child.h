/* A command of dwell as a child process, whose output is collected. */
#ifndef DWELL_MCP_CHILD_H
#define DWELL_MCP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* What a pipe has brought. No byte is zero, and the text ends with a zero byte. */
struct mcp_output {
    int fd; /* -1 if it is closed */
    char *text;
    size_t length, room;
    uint64_t lines_left_out; /* of what was too much to keep */
};

struct mcp_child {
    pid_t pid; /* also of its process group */
    bool runs_program;
    bool with_values; /* it may show recorded values */
    struct mcp_output out, err;
    int status; /* of waitpid, once it has ended */
};

/* Starts /proc/self/exe with these words, in that folder. `runs_program` and `with_values` are set already. Signals
 * that dwell mcp blocks are not blocked in it. A command that runs a program has dwell mcp's own environment; others
 * have one for texts, ask no servers, and show source of `source_folders` only (SOURCE_FOLDERS). */
bool mcp_child_start(struct mcp_child *c, char **words, const char *folder, const char *source_folders,
                     struct error *error);

/* Takes what a pipe has, after poll. */
void mcp_child_read(struct mcp_output *o);

/* Whether it has ended. Then it takes the rest of its output, and closes the pipes. */
bool mcp_child_has_ended(struct mcp_child *c);

/* Ends it and its group: softly lets `dwell record` complete the session. */
void mcp_child_end(const struct mcp_child *c, bool softly);

void mcp_child_drop(struct mcp_child *c);

#endif
