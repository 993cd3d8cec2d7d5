/* What all threads together did in each cell of a page's heat map. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/viewed.h"
#include "view/heat_map.h"
#include "view/page_session.h"

TestSuite(unit_heat_map, .timeout = 300);

enum { RATE = 1000, CELL = RATE / 50 };

/* "cell: cpu blocked preempted" of each row */
static void heat_map_expect(struct heat_map *h, const char *wanted)
{
    char text[1024] = "";
    heat_map_finish(h);
    for (size_t i = 0; i < h->row_count; i++)
        sprintf(text + strlen(text), "%u: %d %d %d\n", h->rows[i].cell, (int)h->rows[i].cpu, (int)h->rows[i].blocked,
                (int)h->rows[i].preempted);
    cr_assert(eq(str, text, (char *)wanted));
    heat_map_drop(h);
}

Test(unit_heat_map, times_are_cut_at_the_borders_of_cells)
{
    struct heat_map h;
    heat_map_begin(&h, 2 * RATE, RATE);
    cr_assert(eq(u64, h.width, CELL));
    cr_assert(eq(sz, h.cells, 100));
    heat_map_add_calls(&h, 10, 50); /* two threads at once */
    heat_map_add_calls(&h, 10, 30);
    heat_map_add_off_cpu(&h, false, 25, 45);
    heat_map_add_off_cpu(&h, true, 45, 48);
    heat_map_add_calls(&h, 1990, 3000); /* beyond the end */
    heat_map_expect(&h, "0: 20 0 0\n1: 15 15 0\n2: 2 5 3\n99: 10 0 0\n");
}

/* A rate that fifty does not divide has cells of a whole number of ticks. */
Test(unit_heat_map, sizes)
{
    static const struct {
        uint64_t length, rate, width;
        size_t cells;
    } maps[] = {
        { 2 * RATE - 1, RATE, 0, 0 }, /* too short */
        { 2 * RATE, 0, 0, 0 },
        { 200, 10, 0, 0 }, /* the clock is too coarse */
        { 2 * RATE + 1, RATE, CELL, 101 },
        { 299, 99, 1, 299 },
        { 1023 * RATE, RATE, CELL, 51150 },
        { 1024 * RATE, RATE, 2 * CELL, 25600 },
        { 86400 * RATE, RATE, 128 * CELL, 33750 }, /* a day */
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        struct heat_map h;
        heat_map_begin(&h, maps[i].length, maps[i].rate);
        cr_assert(eq(u64, h.width, maps[i].width), "map %zu", i);
        cr_assert(eq(sz, h.cells, maps[i].cells), "map %zu", i);
        heat_map_drop(&h);
    }
}

/* The map of a session: in its third second, two threads run, and one of them is blocked. */
Test(unit_heat_map, of_a_session)
{
    static const uint64_t second = 1000000000, cell = 20000000;
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/opt/t");
    for (uint32_t thread = 1; thread <= 2; thread++) {
        write_thread(w, 1, thread, 99 + thread, SOURCE_PERF, "t");
        write_thread_end(w, 1, thread, false, 3 * second);
        begin_events(w, 1, thread, 0, thread == 1 ? 0 : 2 * second, NULL, 0);
        if (thread == 1) {
            write_enter(w, 0, 0x1000);
            write_exit(w, cell);
        }
        write_enter(w, 2 * second, 0x1000);
        if (thread == 1)
            write_off_cpu(w, false, 2 * second + cell, cell / 4);
        write_exit(w, 2 * second + 2 * cell);
        end_events(w, true);
    }
    struct analysis analysis;
    writer_save(w, test_path("heat"));
    writer_free(w);
    load_whole(&analysis, test_path("heat"), 1);
    struct view_session *view;
    EXPECT_SUCCESS(view = view_session_new(&(struct view_inputs){ .session = &analysis },
                                           &(struct view_options){ .detail = 1 << 20 }, &error));
    struct viewed main = viewed_packed(view->main.bytes, view->main.length);
    struct json_object *heat = viewed_get(viewed_get(main.header, "timeline"), "heat");
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(heat, "cell")), cell));
    cr_assert(eq(u64, json_object_get_uint64(viewed_get(heat, "cells")), 50));
    static const double rows[][4] = { { 0, 20e6, 0, 0 }, { 100, 40e6, 0, 0 }, { 101, 35e6, 5e6, 0 } };
    static const char *const columns[] = { "cell", "cpu", "blocked", "preempted" };
    cr_assert(eq(sz, viewed_rows(&main, "heat"), 3));
    for (size_t row = 0; row < 3; row++)
        for (size_t column = 0; column < 4; column++)
            cr_assert(eq(dbl, viewed_number(&main, "heat", columns[column], row), rows[row][column]), "%zu %s", row,
                      columns[column]);
    viewed_drop(&main);
    view_session_free(view);
    analysis_drop(&analysis);
}
