/* Records of calls that are kept, and their windows: also those of older sessions, which do not say how much is around
 * each call. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/scenario.h"
#include "support/session_writer.h"
#include "trace/kept_calls.h"
#include "trace/session_file.h"

static void kept_write(struct writer *w, uint64_t enter_time, uint64_t around, bool old)
{
    const struct dwell_rec_kept kept = {
        .thread = 1, .enter_time = enter_time, .exit_time = enter_time + 100, .around = around
    };
    const size_t whole = sizeof kept - sizeof kept.record;
    write_record(w, 1, DWELL_REC_KEPT, &kept.thread, old ? whole - sizeof kept.around : whole);
}

Test(unit_kept_calls, what_is_around_each_call)
{
    const struct dwell_keep keep = { .around = 50 };
    const char *error;
    size_t count;
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/program");
    kept_write(w, 1000, 7, false);
    kept_write(w, 2000, 7, true);
    kept_write(w, 3000, 90, false);
    kept_write(w, 3113, 7, false);
    writer_save(w, test_path("kept"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("kept"), &error);
    cr_assert(file != NULL);
    cr_assert(eq(sz, file->kept.count, 4));
    struct kept_window *windows = kept_windows(&file->kept, &keep, &count);
    static const struct kept_window expected[] = { { 1, 993, 1107 }, { 1, 1950, 2150 }, { 1, 2950, 3220 } };
    cr_assert(eq(sz, count, sizeof expected / sizeof *expected));
    for (size_t i = 0; i < count; i++) {
        cr_expect(eq(u32, windows[i].process, expected[i].process));
        cr_expect(eq(u64, windows[i].begin, expected[i].begin));
        cr_expect(eq(u64, windows[i].end, expected[i].end));
    }
    free(windows);
    session_file_close(file);
}
