/* The folders that a client may name files in. Links and .. are resolved before a path is compared with them. */
#ifndef DWELL_MCP_FOLDERS_H
#define DWELL_MCP_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Zeroed at first. */
struct mcp_folders {
    char **paths; /* absolute, without links */
    size_t count, room;
};

/* False and an error if it is no folder, or its path has a line break. */
bool mcp_folders_add(struct mcp_folders *f, const char *path, struct error *error);
void mcp_folders_drop(struct mcp_folders *f);

/* The folders in one text. The caller frees it. */
char *mcp_folders_text(const struct mcp_folders *f, const char *separator);

/* Each returns an absolute path without links, which the caller frees, or NULL and an error. Relative paths begin at
 * the folders, the first one first. */
char *mcp_folders_find_file(const struct mcp_folders *f, const char *path, struct error *error);
char *mcp_folders_find_folder(const struct mcp_folders *f, const char *path, struct error *error);

/* For a file that may be made: it is no link, and its folder exists. */
char *mcp_folders_place_file(const struct mcp_folders *f, const char *path, struct error *error);

/* Whether the text is the path of something outside of the folders. */
bool mcp_folders_exclude(const struct mcp_folders *f, const char *text);

#endif
