/* Reads counts chunks. */
#include "trace/counted_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/decode.h"

size_t counts_read(const struct session_file *file, const struct trace_chunk *chunk, struct dwell_count **list)
{
    uint8_t *buffer = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    size_t count = 0;
    *list = NULL;
    if (session_file_read_chunk(file, chunk, buffer)) {
        const uint32_t end = trace_chunk_end(chunk);
        *list = need_memory(end / sizeof **list + 1, sizeof **list);
        for (size_t at = sizeof(struct dwell_chunk_header); at + sizeof **list <= end; at += sizeof **list) {
            memcpy(&(*list)[count], buffer + at, sizeof **list);
            count += (*list)[count].function != 0;
        }
    }
    free(buffer);
    return count;
}

bool counts_any(const struct session_file *file)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < file->chunk_count && !calls; i++) {
        struct dwell_count *list = NULL;
        const size_t count =
            file->chunks[i].kind == DWELL_CHUNK_COUNTS ? counts_read(file, &file->chunks[i], &list) : 0;
        for (size_t j = 0; j < count; j++)
            calls += list[j].calls;
        free(list);
    }
    return calls > 0;
}
