/* A session read while it grows gives the same profile as the finished session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <unistd.h>

#include "support/example.h"
#include "support/growth.h"
#include "support/model.h"
#include "support/scenario.h"
#include "trace/growth.h"

TestSuite(unit_growth, .timeout = 300);

Test(unit_growth, random_sessions)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct model *m = model_new(seed);
        struct writer *w = model_write(m, seed % 4 ? 100 : 0, 0);
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path("model"));
        writer_save(w, path);
        check_growth(path, seed);
        writer_free(w);
        model_free(m);
    }
}

Test(unit_growth, the_example_session)
{
    static const uint32_t sources[] = { 0, 1 };
    for (int i = 0; i < 2; i++) {
        struct writer *w = example_session(sources[i]);
        char path[4096];
        snprintf(path, sizeof path, "%s", test_path("example"));
        writer_save(w, path);
        for (uint64_t seed = 1; seed < 20; seed++)
            check_growth(path, seed);
        writer_free(w);
    }
}

/* Before the end, a header can be incomplete. The first chunk has no size, the second one is no chunk. */
Test(unit_growth, damage_counts_when_the_session_has_ended)
{
    enum { SIZE = 8, PLENTY = 1 << 30 };
    struct writer *w = writer_new();
    write_note(w, 1, "without a size");
    const size_t first = w->chunk;
    end_records(w, true);
    write_note(w, 1, "no chunk");
    const size_t second = w->chunk;
    end_records(w, true);
    write_note(w, 1, "whole");
    end_records(w, true);
    write_header(w, first + SIZE, 0, 4);
    write_header(w, second, 0x1234, 4);
    const char *path = test_path("damaged"), *error;
    writer_save(w, path);
    writer_free(w);
    struct growth *g = growth_open(path, &error);
    cr_assert(g != NULL, "%s", error);
    for (int step = 0; step < 4; step++) {
        const bool ended = step >= 2;
        cr_assert(eq(ptr, (void *)growth_step(g, PLENTY, ended), NULL));
        cr_assert(eq(u64, g->file->health.damaged_chunks, ended), "step %d", step);
        cr_assert(eq(u64, g->file->health.damaged_bytes, ended ? DWELL_UNIT : 0), "step %d", step);
        cr_assert(eq(sz, g->file->labels.note_count, 1));
    }
    growth_close(g);
}

/* Another program may cut the file between two steps, at any byte. Then there is nothing more to read. */
Test(unit_growth, a_file_that_is_cut)
{
    static const off_t ends[] = { 0, 1, DWELL_UNIT, DWELL_UNIT + 1, 5248, 12345 };
    static const char *const errors[] = { "the file is empty", "not a dwell session" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct model *m = model_new(1);
        struct writer *w = model_write(m, 100, 0);
        const char *path = test_path("cut"), *error;
        writer_save(w, path);
        writer_free(w);
        model_free(m);
        struct growth *g = growth_open(path, &error);
        cr_assert(g != NULL, "%s", error);
        cr_assert(eq(ptr, (void *)growth_step(g, 1, false), NULL)); /* nearly all is left for later */
        cr_assert(gt(u64, g->left, 0));
        cr_assert(eq(int, truncate(path, ends[i]), 0));
        for (int ended = 0; ended < 2; ended++) {
            error = growth_step(g, UINT64_MAX, ended);
            cr_assert(eq(str, (char *)(error ? error : ""), (char *)(i < 2 ? errors[i] : "")));
            cr_assert(error || g->left == 0, "cut at %ld", (long)ends[i]);
        }
        growth_close(g);
    }
}

/* A reader that is late leaves out the oldest chunks, but knows how many calls they have. */
Test(unit_growth, calls_that_are_left_out_are_counted)
{
    enum { CALLS = 500, CHUNKS = 6, MOST = 2 * DWELL_UNIT };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        const uint64_t begin = 1000 + 10000 * (uint64_t)chunk;
        begin_events(w, 1, 1, chunk, begin, NULL, 0);
        for (uint64_t call = 0; call < CALLS; call++) {
            write_enter(w, begin + 10 * call, 0x1000);
            write_exit(w, begin + 10 * call + 5);
        }
        end_events(w, true);
    }
    const char *path = test_path("late"), *error;
    writer_save(w, path);
    writer_free(w);
    struct growth *g = growth_open(path, &error);
    cr_assert(g != NULL, "%s", error);
    g->newest_only = true;
    cr_assert(eq(ptr, (void *)growth_step(g, MOST, false), NULL));
    cr_assert(eq(sz, g->thread_count, 1));
    cr_assert(gt(sz, g->fresh_count, 0));
    cr_assert(eq(u64, g->threads[0].calls_left_out, CALLS * (CHUNKS - g->fresh_count)));
    cr_assert(eq(ptr, (void *)growth_step(g, MOST, false), NULL)); /* they stay left out, and count once */
    cr_assert(eq(u64, g->threads[0].calls_left_out, 0));
    cr_assert(eq(sz, g->fresh_count, 0));
    growth_close(g);
}
