/* Whether a thread runs a signal handler, by the mark that the kernel leaves on the stack. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "levels/quiet_point.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_quiet_point, .timeout = 120);

enum { AREA = 1 << 20, THREAD_STACK = 256 << 10, LOOKS = 3000 };

#if defined(__x86_64__)
enum { MARK = 0x46505853, MARK_OFFSET = 464 % 64 };
#else
enum { MARK = 0x46508001, MARK_OFFSET = 0 };
#endif

/* A thread whose stack is the upper end of the area. All below it looks as if it were the same stack. */
static char *area;

static void on_a_thread(void *(*run)(void *))
{
    runtime_block();
    area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    cr_assert(ne(ptr, area, MAP_FAILED));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, area + AREA - THREAD_STACK, THREAD_STACK);
    pthread_t thread;
    cr_assert(eq(int, pthread_create(&thread, &attributes, run, NULL), 0));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    munmap(area, AREA);
}

static bool is_quiet(size_t offset)
{
    return quiet_point((uint64_t)area + offset);
}

static void *look_for_marks(void *unused)
{
    cr_assert(eq(int, is_quiet(0), true));
    const size_t places[] = { 0, 64 << 4, 10 << 10, (16 << 10) - 64, 16 << 10, 100 << 10, (700 << 10) + 64 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint32_t *mark = (uint32_t *)(area + places[i] + MARK_OFFSET);
        *mark = MARK;
        cr_assert(eq(int, is_quiet(0), false), "a mark %zu bytes above", places[i]);
        cr_assert(eq(int, is_quiet(places[i] + 64), true), "a mark below, at %zu", places[i]);
        cr_assert(eq(int, is_quiet(places[i] + MARK_OFFSET + 8), true), "a mark just below, at %zu", places[i]);
        *mark = 0;
    }
    memset(area, 1, 4096);
    *(uint32_t *)(area + MARK_OFFSET + 4) = MARK;
    cr_assert(eq(int, is_quiet(0), true), "not at a place where the kernel leaves one");
    return unused;
}

Test(unit_runtime_quiet_point, a_mark_above_the_stack_pointer)
{
    on_a_thread(look_for_marks);
}

static void *look_over_a_hole(void *unused)
{
    for (size_t hole = 8 << 10; hole <= 512 << 10; hole *= 4) {
        mprotect(area + hole, 4096, PROT_NONE);
        cr_assert(eq(int, is_quiet(0), false), "a page %zu bytes above cannot be read", hole);
        cr_assert(eq(int, is_quiet(hole + 4096), true));
        mprotect(area + hole, 4096, PROT_READ | PROT_WRITE);
    }
    return unused;
}

Test(unit_runtime_quiet_point, not_known_with_a_page_that_cannot_be_read)
{
    on_a_thread(look_over_a_hole);
}

static atomic_bool ended;

static void *change_pages(void *unused)
{
    while (!ended)
        for (size_t page = 8 << 10; page <= 512 << 10; page *= 4) {
            mprotect(area + page, 4096, PROT_NONE);
            mprotect(area + page, 4096, PROT_READ | PROT_WRITE);
        }
    return unused;
}

static void *look_meanwhile(void *unused)
{
    pthread_t other;
    cr_assert(eq(int, pthread_create(&other, NULL, change_pages, NULL), 0));
    for (int i = 0; i < LOOKS; i++)
        is_quiet(0);
    ended = true;
    pthread_join(other, NULL);
    cr_assert(eq(int, is_quiet(0), true));
    return unused;
}

/* Between the stack pointer and the thread's own data there may be memory of others, if the thread runs on a stack that
 * the program made: the program may unmap it at any time. */
Test(unit_runtime_quiet_point, pages_that_another_thread_takes_away)
{
    on_a_thread(look_meanwhile);
}
