/* Where objects were made: the last one before a time, in its process, and of its kind. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "trace/maker_list.h"

TestSuite(unit_trace_makers);

static uint64_t makers_function(const struct maker_list *m, uint32_t process, uint32_t kind, uint64_t id, uint64_t time)
{
    const struct trace_maker *found = maker_list_find(m, process, kind, id, time);
    return found ? found->function : 0;
}

Test(unit_trace_makers, last_one_before)
{
    static const struct trace_maker added[] = {
        { 1, 1, 7, 30, 0x300 }, { 1, 1, 7, 10, 0x100 }, { 1, 1, 7, 20, 0 },
        { 1, 1, 7, 10, 0x100 }, { 1, 3, 7, 15, 0x400 }, { 2, 1, 7, 5, 0x500 },
    };
    struct maker_list m = { NULL, 0, 0 };
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        maker_list_add(&m, &added[i]);
    maker_list_sort(&m);
    cr_assert(eq(sz, m.count, 5));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 9), 0));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 10), 0x100));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 19), 0x100));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 20), 0));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 29), 0));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 7, 1000), 0x300));
    cr_assert(eq(u64, makers_function(&m, 1, 2, 7, 1000), 0));
    cr_assert(eq(u64, makers_function(&m, 1, 3, 7, 1000), 0x400));
    cr_assert(eq(u64, makers_function(&m, 1, 1, 8, 1000), 0));
    cr_assert(eq(u64, makers_function(&m, 2, 1, 7, 1000), 0x500));
    cr_assert(eq(u64, makers_function(&m, 3, 1, 7, 1000), 0));
    maker_list_drop(&m);
}
