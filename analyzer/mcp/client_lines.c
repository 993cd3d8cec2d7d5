/* Collects the bytes of a client until a line is complete. Memory holds at most a line of the limit, and one piece. */
#include "mcp/client_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Moves what is not taken to the front. */
static void lines_close_gap(struct mcp_lines *l)
{
    if (l->at)
        memmove(l->bytes, l->bytes + l->at, l->length - l->at);
    l->length -= l->at;
    l->searched -= l->at;
    l->at = 0;
}

void mcp_lines_add(struct mcp_lines *l, const char *bytes, size_t length)
{
    if (!length)
        return;
    lines_close_gap(l);
    GROW_BY(l->bytes, l->length, length, l->room);
    memcpy(l->bytes + l->length, bytes, length);
    l->length += length;
}

void mcp_lines_end(struct mcp_lines *l)
{
    if (!l->ended && (l->length > l->at || l->skips))
        mcp_lines_add(l, "\n", 1);
    l->ended = true;
}

enum mcp_line mcp_lines_take(struct mcp_lines *l, char **line, size_t *length)
{
    const size_t left = l->length - l->searched;
    char *end = left ? memchr(l->bytes + l->searched, '\n', left) : NULL;
    const size_t so_far = (end ? (size_t)(end - l->bytes) : l->length) - l->at;
    const bool too_long = l->skips || so_far > MCP_LINE_LIMIT;
    if (!end) {
        l->searched = l->length;
        l->skips = too_long;
        if (too_long)
            l->at = l->length;
        return MCP_LINE_NONE;
    }
    *line = l->bytes + l->at;
    *length = so_far;
    l->at = l->searched = l->at + so_far + 1;
    l->skips = false;
    return too_long ? MCP_LINE_TOO_LONG : MCP_LINE_GOOD;
}

void mcp_lines_drop(struct mcp_lines *l)
{
    free(l->bytes);
    *l = (struct mcp_lines){ 0 };
}
