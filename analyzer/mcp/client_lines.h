/* Splits what arrives in pieces into lines. A line that is too long is dropped while it arrives. */
#ifndef DWELL_MCP_CLIENT_LINES_H
#define DWELL_MCP_CLIENT_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { MCP_LINE_LIMIT = 1 << 20 };

/* Zeroed at first. */
struct mcp_lines {
    char *bytes;
    size_t at, length, room; /* what is not taken yet is from `at` to `length` */
    size_t searched;         /* no line ends before it */
    bool skips;              /* the rest of a line that is too long */
    bool ended;
};

enum mcp_line {
    MCP_LINE_NONE, /* none is complete */
    MCP_LINE_GOOD,
    MCP_LINE_TOO_LONG,
};

void mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t length);

/* Nothing follows: what is left is a line, too. */
void mcp_lines_end(struct mcp_lines *l);

/* Takes the next line, without its end. It is valid until the next mcp_lines_add, and can be changed. */
enum mcp_line mcp_lines_take(struct mcp_lines *l, char **line, size_t *length);

void mcp_lines_drop(struct mcp_lines *l);

#endif
