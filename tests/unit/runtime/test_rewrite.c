/* Stubs that count calls across cache lines: one for each function. */
#if defined(__x86_64__)

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "levels/count_stubs.h"
#include "levels/counts.h"
#include "levels/near_frames.h"
#include "levels/rewrite.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_rewrite);

extern __thread struct counts_directory *counts_self;

static int written, slow_calls;

static void rewrite_test_slow(void *function, void *call_site)
{
    (void)function, (void)call_site;
    slow_calls++;
}

static void rewrite_test_write(void *at, uint32_t number)
{
    written++;
    count_stubs_write_one(at, number, rewrite_test_slow);
}

/* A call of `target` whose displacement lies across lines. */
static struct call_site rewrite_test_site(uint64_t address, uint64_t target)
{
    struct call_site site = { .address = address, .length = 5, .original = { 0xe8 } };
    const int32_t displacement = (int32_t)(target - (address + 5));
    memcpy(site.original + 1, &displacement, sizeof displacement);
    return site;
}

static bool rewrite_test_is_mapped(uint64_t address)
{
    unsigned char there;
    return mincore((void *)(address & ~4095ull), 4096, &there) == 0;
}

Test(unit_rewrite, each_function_has_its_counting_twin)
{
    runtime_block();
    enum { FIRST = 3, OTHER = 1000 };
    static struct counts_directory directory;
    static union {
        struct dwell_counts counts;
        char bytes[DWELL_UNIT];
    } page;
    static struct rewriter r;
    const uint64_t target = (uint64_t)rewrite_test_slow, address = (target & ~63ull) + 3 * 64 - 3;
    const struct call_site site = rewrite_test_site(address, target), again = rewrite_test_site(address + 64, target);
    const struct call_site other = rewrite_test_site(address, target + 16);
    uint64_t stubs[MAX_COUNTING_TWINS];
    directory.pages[0] = &page.counts;
    counts_self = &directory;
    cr_assert(machine_needs_twin(&site));
    for (uint32_t i = 0; i < MAX_COUNTING_TWINS - 1; i++) {
        stubs[i] = rewriter_counting_stub(&r, &site, FIRST + i, rewrite_test_write);
        cr_assert(ne(u64, stubs[i], 0), "%u", i);
        cr_assert(eq(u64, (stubs[i] - target) % MACHINE_TWIN_STEP, 0), "%u", i);
        cr_assert(lt(i64, llabs((int64_t)(stubs[i] - target)), MACHINE_REACH), "%u", i);
        for (uint32_t j = 0; j < i; j++)
            cr_assert(ne(u64, stubs[i], stubs[j]), "%u and %u", i, j);
    }
    for (uint32_t i = 0; i < MAX_COUNTING_TWINS - 1; i++) {
        cr_assert(eq(u64, rewriter_counting_stub(&r, &again, FIRST + i, rewrite_test_write), stubs[i]), "%u", i);
        ((void (*)(void *, void *))stubs[i])(NULL, NULL);
        cr_assert(eq(u64, page.counts.counts[FIRST + i].calls, 1), "%u", i);
    }
    cr_assert(eq(int, written, MAX_COUNTING_TWINS - 1));
    /* The same function, called through another stub of the linker. */
    const uint64_t last = rewriter_counting_stub(&r, &other, FIRST, rewrite_test_write);
    cr_assert(eq(u64, (last - target) % MACHINE_TWIN_STEP, 16));
    ((void (*)(void *, void *))last)(NULL, NULL);
    cr_assert(eq(u64, page.counts.counts[FIRST].calls, 2));
    cr_assert(eq(u64, rewriter_counting_stub(&r, &site, OTHER, rewrite_test_write), 0));
    cr_assert(eq(u64, rewriter_counting_stub(&r, &site, FIRST, rewrite_test_write), stubs[0]));
    directory.pages[0] = NULL;
    ((void (*)(void *, void *))stubs[1])(NULL, NULL);
    cr_assert(eq(int, slow_calls, 1));
    rewriter_end(&r);
    cr_assert(not(rewrite_test_is_mapped(stubs[0])));
    cr_assert(not(rewrite_test_is_mapped(last)));
    cr_assert(ne(u64, rewriter_counting_stub(&r, &site, OTHER, rewrite_test_write), 0));
    rewriter_end(&r);
}

/* A call through a slot has no target that a twin could be one of. */
Test(unit_rewrite, calls_through_slots_have_no_twins)
{
    static struct rewriter r;
    const struct call_site site = { .address = 123, .length = 6, .original = { 0xff, 0x15 } };
    cr_assert(machine_needs_twin(&site));
    cr_assert(eq(u64, rewriter_counting_stub(&r, &site, 1, rewrite_test_write), 0));
    cr_assert(eq(int, written, 0));
}

/* Unwinders find a description for each byte, until the memory is unmapped. */
Test(unit_rewrite, near_code_has_a_description)
{
    runtime_block();
    enum { SIZE = 2 * 4096 };
    char *free_place = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(free_place, SIZE);
    uint64_t begin = 0;
    cr_assert(eq(ptr, (void *)near_frames_find((uint64_t)free_place, &begin), NULL));
    char *at = rewriter_map_at((uint64_t)free_place, SIZE);
    cr_assert(eq(ptr, at, free_place));
    const uint32_t *frame = near_frames_find((uint64_t)at + SIZE - 1, &begin);
    cr_assert(ne(ptr, (void *)frame, NULL));
    cr_assert(eq(u64, begin, (uint64_t)at));
    const uint32_t *kind = (const uint32_t *)((const char *)(frame + 1) - frame[1]);
    cr_assert(eq(u32, kind[1], 0));
    cr_assert(eq(ptr, (void *)((const char *)(kind + 1) + kind[0]), (void *)frame));
    cr_assert(eq(ptr, (void *)near_frames_find((uint64_t)at, &begin), (void *)frame));
    cr_assert(eq(ptr, (void *)near_frames_find((uint64_t)at - 1, &begin), NULL));
    cr_assert(eq(ptr, (void *)near_frames_find((uint64_t)at + SIZE, &begin), NULL));
    rewriter_unmap(at, SIZE);
    cr_assert(eq(ptr, (void *)near_frames_find((uint64_t)at, &begin), NULL));
}

#endif
