/* Rows of values: of complete sessions, and of those that are read while they are recorded. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dwell/format.h"
#include "support/scenario.h"
#include "support/session_writer.h"
#include "support/session_writer_bytes.h"
#include "trace/recorded_values.h"
#include "trace/session_file.h"

enum { F = 0x1000, SITES = 1 /* of the plan */, WHOLE = 2 };

static struct writer *values_begin_session(void)
{
    static const char *const names[] = { "n" };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_values_plan(w, F, names, 1);
    begin_values(w, 1, 1);
    return w;
}

static void values_write_row(struct writer *w, uint32_t site, uint32_t state, uint64_t time, int64_t value)
{
    writer_put(&w->file, site, 2);
    writer_put(&w->file, 1, 1); /* word */
    writer_put(&w->file, state, 1);
    writer_put(&w->file, 0, 4);
    writer_put(&w->file, time, 8);
    writer_put(&w->file, (uint64_t)value, 8);
}

/* What was read of a session. */
struct values_found {
    uint64_t rows, sum, later, damaged;
};

static struct values_found values_read_session(struct writer *w, uint32_t state)
{
    const char *path = test_path("values.dwell"), *error;
    end_values(w);
    writer_save(w, path);
    writer_free(w);
    const int fd = open(path, O_WRONLY);
    cr_assert(eq(int, (int)pwrite(fd, &state, sizeof state, offsetof(struct dwell_file_header, state)), sizeof state));
    close(fd);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL);
    struct recorded_values v = recorded_values_read(file);
    struct values_found found = { v.row_count, 0, v.later_calls, v.damaged_chunks };
    for (size_t i = 0; i < v.row_count; i++)
        found.sum += *recorded_value_words(&v, &v.rows[i], 0);
    recorded_values_free(&v);
    session_file_close(file);
    return found;
}

static void values_expect(struct writer *w, uint32_t state, struct values_found wanted)
{
    const struct values_found found = values_read_session(w, state);
    cr_expect(eq(u64, found.rows, wanted.rows));
    cr_expect(eq(u64, found.sum, wanted.sum));
    cr_expect(eq(u64, found.later, wanted.later));
    cr_expect(eq(u64, found.damaged, wanted.damaged));
}

/* Rows of three calls of functions that the plan lacks, two of which have a row of their exit as well. */
static struct writer *values_with_later_functions(void)
{
    struct writer *w = values_begin_session();
    values_write_row(w, 0, WHOLE, 1000, 5);
    values_write_row(w, SITES, WHOLE, 2000, 100);
    values_write_row(w, SITES + 1, WHOLE, 2000, 100);
    values_write_row(w, SITES, WHOLE, 3000, 100);
    values_write_row(w, SITES + 3, WHOLE, 4000, 100);
    values_write_row(w, SITES + 4, WHOLE, 4000, 100);
    values_write_row(w, SITES + 4, DWELL_VALUES_UNFINISHED, 5000, 100);
    values_write_row(w, 0, WHOLE, 6000, 7);
    return w;
}

Test(unit_recorded_values, functions_that_were_added_later_are_no_damage)
{
    values_expect(values_with_later_functions(), DWELL_RECORDING, (struct values_found){ 2, 12, 3, 0 });
}

Test(unit_recorded_values, a_complete_session_has_no_functions_that_come_later)
{
    values_expect(values_with_later_functions(), DWELL_COMPLETE, (struct values_found){ 1, 5, 0, 1 });
}

/* More than a plan can have, or no state of a row. */
Test(unit_recorded_values, other_rows_are_damaged_also_while_recording)
{
    struct writer *w = values_begin_session();
    values_write_row(w, 0, WHOLE, 1000, 5);
    values_write_row(w, DWELL_VALUES_SITES, WHOLE, 2000, 6);
    values_write_row(w, 0, WHOLE, 3000, 7);
    values_expect(w, DWELL_RECORDING, (struct values_found){ 1, 5, 0, 1 });
    w = values_begin_session();
    values_write_row(w, SITES, WHOLE + 1, 2000, 6);
    values_expect(w, DWELL_RECORDING, (struct values_found){ 0, 0, 0, 1 });
}

/* Room that a probe has claimed and not written, and rows that it has begun. */
Test(unit_recorded_values, rows_that_are_being_written_are_stepped_over)
{
    static const uint32_t states[] = { DWELL_RECORDING, DWELL_COMPLETE };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct writer *w = values_begin_session();
        values_write_row(w, 0, WHOLE, 1000, 5);
        for (int word = 0; word < 3; word++)
            writer_put(&w->file, 0, 8);
        values_write_row(w, 0, DWELL_VALUES_UNFINISHED, 0, 0);
        values_write_row(w, 0, WHOLE, 3000, 7);
        values_expect(w, states[i], (struct values_found){ 2, 12, 0, 0 });
    }
}
