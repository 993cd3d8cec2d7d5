/* A session read while it grows gives the same profile as the finished session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

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
