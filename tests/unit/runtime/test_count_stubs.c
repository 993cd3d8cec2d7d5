/* The stubs that count calls: one for each number. */
#if defined(__x86_64__)

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "levels/count_stubs.h"
#include "levels/counts.h"
#include "levels/machine.h"
#include "levels/x86_decode.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_count_stubs);

__thread struct counts_directory *counts_self;

static int slow_calls;

static void count_test_slow(void *function, void *call_site)
{
    (void)function, (void)call_site;
    slow_calls++;
}

Test(unit_count_stubs, each_number_has_its_counter)
{
    runtime_block();
    enum { FIRST = COUNTS_IN_PAGE - 3, COUNT = 1000 };
    static struct counts_directory directory;
    static union {
        struct dwell_counts counts;
        char bytes[DWELL_UNIT];
    } pages[COUNT / COUNTS_IN_PAGE + 2];
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        directory.pages[i] = &pages[i].counts;
    const struct hook_places places = {
        .code = { { (uint64_t)count_test_slow & ~4095ull, (uint64_t)count_test_slow + 4096, 5 } }, .code_count = 1
    };
    struct count_stubs stubs;
    count_stubs_make(&stubs, &places, FIRST, COUNT, count_test_slow);
    counts_self = &directory;
    cr_assert(eq(u64, count_stubs_find(&stubs, FIRST - 1), 0));
    cr_assert(eq(u64, count_stubs_find(&stubs, FIRST + COUNT), 0));
    for (uint32_t i = FIRST; i < FIRST + COUNT; i++) {
        const uint64_t stub = count_stubs_find(&stubs, i);
        cr_assert(ne(u64, stub, 0), "%u", i);
        ((void (*)(void *, void *))stub)(NULL, NULL);
        cr_assert(eq(u64, pages[i / COUNTS_IN_PAGE].counts.counts[i % COUNTS_IN_PAGE].calls, 1), "%u", i);
    }
    cr_assert(eq(int, slow_calls, 0));
    directory.pages[0] = NULL;
    ((void (*)(void *, void *))count_stubs_find(&stubs, FIRST))(NULL, NULL);
    cr_assert(eq(int, slow_calls, 1));
    count_stubs_drop(&stubs);
}

/* The number of instructions that run from there to the return, without the branch to the slow path. */
static int count_test_instructions(const uint8_t *code)
{
    struct x86_insn insn = { .kind = X86_OTHER };
    int count = 0;
    for (; insn.kind != X86_END; code += insn.length, count++)
        cr_assert(x86_decode(code, X86_MAX_LENGTH, (uint64_t)code, &insn));
    return count;
}

/* A counted call executes these six and its own call, or one instruction in its place. */
Test(unit_count_stubs, instructions_of_a_counted_call)
{
    runtime_block();
    const struct hook_places places = {
        .code = { { (uint64_t)count_test_slow & ~4095ull, (uint64_t)count_test_slow + 4096, 5 } }, .code_count = 1
    };
    struct count_stubs stubs;
    count_stubs_make(&stubs, &places, 7, 1, count_test_slow);
    cr_assert(eq(int, count_test_instructions((const uint8_t *)count_stubs_find(&stubs, 7)), 6));
    count_stubs_drop(&stubs);

    const struct call_site site = { .address = 64, .length = 5 };
    uint8_t bytes[MAX_CALL_BYTES];
    struct x86_insn insn;
    cr_assert(machine_form(&site, CALL_IN_PLACE, &(struct machine_stubs){ { 0 } }, true, bytes));
    cr_assert(x86_decode(bytes, site.length, site.address, &insn));
    cr_assert(eq(int, insn.length, site.length));
}

#endif
