/* Changes of levels and the decisions of an overhead budget, in sessions written by hand. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/level_changes.h"
#include "support/scenario.h"

TestSuite(unit_level_changes);

enum { FIRST = 0x1000, SECOND = 0x2000, THIRD = 0x3000 };

static void level_write(struct writer *w, uint32_t process, uint64_t time, uint64_t function, uint32_t level)
{
    const struct dwell_rec_level record = { .time = time, .function = function, .level = level };
    write_record(w, process, DWELL_REC_LEVEL, &record.time, sizeof record - sizeof record.record);
}

static void level_write_decision(struct writer *w, uint32_t process, uint64_t time, uint64_t function, uint64_t calls,
                                 uint64_t mean)
{
    const struct dwell_rec_decision record = {
        .time = time, .function = function, .level = DWELL_PROBES_COUNTED, .calls = calls, .mean = mean
    };
    write_record(w, process, DWELL_REC_DECISION, &record.time, sizeof record - sizeof record.record);
}

Test(unit_level_changes, one_row_for_each_function)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    level_write(w, 1, 300, SECOND, DWELL_PROBES_TIMED);
    level_write(w, 1, 120, FIRST, DWELL_PROBES_TIMED);
    level_write(w, 1, 100, FIRST, DWELL_PROBES_OUT);
    level_write(w, 1, 200, SECOND, DWELL_PROBES_COUNTED);
    level_write(w, 1, 400, SECOND, DWELL_PROBES_COUNTED);
    level_write(w, 1, 250, THIRD, DWELL_PROBES_COUNTED);
    level_write_decision(w, 1, 390, SECOND, 900, 7);
    level_write_decision(w, 1, 190, SECOND, 50, 8);
    level_write_decision(w, 1, 240, THIRD, 1000, 3);
    level_write_decision(w, 1, 240, 0x4000, 5000, 3); /* it never had the level */
    struct outcome o = outcome_of(w, 1);
    const struct session_file *file = o.file;
    cr_assert(eq(sz, file->levels.decision_count, 4));
    cr_assert(eq(u64, file->levels.decisions[1].time, 190));
    struct level_changes changes = level_changes_of(file);
    const struct level_change expected[] = {
        { 1, DWELL_PROBES_COUNTED, THIRD, 250, 250, 1, 1000, 3 },
        { 1, DWELL_PROBES_COUNTED, SECOND, 200, 400, 3, 900, 7 },
    };
    cr_assert(eq(sz, changes.decided_count, 2));
    for (size_t i = 0; i < changes.decided_count; i++) {
        const struct level_change *found = &changes.decided[i];
        cr_assert(eq(u64, found->function, expected[i].function), "%zu", i);
        cr_assert(eq(u32, found->level, expected[i].level), "%zu", i);
        cr_assert(eq(u64, found->first, expected[i].first), "%zu", i);
        cr_assert(eq(u64, found->last, expected[i].last), "%zu", i);
        cr_assert(eq(u64, found->changes, expected[i].changes), "%zu", i);
        cr_assert(eq(u64, found->calls, expected[i].calls), "%zu", i);
        cr_assert(eq(u64, found->mean, expected[i].mean), "%zu", i);
    }
    cr_assert(eq(sz, changes.other_count, 2)); /* set by hand: each is one of its own */
    cr_assert(eq(u64, changes.others[0]->time, 100));
    cr_assert(eq(u64, changes.others[1]->time, 120));
    level_changes_drop(&changes);
    outcome_drop(&o);
}

/* A function is one row in all processes that have its module, wherever it lies in them. A process that begins with a
 * level that the function has already is no change. */
Test(unit_level_changes, one_row_for_all_processes)
{
    struct writer *w = writer_new();
    for (uint32_t i = 1; i <= 3; i++) {
        write_process(w, i, 100 + i, "/bin/prog");
        write_module(w, i, 1, i * 0x100000, i * 0x100000, i * 0x100000 + 0x10000, 10, "/bin/prog");
    }
    level_write_decision(w, 1, 190, 0x101000, 50, 8);
    level_write(w, 1, 200, 0x101000, DWELL_PROBES_COUNTED);
    level_write(w, 2, 300, 0x201000, DWELL_PROBES_COUNTED);
    level_write(w, 3, 400, 0x301000, DWELL_PROBES_COUNTED);
    level_write(w, 3, 500, 0x301000, DWELL_PROBES_TIMED);
    struct outcome o = outcome_of(w, 3);
    struct level_changes changes = level_changes_of(o.file);
    cr_assert(eq(sz, changes.decided_count, 1));
    cr_assert(eq(sz, changes.other_count, 0));
    const struct level_change *found = changes.decided;
    cr_assert(eq(u64, found->changes, 2));
    cr_assert(eq(u64, found->first, 200));
    cr_assert(eq(u64, found->last, 500));
    cr_assert(eq(u32, found->process, 3));
    cr_assert(eq(u64, found->function, 0x301000));
    cr_assert(eq(u32, found->level, DWELL_PROBES_TIMED));
    level_changes_drop(&changes);
    outcome_drop(&o);
}
