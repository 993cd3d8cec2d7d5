/* Source files on this machine, as debug information names them. A session can name any file, so only regular files
 * with the name of a source file are read. */
#ifndef DWELL_ANALYSIS_SOURCE_FILE_H
#define DWELL_ANALYSIS_SOURCE_FILE_H

#include <sys/stat.h>

#include "analysis/analysis.h"

/* An environment variable of `dwell mcp` for the commands that it starts: folders without links, with line breaks
 * between them. When it is set, files outside of them look as if they did not exist. */
#define SOURCE_FOLDERS "DWELL_SOURCE_FOLDERS"

/* A path of the build and what replaces it here. */
struct source_map {
    const char *from, *to;
};

/* How files are looked for. All zero: as they are named, and relative ones also from the folders above the module. */
struct source_search {
    struct source_map *maps; /* the first one that fits counts */
    size_t map_count, map_room;
    bool servers; /* ask those of DEBUGINFOD_URLS, if it is set */
    char **tried; /* the paths that were looked at */
    size_t tried_count, tried_room;
};

struct source_text {
    char *text; /* NULL if there is no such file */
    char *path;
    struct stat status;
};

/* Reads a file of at most `most` bytes. `module` has code of it. source_text_drop frees the result. */
struct source_text source_file_find(struct source_search *search, const char *file, const struct profile_module *module,
                                    size_t most);
void source_text_drop(struct source_text *text);
void source_search_drop(struct source_search *search);

/* Whether the file was changed after the module was built, or, if that is gone, after the recording. */
bool source_file_is_newer(const struct analysis *analysis, const char *module, const struct stat *status);

#endif
