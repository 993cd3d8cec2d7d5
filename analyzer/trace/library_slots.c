/* Reads the plan of calls into libraries (format_calls.h). */
#include "trace/library_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void library_slots_count(struct library_slots *found, const uint8_t *data, size_t size)
{
    struct dwell_calls_plan plan;
    struct dwell_calls_module module;
    if (size < sizeof plan)
        return;
    memcpy(&plan, data, sizeof plan);
    size_t at = sizeof plan;
    for (uint32_t i = 0; i < plan.modules && size - at >= sizeof module; i++) {
        memcpy(&module, data + at, sizeof module);
        if (module.size < sizeof module || module.size > size - at)
            break;
        found->modules += module.slots || module.functions;
        found->functions += module.slots + module.functions;
        found->linked += module.functions;
        at += module.size;
    }
}

/* Each chunk lies before the one that was written after it. */
struct library_slots library_slots_read(const struct session_file *file)
{
    struct library_slots found = { 0, 0, 0 };
    uint64_t offset = file->more.calls, limit = UINT64_MAX;
    while (offset && offset < limit) {
        const struct trace_chunk *chunk = session_file_chunk(file, DWELL_CHUNK_CALLS_PLAN, offset);
        uint8_t *data = chunk ? need_memory((size_t)chunk->size + TRACE_PADDING, 1) : NULL;
        limit = offset;
        offset = 0;
        if (chunk && session_file_read_chunk(file, chunk, data)) {
            struct dwell_chunk_header head;
            memcpy(&head, data, sizeof head);
            offset = head.link;
            library_slots_count(&found, data, chunk->size);
        }
        free(data);
    }
    return found;
}
