/* The command line that a call of a tool becomes. */
#ifndef DWELL_MCP_REQUEST_H
#define DWELL_MCP_REQUEST_H

#include "base/error.h"
#include "mcp/folders.h"
#include "mcp/tools.h"

struct json_object;

struct mcp_request {
    char **words; /* of dwell, ended by NULL */
    size_t count, word_room;
    char *folder;         /* where it runs */
    char *source_folders; /* what it may show source of, for SOURCE_FOLDERS */
    unsigned long room;   /* characters of the answer */
    unsigned long limit;  /* seconds that it may take */
};

/* Checks the arguments, NULL or an object, and makes the command line. mcp_request_drop frees it. */
bool mcp_request_make(struct mcp_request *r, const struct mcp_tool *tool, const struct mcp_folders *folders,
                      struct json_object *arguments, struct error *error);
void mcp_request_drop(struct mcp_request *r);

#endif
