/* Chunks that no runtime writes: their memory follows what is in them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace/chunk_writer.h"

TestSuite(unit_chunk_writer);

/* A session has several for each of its threads, and most stay small. */
Test(unit_chunk_writer, small_chunks_take_little_memory)
{
    static const char data[1000] = { 0 };
    enum { SIZE = 1 << 20 };
    struct chunk_writer w = chunk_writer_begin(NULL, -1, DWELL_CHUNK_CALL_TREE, 1, SIZE);
    cr_assert(eq(sz, w.room, 0));
    for (size_t added = sizeof data; added < SIZE / 2; added += sizeof data) {
        chunk_writer_add(&w, data, sizeof data);
        cr_assert(eq(sz, w.used, sizeof w.head + added));
        cr_assert(le(sz, w.room, 2 * added + 4096));
        cr_assert(ge(sz, w.room, w.used));
    }
    w.failed = true; /* there is no session to write to */
    cr_assert(chunk_writer_end(&w) == false);
}
