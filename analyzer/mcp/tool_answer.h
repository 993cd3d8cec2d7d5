/* The text of an answer, cut to the room that the client has for it. */
#ifndef DWELL_MCP_TOOL_ANSWER_H
#define DWELL_MCP_TOOL_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/child.h"
#include "mcp/tools.h"

/* The text if it has at most `room` bytes. Otherwise whole lines of each part, parted by empty lines, from its start:
 * the longest parts lose lines first, and a line says how many are left out. `lines_left_out` counts lines that the
 * text already lacks. The caller frees it. */
char *mcp_answer_cut(const char *text, size_t room, uint64_t lines_left_out);

/* The answer of a command that has ended: its text, what it warned of, and what to ask next. Sets whether it failed.
 * `ended` says why it was ended, or is NULL. The caller frees the text. */
char *mcp_answer_of(const struct mcp_tool *tool, const struct mcp_child *c, size_t room, const char *ended,
                    bool *failed);

#endif
