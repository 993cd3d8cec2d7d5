/* The Model Context Protocol on two descriptors: answers a client's requests until it is gone. */
#ifndef DWELL_MCP_SERVER_H
#define DWELL_MCP_SERVER_H

#include <stdbool.h>
#include <stdio.h>

#include "mcp/folders.h"

struct mcp_options {
    struct mcp_folders folders; /* at least one */
    bool allow_record;
    bool with_values; /* answers may have recorded values of arguments */
};

/* Returns when the client has closed `in` and its requests are answered, when `out` is closed, or when a signal asks to
 * end. The caller has SIGPIPE ignored. Signals stay blocked. */
void mcp_serve(const struct mcp_options *options, int in, FILE *out);

#endif
