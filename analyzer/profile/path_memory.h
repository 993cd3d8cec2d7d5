/* What a scan of paths (path_scan.h) has found in chunks that lie in a single range: the times of their functions. A
 * second scan of the session with other ranges does not read these chunks again, where they lie in a single range of
 * it, too. Its size is limited. For path_scan.c alone, except for making it. */
#ifndef DWELL_PROFILE_PATH_MEMORY_H
#define DWELL_PROFILE_PATH_MEMORY_H

#include "profile/path_scan.h"

struct path_remembered {
    uint32_t function;
    struct path_times times;
};

struct path_chunk {
    struct path_remembered *list; /* NULL: it is not remembered */
    size_t count;
    uint64_t last; /* the time of its last event */
};

struct path_memory;

/* Scans with it must be of the same file and the same profile. */
struct path_memory *path_memory_new(const struct session_file *file);
void path_memory_free(struct path_memory *m);

/* Makes room for so many functions of the file's chunk of that index, which is not remembered yet. Returns NULL if
 * there are too many. Chunks can be added at the same time. */
struct path_chunk *path_memory_add(struct path_memory *m, size_t chunk, size_t count);

/* Returns NULL if the chunk is not remembered. */
const struct path_chunk *path_memory_find(const struct path_memory *m, size_t chunk);

#endif
