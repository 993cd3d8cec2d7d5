/* Writes the plan of values and the values of calls. */
#include <string.h>

#include "support/session_writer_bytes.h"

enum { PLAN = 16, VALUES = 17, SIGNED = 1, NAME = 56, PLAN_OFFSET = 368 };

void write_values_plan(struct writer *w, uint64_t function, const char *const *names, uint32_t count)
{
    enum { FUNCTION = 24, VALUE = 64, SITE = 16 };
    writer_begin_chunk(w, PLAN, 0);
    write_header(w, PLAN_OFFSET, w->chunk, 8);
    writer_put(&w->file, 1, 8); /* function */
    writer_put(&w->file, FUNCTION + count * VALUE + SITE, 4);
    writer_put(&w->file, 0, 4); /* no build-id and no path */
    writer_put(&w->file, count, 2);
    writer_put(&w->file, 1, 2); /* site */
    writer_put(&w->file, 0, 4);
    writer_put(&w->file, function, 8);
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME] = "";
        strncpy(name, names[i], NAME - 1);
        writer_put_bytes(&w->file, name, NAME);
        writer_put(&w->file, SIGNED | 8 << 8, 8); /* of 8 bytes */
    }
    writer_put(&w->file, function, 8);
    writer_put(&w->file, SITE, 8);
    writer_end_chunk(w);
}

void begin_values(struct writer *w, uint32_t process, uint32_t thread)
{
    writer_begin_chunk(w, VALUES, process);
    bytes_put_at(&w->file, w->chunk + 20, thread, 4);
}

void write_values(struct writer *w, uint64_t time, const int64_t *values, uint32_t count)
{
    enum { WHOLE = 2 };
    writer_put(&w->file, 0, 2); /* site */
    writer_put(&w->file, count, 1);
    writer_put(&w->file, WHOLE, 1);
    writer_put(&w->file, 0, 4); /* all could be read */
    writer_put(&w->file, time, 8);
    for (uint32_t i = 0; i < count; i++)
        writer_put(&w->file, (uint64_t)values[i], 8);
}

void end_values(struct writer *w)
{
    writer_end_chunk(w);
}
