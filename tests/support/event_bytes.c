/* How much space events take in a session. */
#include "support/event_bytes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/scenario.h"
#include "trace/decode.h"

uint64_t event_bytes(const char *name)
{
    const char *error = NULL;
    struct session_file *file = session_file_open(test_path(name), &error);
    cr_assert(ne(ptr, file, NULL), "%s", error);
    uint64_t bytes = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            bytes += decode_end(&file->chunks[i]) - decode_skip(&file->chunks[i]);
    session_file_close(file);
    return bytes;
}
