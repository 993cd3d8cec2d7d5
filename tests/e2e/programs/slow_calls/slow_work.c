/* Reasons that lie within the calls: more work, or slower work. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "slow_calls.h"

enum { BLOCK_PAGES = 25, BLOCKS = 200, PAGE_BYTES = 4096, HOG_MS = 100 };

/* ---- input ---- */

KEPT void parse_item(void)
{
    compute(2);
}

KEPT void parse_items(bool slow)
{
    for (unsigned items = slow ? 100 : 2; items > 0; items--)
        parse_item();
}

KEPT void parse_text(bool slow)
{
    compute(slow ? 200 : 2);
}

/* ---- the first call of a thread ---- */

KEPT void load_tables(void)
{
    compute(200);
}

KEPT void use_tables(bool slow)
{
    static __thread bool loaded;
    (void)slow;
    if (!loaded)
        load_tables();
    loaded = true;
    compute(2);
}

/* ---- memory ---- */

static char *pages;
static const size_t block_bytes = (size_t)BLOCK_PAGES * PAGE_BYTES;

static void map_pages(void)
{
    pages = mmap(NULL, BLOCKS * block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    madvise(pages, BLOCKS * block_bytes, MADV_NOHUGEPAGE);
    memset(pages, 1, BLOCKS * block_bytes);
}

static void drop_pages(void)
{
    madvise(pages, BLOCKS * block_bytes, MADV_DONTNEED);
}

/* The kernel's ring of a thread has room for the faults of two blocks. */
KEPT void touch_block(char *block)
{
    for (size_t i = 0; i < block_bytes; i += PAGE_BYTES)
        block[i] = 1;
}

KEPT void touch(bool slow)
{
    (void)slow;
    for (size_t i = 0; i < BLOCKS; i++)
        touch_block(pages + i * block_bytes);
}

KEPT void allocate(bool slow)
{
    const size_t length = (size_t)(slow ? 32768 : 16) * PAGE_BYTES;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    munmap(memory, length);
}

enum { FIELD = 1 << 24, SMALL_FIELD = 1 << 11, STEPS = 1 << 18 };
static unsigned *field;

KEPT void make_field(void)
{
    field = malloc(FIELD * sizeof *field);
    if (!field)
        abort();
    for (unsigned i = 0; i < FIELD; i++)
        field[i] = i;
}

/* As many steps, but over memory that is in no cache. */
KEPT void walk(bool slow)
{
    const unsigned mask = (slow ? FIELD : SMALL_FIELD) - 1;
    unsigned at = 1;
    for (unsigned i = 0; i < STEPS; i++)
        at = (field[at & mask] * 1664525U + 1013904223U) >> 3;
    field[at & mask]++;
}

/* ---- the machine ---- */

static cpu_set_t processors;

__attribute__((constructor)) static void find_processors(void)
{
    if (sched_getaffinity(0, sizeof processors, &processors) != 0)
        abort();
}

static void use_processor(int number)
{
    cpu_set_t one;
    for (int i = 0, found = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &processors) && found++ == number) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
}

KEPT void take_processor(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    flags->held = true;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < HOG_MS);
}

KEPT void hog(void)
{
    use_processor(0);
    hold_when_wanted(take_processor);
}

/* The calls have the hog's processor, and lower priority. */
static void give_way(void)
{
    use_processor(0);
    setpriority(PRIO_PROCESS, 0, 10);
}

KEPT void share_processor(bool slow)
{
    (void)slow;
    compute(100);
}

/* ---- another processor, whose tables are not loaded ---- */

static int loaded_on;

static void stay_on_processor(void)
{
    use_processor(0);
    loaded_on = sched_getcpu();
}

static void move_over(void)
{
    static int at;
    use_processor(at = !at);
}

KEPT void use_tables_of_processor(bool slow)
{
    (void)slow;
    if (loaded_on != sched_getcpu())
        load_tables();
    loaded_on = sched_getcpu();
    compute(2);
}

/* ---- a signal ---- */

KEPT void on_signal(int number)
{
    (void)number;
    compute(200);
}

static void catch_signal(void)
{
    signal(SIGUSR1, on_signal);
}

KEPT void be_interrupted(bool slow)
{
    if (slow)
        raise(SIGUSR1);
}

/* ---- a lock that spins ---- */

static volatile bool spinning;

KEPT void hold_spinning(void)
{
    spinning = true;
    flags->held = true;
    nap(NAP_MS);
    spinning = false;
}

KEPT void keep_spinning_lock(void)
{
    hold_when_wanted(hold_spinning);
}

KEPT void spin(void)
{
    while (spinning)
        continue;
}

KEPT void look_up_spinning(bool slow)
{
    (void)slow;
    spin();
    compute(1);
}

/* ---- random work ---- */

KEPT void guess(bool slow)
{
    static unsigned state = 1;
    (void)slow;
    state = state * 1664525U + 1013904223U;
    compute(1 + (state >> 16) % 20);
}

const struct slow_cause slow_work[] = {
    { .name = "items", .work = parse_items },
    { .name = "long", .work = parse_text },
    { .name = "first", .work = use_tables, .in_threads = true },
    { .name = "pages", .work = touch, .begin = map_pages, .prepare = drop_pages },
    { .name = "allocation", .work = allocate },
    { .name = "cold", .work = walk, .begin = make_field },
    { .name = "hog", .work = share_processor, .other = hog, .begin = give_way, .prepare = wait_until_held },
    { .name = "migration", .work = use_tables_of_processor, .begin = stay_on_processor, .prepare = move_over },
    { .name = "signal", .work = be_interrupted, .begin = catch_signal },
    { .name = "spin", .work = look_up_spinning, .other = keep_spinning_lock, .prepare = wait_until_held },
    { .name = "random", .work = guess },
    { .name = NULL },
};
