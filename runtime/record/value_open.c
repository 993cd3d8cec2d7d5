/* Calls that are open have been entered in the order of the shadow stack, and rows are nearly in the order of time. So
 * both are walked through together. */
#include "value_open.h"

#include <string.h>

#include "call.h"
#include "thread.h"

/* The open calls, and the one that was found last. */
struct value_open {
    const struct call *first, *last, *near;
};

static bool value_open_has(struct value_open *open, uint64_t enter_time)
{
    const struct call *call = open->near;
    while (call < open->last && call->enter_time < enter_time)
        call++;
    while (call > open->first && call->enter_time > enter_time)
        call--;
    open->near = call;
    return call->enter_time == enter_time;
}

/* The row at `at`, as a copy; the chunk's words may change at any time if somebody writes to the file. */
static uint32_t value_open_read(const char *at, uint32_t room, struct dwell_values_row *row)
{
    if (room < sizeof *row)
        return room;
    memcpy(row, at, sizeof *row);
    const uint32_t size = (uint32_t)(sizeof *row + row->words * sizeof(uint64_t));
    if (!row->state)
        return (uint32_t)sizeof(uint64_t);
    return size < room ? size : room;
}

uint32_t value_open_copy(const struct thread *t, const struct dwell_chunk_header *chunk, uint32_t used, char *into,
                         uint32_t room)
{
    const struct call *first = (const struct call *)t->shadow + 1;
    struct value_open open = { first, thread_call(t, thread_state(t)) - 1, first };
    uint32_t bytes = 0;
    if (open.last < first)
        return 0;
    for (uint32_t at = sizeof *chunk, size; at < used; at += size) {
        struct dwell_values_row row = { .state = 0 };
        size = value_open_read((const char *)chunk + at, used - at, &row);
        if (row.state != DWELL_VALUES_WHOLE || !value_open_has(&open, row.time) || (into && size > room - bytes))
            continue;
        if (into)
            memcpy(into + bytes, (const char *)chunk + at, size);
        bytes += size;
    }
    return bytes;
}
