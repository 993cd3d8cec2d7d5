/* The calls of tools that are not answered yet. Some of them run at a time, the others wait. */
#ifndef DWELL_MCP_TOOL_CALLS_H
#define DWELL_MCP_TOOL_CALLS_H

#include <poll.h>
#include <stdio.h>

#include "mcp/child.h"
#include "mcp/request.h"

struct json_object;

enum { MCP_MOST_CALLS = 32, MCP_MOST_RUNNING = 4 };

struct mcp_call {
    struct json_object *id; /* owned */
    const struct mcp_tool *tool;
    struct mcp_request request;
    struct mcp_child child;
    bool runs;
    bool cancelled;    /* its answer is not wanted */
    const char *ended; /* why it was ended; NULL if it was not */
    uint64_t until;    /* when it is ended, and then when it is killed; of CLOCK_MONOTONIC */
};

/* Zeroed at first. */
struct mcp_calls {
    struct mcp_call list[MCP_MOST_CALLS]; /* in the order in which they came */
    size_t count;
    bool with_values; /* answers may have recorded values */
};

/* Takes the request; there must be room. `id` stays the caller's. */
void mcp_calls_add(struct mcp_calls *c, struct json_object *id, const struct mcp_tool *tool,
                   struct mcp_request *request);

/* Ends the calls with this id, and never answers them. */
void mcp_calls_cancel(struct mcp_calls *c, struct json_object *id);

/* Fills descriptors to wait for, at most two a call, and returns how many. mcp_calls_read reads those that poll has
 * found. */
size_t mcp_calls_poll(struct mcp_calls *c, struct pollfd *polled);
void mcp_calls_read(struct mcp_calls *c, const struct pollfd *polled);

/* How many milliseconds poll may wait; -1: without end. */
int mcp_calls_wait(const struct mcp_calls *c);

/* Answers calls that have ended, ends those that take too long, and starts those that wait. */
void mcp_calls_step(struct mcp_calls *c, FILE *out);

/* Ends all of them without an answer. Recordings are completed if that is done soon. */
void mcp_calls_end(struct mcp_calls *c);

/* Answers a call with a text. */
void mcp_write_tool_text(FILE *out, struct json_object *id, const char *text, bool failed);

#endif
