/* The functions that record --levels-from finds again, on hand-written sessions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/earlier_levels.h"
#include "support/scenario.h"
#include "support/session_writer.h"

TestSuite(unit_earlier_levels, .timeout = 300);

enum { RECORD_LEVEL = 22, BIAS = 0x400000, A = 0x100, B = 0x200, C = 0x300, D = 0x400 };

static void earlier_write_level(struct writer *w, uint32_t process, uint64_t time, uint64_t offset, uint64_t level)
{
    const uint64_t content[] = { time, BIAS + offset, level };
    write_record(w, process, RECORD_LEVEL, content, sizeof content);
}

/* Two processes of one program. a is counted at the end, b is timed again, c is out. d is counted and has no symbol. */
static struct earlier_levels *earlier_read_example(const char *id, bool with_symbols)
{
    struct writer *w = writer_new();
    for (uint32_t process = 1; process <= 2; process++) {
        write_process(w, process, 1000 + process, "/old/prog");
        set_build_id(w, id, strlen(id));
        write_module(w, process, 1, BIAS, BIAS, BIAS + 0x1000, 0, "/old/prog");
    }
    earlier_write_level(w, 1, 100, A, 1);
    earlier_write_level(w, 1, 100, B, 1);
    earlier_write_level(w, 1, 300, B, 0);
    earlier_write_level(w, 2, 200, B, 1);
    earlier_write_level(w, 2, 100, A, 0);
    earlier_write_level(w, 2, 400, A, 1);
    earlier_write_level(w, 2, 400, C, 2);
    earlier_write_level(w, 2, 400, D, 1);
    earlier_write_level(w, 2, 500, 0x10000, 1); /* in no module */
    if (with_symbols) {
        write_symbol_module(w, 1, "/old/prog");
        write_symbol(w, 1, 0, 0, A, "a");
        write_symbol(w, 1, 0, 0, B, "b");
        write_symbol(w, 1, 0, 0, C, "c");
    }
    writer_save(w, test_path("levels.dwell"));
    writer_free(w);
    struct error error = { NULL };
    struct earlier_levels *e = earlier_levels_read(test_path("levels.dwell"), &error);
    cr_assert(ne(ptr, e, NULL), "%s", error.text);
    return e;
}

Test(unit_earlier_levels, the_same_build_is_known_by_its_build_id)
{
    struct earlier_levels *e = earlier_read_example("0123", true);
    const struct symbol_module m = { "/new/other-name", (const uint8_t *)"0123", 4 };
    cr_assert(eq(sz, earlier_levels_count(e), 3));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, A, "renamed"), DWELL_PROBES_COUNTED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, A, "a"), DWELL_PROBES_COUNTED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, B, "b"), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, C, NULL), DWELL_PROBES_OUT));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, 0x500, "a"), DWELL_PROBES_TIMED));
    cr_assert(eq(sz, earlier_levels_missing(e), 1));
    size_t place = 0;
    uint64_t offset = 0;
    cr_assert(eq(int, (int)earlier_levels_next(e, &m, &place, &offset), DWELL_PROBES_COUNTED));
    cr_assert(eq(u64, offset, D));
    cr_assert(eq(int, (int)earlier_levels_next(e, &m, &place, &offset), DWELL_PROBES_TIMED));
    cr_assert(eq(sz, earlier_levels_missing(e), 0));
    earlier_levels_free(e);
}

Test(unit_earlier_levels, functions_of_another_build_are_known_by_their_names)
{
    struct earlier_levels *e = earlier_read_example("0123", true);
    const struct symbol_module m = { "/new/prog", (const uint8_t *)"4567", 4 }, other = { "/old/prog2", NULL, 0 };
    size_t place = 0;
    uint64_t offset;
    cr_assert(eq(int, (int)earlier_levels_find(e, &other, A, "a"), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, A, "c"), DWELL_PROBES_OUT));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, C, "a"), DWELL_PROBES_COUNTED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, D, "b"), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, D, NULL), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_next(e, &m, &place, &offset), DWELL_PROBES_TIMED));
    cr_assert(eq(sz, earlier_levels_missing(e), 1));
    earlier_levels_free(e);
}

/* A rebuilt program without a build-id looks like the recorded one, so its names are compared if they are known. */
Test(unit_earlier_levels, without_build_ids)
{
    struct earlier_levels *e = earlier_read_example("", true);
    const struct symbol_module m = { "/old/prog", NULL, 0 }, elsewhere = { "/new/prog", NULL, 0 };
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, A, "b"), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, B, "a"), DWELL_PROBES_COUNTED));
    earlier_levels_free(e);
    e = earlier_read_example("", false);
    cr_assert(eq(int, (int)earlier_levels_find(e, &elsewhere, A, "a"), DWELL_PROBES_TIMED));
    cr_assert(eq(int, (int)earlier_levels_find(e, &m, A, "a"), DWELL_PROBES_COUNTED));
    earlier_levels_free(e);
}

Test(unit_earlier_levels, functions_that_begin_counted_are_noted)
{
    struct earlier_levels *e = earlier_read_example("0123", true);
    const struct symbol_module m = { "/new/prog", (const uint8_t *)"4567", 4 }, old = { "/old/prog", NULL, 0 };
    cr_assert(not(earlier_levels_applied(e, &m, A)));
    earlier_levels_apply(e, &m, A);
    earlier_levels_apply(e, &m, A);
    cr_assert(earlier_levels_applied(e, &m, A));
    cr_assert(not(earlier_levels_applied(e, &m, B)));
    cr_assert(not(earlier_levels_applied(e, &old, A)));
    earlier_levels_free(e);
}

Test(unit_earlier_levels, a_session_that_cannot_be_read)
{
    struct error error = { NULL };
    cr_assert(eq(ptr, earlier_levels_read("missing.dwell", &error), NULL));
    cr_assert(eq(str, error.text, "missing.dwell: No such file or directory"));
    error_drop(&error);
    earlier_levels_free(NULL);
}
