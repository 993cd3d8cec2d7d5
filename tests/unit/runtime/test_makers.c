/* The runtime's table of the makers of objects: what a wait records, how objects end, and what a full table loses. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "makers.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_makers);

enum { MAX_MADE = 100 };

static struct dwell_rec_made made[MAX_MADE];
static uint32_t made_count;

static void makers_note_written(const struct dwell_record *record, size_t size)
{
    cr_assert(eq(sz, size, sizeof *made));
    cr_assert(eq(u32, record->type, DWELL_REC_MADE));
    cr_assert(made_count < MAX_MADE);
    made[made_count++] = *(const struct dwell_rec_made *)record;
}

static void makers_begin(void)
{
    runtime_block();
    runtime_append = makers_note_written;
}

static void makers_make(uint64_t address, uint64_t time, uint64_t function)
{
    makers_add(address, &(struct maker){ .time = time, .function = function });
}

static void makers_expect(uint32_t number, uint64_t id, uint64_t time, uint64_t function)
{
    cr_assert(made_count > number);
    cr_assert(eq(u64, made[number].id, id));
    cr_assert(eq(u64, made[number].time, time));
    cr_assert(eq(u64, made[number].function, function));
    cr_assert(eq(u32, made[number].kind, DWELL_OBJECT_MUTEX));
}

Test(unit_runtime_makers, once_in_each_process)
{
    makers_begin();
    makers_make(0x1000, 10, 0x400);
    makers_record(DWELL_OBJECT_MUTEX, 0x1008);
    cr_assert(eq(u32, made_count, 0));
    for (int i = 0; i < 3; i++)
        makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    cr_assert(eq(u32, made_count, 1));
    makers_expect(0, 0x1000, 10, 0x400);
    runtime.process->serial = 2; /* a forked child */
    for (int i = 0; i < 3; i++)
        makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    cr_assert(eq(u32, made_count, 2));
    makers_expect(1, 0x1000, 10, 0x400);
}

/* The end of an object that nobody has waited for is not recorded. Nor is that of one that another process recorded. */
Test(unit_runtime_makers, memory_used_again)
{
    makers_begin();
    makers_make(0x1000, 10, 0x400);
    makers_make(0x1000, 20, 0x500);
    makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    makers_expect(0, 0x1000, 20, 0x500);
    makers_remove(0x1000);
    cr_assert(eq(u32, made_count, 2));
    makers_expect(1, 0x1000, made[1].time, 0);
    cr_assert(made[1].time > 20);
    makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    makers_remove(0x1000);
    cr_assert(eq(u32, made_count, 2));
    makers_make(0x1000, 30, 0x600);
    makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    makers_expect(2, 0x1000, 30, 0x600);
    runtime.process->serial = 2;
    makers_remove(0x1000);
    cr_assert(eq(u32, made_count, 3));
}

/* Made by a function that is not recorded. */
Test(unit_runtime_makers, unknown_maker)
{
    makers_begin();
    makers_make(0x1000, 10, 0x400);
    makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    makers_make(0x1000, 20, 0);
    makers_record(DWELL_OBJECT_MUTEX, 0x1000);
    cr_assert(eq(u32, made_count, 2));
    makers_expect(1, 0x1000, made[1].time, 0);
}

/* Each set of a full table has its latest objects. What was recorded of the others ends. */
Test(unit_runtime_makers, full_table)
{
    enum { MANY = 4 * MAKER_SETS * MAKERS_IN_SET };
    makers_begin();
    makers_make(8, 1, 0x400);
    makers_record(DWELL_OBJECT_MUTEX, 8);
    for (uint64_t i = 2; i <= MANY; i++)
        makers_make(8 * i, i, 0x400 + i);
    cr_assert(eq(u32, made_count, 2));
    makers_expect(1, 8, made[1].time, 0);
    makers_record(DWELL_OBJECT_MUTEX, 8);
    cr_assert(eq(u32, made_count, 2));
    makers_record(DWELL_OBJECT_MUTEX, 8 * (uint64_t)MANY);
    cr_assert(eq(u32, made_count, 3));
    makers_expect(2, 8 * (uint64_t)MANY, MANY, 0x400 + MANY);
}

/* A descriptor that was duplicated may be closed, and its object lives on. */
Test(unit_runtime_makers, shared_objects)
{
    makers_begin();
    struct maker of_one = { .time = 10, .function = 0x400 }, of_two = { .time = 10, .function = 0x400, .shared = true };
    maker_record(&of_one, DWELL_OBJECT_MUTEX, 7);
    maker_record(&of_one, DWELL_OBJECT_MUTEX, 7);
    maker_record(&of_one, DWELL_OBJECT_MUTEX, 8); /* the socket has another name by now */
    maker_record(&of_two, DWELL_OBJECT_MUTEX, 9);
    cr_assert(eq(u32, made_count, 3));
    maker_end(&of_two);
    cr_assert(eq(u32, made_count, 3));
    maker_end(&of_one);
    cr_assert(eq(u32, made_count, 4));
    makers_expect(3, 8, made[3].time, 0);
    maker_record(&of_one, DWELL_OBJECT_MUTEX, 8);
    cr_assert(eq(u32, made_count, 4));
}
