/* Distances of threads, the base of gs, and the begin of new threads. */
#include "levels/in_place.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bus_signal.h"
#include "common.h"
#include "modules.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

bool in_place_wanted;

#if defined(__x86_64__)

enum { COUNT_OFFSET = offsetof(struct dwell_count, calls), MAX_TRIES = 64, HWCAP2_GS = 2 };

/* Windows and pages lie far from each other. Programs that are at a fixed place lie low, others and libraries high. */
static const int64_t in_place_far = 1ll << 44, in_place_step = 64 << 20;
static const uint64_t in_place_end = 1ull << 47;

static struct {
    int64_t base;   /* that of the pages that nobody reads; zero before the first distance */
    uint32_t slots; /* that were given */
    bool foreign;   /* somebody else uses gs */
} in_place;

bool in_place_is_known(void)
{
    return &dwell_interposed && getauxval(AT_HWCAP2) & HWCAP2_GS;
}

bool in_place_is_possible(void)
{
    return in_place_wanted && !in_place.foreign && in_place_is_known();
}

static uint64_t in_place_gs(void)
{
    uint64_t base;
    __asm__ volatile("rdgsbase %0" : "=r"(base));
    return base;
}

static void in_place_set_gs(uint64_t base)
{
    __asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
}

static void *in_place_map(uint64_t address, int protection)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *at = (void *)SYS6(mmap, address, PAGE, protection, flags, -1, 0);
    if (sys_failed(at))
        return NULL;
    if ((uint64_t)at == address)
        return at;
    sys_unmap(at, PAGE); /* kernels before 4.17 take it for a hint */
    return NULL;
}

bool in_place_reserve(uint64_t window, int64_t distance)
{
    const uint64_t at = window + (uint64_t)distance;
    return at < in_place_end && in_place_map(at, PROT_NONE);
}

static int64_t in_place_of_slot(uint32_t slot)
{
    return in_place.base < 0 ? in_place.base - slot * in_place_step : in_place.base + slot * in_place_step;
}

static bool in_place_is_ours(uint64_t base)
{
    const uint32_t slots = __atomic_load_n(&in_place.slots, __ATOMIC_RELAXED);
    const int64_t distance = (int64_t)base - COUNT_OFFSET - in_place.base;
    const int64_t slot = (distance < 0 ? -distance : distance) / in_place_step;
    return in_place.base && distance % in_place_step == 0 && slot <= slots;
}

int64_t in_place_distance(void)
{
    const bool low = getauxval(AT_PHDR) < 2 * (uint64_t)in_place_far;
    __atomic_store_n(&in_place.base, low ? in_place_far : -in_place_far, __ATOMIC_RELAXED);
    const uint32_t slot = __atomic_add_fetch(&in_place.slots, 1, __ATOMIC_RELAXED);
    const int64_t distance = in_place_of_slot(slot);
    const int64_t span = distance < 0 ? -distance : distance;
    return span < 2 * in_place_far ? distance : 0;
}

void in_place_use(int64_t distance)
{
    const uint64_t now = in_place_gs(), wanted = (uint64_t)distance + COUNT_OFFSET;
    if (now == wanted)
        return;
    if (now && !in_place_is_ours(now))
        in_place.foreign = true;
    else
        in_place_set_gs(wanted);
}

void in_place_use_none(void)
{
    if (in_place.base)
        in_place_use(in_place.base);
}

bool in_place_map_none(uint64_t window)
{
    const uint64_t at = window + (uint64_t)in_place.base;
    return at < in_place_end && in_place_map(at, PROT_READ | PROT_WRITE);
}

/* A folder has two links, and one for each folder in it. */
bool in_place_knows_threads(uint32_t count)
{
    struct stat tasks;
    const nlink_t own = runtime.process->helper.tid ? 1 : 0;
    return SYS4(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 && tasks.st_nlink == 2 + own + count;
}

#else

bool in_place_is_known(void)
{
    return false;
}

bool in_place_is_possible(void)
{
    return false;
}

int64_t in_place_distance(void)
{
    return 0;
}

bool in_place_reserve(uint64_t window, int64_t distance)
{
    (void)window, (void)distance;
    return false;
}

void in_place_use(int64_t distance)
{
    (void)distance;
}

void in_place_use_none(void)
{
}

bool in_place_map_none(uint64_t window)
{
    (void)window;
    return false;
}

bool in_place_knows_threads(uint32_t count)
{
    (void)count;
    return false;
}

#endif

/* ---- new threads ---- */

/* Nobody can hold back SIGKILL and SIGSTOP, sys_block_signals leaves SIGBUS, and libc the two signals of its own. */
static bool in_place_all_held(uint64_t mask)
{
    enum { FIRST_OF_LIBC = 32, LAST_OF_LIBC = 33 };
    static const int others[] = { SIGBUS, SIGKILL, SIGSTOP, FIRST_OF_LIBC, LAST_OF_LIBC };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        mask |= 1ull << (others[i] - 1);
    return mask == UINT64_MAX;
}

/* The thread has begun with its creator's mask, or with that of its attributes. */
static struct in_place_start in_place_begin_thread(void *given)
{
    const struct in_place_start start = *(struct in_place_start *)given;
    sys_unmap(given, sizeof start);
    const uint64_t own = sys_block_signals();
    const uint64_t mask = own == SYS_NOT_BLOCKED || !in_place_all_held(own) ? own : start.mask;
    const bool begun = thread_begin();
    if (!begun)
        in_place_use_none();
    sys_restore_signals(begun ? bus_adopt_mask(mask) : mask);
    return start;
}

static void *in_place_run(void *given)
{
    const struct in_place_start start = in_place_begin_thread(given);
    return start.run(start.argument);
}

static int in_place_run_c11(void *given)
{
    const struct in_place_start start = in_place_begin_thread(given);
    return start.run_c11(start.argument);
}

/* The runtime has threads of its own. */
static bool in_place_is_own(uint64_t run)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char etext[] __attribute__((visibility("hidden")));
    return run - (uint64_t)__ehdr_start < (uint64_t)etext - (uint64_t)__ehdr_start;
}

void in_place_begin_creation(struct in_place_start *start)
{
    start->mask = SYS_NOT_BLOCKED;
    if (!in_place_is_possible() || !process_is_recorded() ||
        in_place_is_own(start->run ? (uint64_t)start->run : (uint64_t)start->run_c11))
        return;
    struct in_place_start *given = sys_memory(sizeof *given);
    if (!given)
        return;
    start->mask = sys_block_signals();
    *given = *start;
    *start = (struct in_place_start){ start->run ? in_place_run : NULL, start->run_c11 ? in_place_run_c11 : NULL, given,
                                      start->mask };
}

void in_place_end_creation(const struct in_place_start *start, bool made)
{
    if (!made && (start->run == in_place_run || start->run_c11 == in_place_run_c11))
        sys_unmap(start->argument, sizeof *start);
    sys_restore_signals(start->mask);
}
