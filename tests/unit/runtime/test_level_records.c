/* Changes of levels and notes on their way into the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "helper.h"
#include "levels/level_records.h"
#include "metadata_records.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_level_records);

enum { MAX_WRITTEN = 1000 };

static struct dwell_rec_level level_written[MAX_WRITTEN];
static uint32_t level_written_count, level_written_notes;
static void (*level_while_writing)(void);

bool helper_is_here(void)
{
    return false;
}

static void level_note_written(const struct dwell_record *record, size_t size)
{
    cr_assert(eq(sz, size, sizeof *level_written));
    level_written[level_written_count++] = *(const struct dwell_rec_level *)record;
    if (level_while_writing)
        level_while_writing();
}

bool metadata_append_in_helper(const struct dwell_record *record, size_t size)
{
    (void)record, (void)size;
    return false;
}

void metadata_note(const char *text)
{
    (void)text;
    level_written_notes++;
}

/* A function that changes twice before a thread writes has two records. */
Test(unit_runtime_level_records, each_change)
{
    runtime_block();
    runtime_append = level_note_written;
    level_records_add(0x100, LEVEL_COUNTED, 10);
    level_records_add(0x200, LEVEL_OUT, 11);
    level_records_add(0x100, LEVEL_TIMED, 12);
    level_records_write();
    level_records_write();
    cr_assert(eq(u32, level_written_count, 3));
    static const struct dwell_rec_level wanted[] = {
        { .function = 0x100, .level = LEVEL_COUNTED, .time = 10 },
        { .function = 0x200, .level = LEVEL_OUT, .time = 11 },
        { .function = 0x100, .level = LEVEL_TIMED, .time = 12 },
    };
    for (int i = 0; i < 3; i++) {
        cr_assert(eq(u32, level_written[i].record.type, DWELL_REC_LEVEL));
        cr_assert(eq(u64, level_written[i].function, wanted[i].function));
        cr_assert(eq(u64, level_written[i].time, wanted[i].time));
        cr_assert(eq(u32, level_written[i].level, wanted[i].level));
    }
}

Test(unit_runtime_level_records, many)
{
    runtime_block();
    runtime_append = level_note_written;
    for (uint64_t i = 0; i < 700; i++)
        level_records_add(i, LEVEL_OUT, i);
    level_records_finish();
    cr_assert(eq(u32, level_written_count, 700));
    for (uint64_t i = 0; i < 700; i++)
        cr_assert(eq(u64, level_written[i].function, i));
    cr_assert(eq(u32, runtime.process->levels.records.writing, 0));
}

static struct dwell_rec_stubs level_stubs;

static void level_note_stubs(const struct dwell_record *record, size_t size)
{
    if (record->type != DWELL_REC_STUBS) {
        level_note_written(record, size);
        return;
    }
    cr_assert(eq(sz, size, sizeof level_stubs));
    level_stubs = *(const struct dwell_rec_stubs *)record;
}

/* Places of code wait in the same list as changes. */
Test(unit_runtime_level_records, places_of_stubs)
{
    runtime_block();
    runtime_append = level_note_stubs;
    level_records_add(0x100, LEVEL_COUNTED, 10);
    level_records_add_stubs(0x7000, 0x9000);
    level_records_add(0x200, LEVEL_OUT, 11);
    level_records_write();
    cr_assert(eq(u32, level_written_count, 2));
    cr_assert(eq(u64, level_stubs.begin, 0x7000));
    cr_assert(eq(u64, level_stubs.end, 0x9000));
}

static void level_add_while_writing(void)
{
    if (level_written_count < 3)
        level_records_add(level_written_count, LEVEL_TIMED, 0);
}

Test(unit_runtime_level_records, changes_come_while_others_are_written)
{
    runtime_block();
    runtime_append = level_note_written;
    level_while_writing = level_add_while_writing;
    level_records_add(0, LEVEL_OUT, 0);
    level_records_write();
    cr_assert(eq(u32, level_written_count, 3));
}

Test(unit_runtime_level_records, notes_come_once)
{
    runtime_block();
    runtime_append = level_note_written;
    static const char first[] = "first", second[] = "second";
    level_note(first);
    level_note(second);
    level_records_write();
    level_note(first);
    level_records_write();
    cr_assert(eq(u32, level_written_notes, 2));
}
