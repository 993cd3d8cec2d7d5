/* Selects the clock, reads it, and calibrates it against the system's clocks. For --clock ordered, it writes fences
 * into the probes' code. */
#include "clock.h"

#include <linux/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#include "sys.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { MAX_READ_TIME = 250 }; /* nanoseconds; a slower counter is assumed to be trapped by a virtual machine */

/* The user's choice overrides the tests. */
static bool clock_is_wanted(const char *wanted, const char *name)
{
    return wanted && strcmp(wanted, name) == 0;
}

bool clock_order_wanted(const char *wanted)
{
    return clock_is_wanted(wanted, "ordered");
}

/* ---- the fences ---- */

#if defined(__x86_64__)
static const unsigned char fence[] = { 0x0f, 0xae, 0xe8 }; /* lfence */
#else
static const unsigned char fence[] = { 0xdf, 0x3f, 0x03, 0xd5 }; /* isb */
#endif

extern const int32_t fences_begin[] __asm__("__start_dwell_fences") __attribute__((visibility("hidden")));
extern const int32_t fences_end[] __asm__("__stop_dwell_fences") __attribute__((visibility("hidden")));

bool clock_order(void)
{
    char *first = (char *)UINTPTR_MAX, *last = NULL;
    for (const int32_t *at = fences_begin; at < fences_end; at++) {
        char *place = (char *)at + *at;
        first = place < first ? place : first;
        last = place > last ? place : last;
    }
    enum { MAX_PAGE = 65536 };
    const uintptr_t page = getauxval(AT_PAGESZ) ? getauxval(AT_PAGESZ) : MAX_PAGE;
    char *begin = (char *)((uintptr_t)first & ~(page - 1));
    const size_t size = (size_t)(last + sizeof fence - begin);
    /* This function lies there, too, so the code has to stay executable. */
    if (!last || SYS3(mprotect, begin, size, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
        return false;
    for (const int32_t *at = fences_begin; at < fences_end; at++)
        memcpy((char *)at + *at, fence, sizeof fence);
    __builtin___clear_cache(first, last + sizeof fence);
    SYS3(mprotect, begin, size, PROT_READ | PROT_EXEC);
    return true;
}

static uint64_t clock_read(clockid_t id)
{
    struct timespec now = { 0, 0 };
    clock_gettime(id, &now); /* by the vDSO: no system call, no errno */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_realtime(void)
{
    return clock_read(CLOCK_REALTIME);
}

#if defined(__x86_64__)

static int clock_counter_permitted(void)
{
    int mode = 0;
    if (SYS2(prctl, PR_GET_TSC, &mode) < 0)
        return 1;
    return mode == PR_TSC_ENABLE;
}

static int clock_counter_invariant(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8)
        return 1;
    /* A hypervisor may hide the bit. That the kernel uses the counter is as good. */
    char name[16];
    return sys_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name) > 0 &&
           (strncmp(name, "tsc", 3) == 0 || strncmp(name, "kvm-clock", 9) == 0);
}

/* Another thread may run in the middle of a try, but hardly in the middle of each. */
static bool clock_counter_fast(void)
{
    enum { TRIES = 8, READS = 64 };
    for (int i = 0; i < TRIES; i++) {
        const uint64_t begin = clock_monotonic();
        for (int j = 0; j < READS; j++)
            clock_counter();
        if (clock_monotonic() - begin < READS * MAX_READ_TIME)
            return true;
    }
    return false;
}

enum dwell_clock clock_choose(const char *wanted)
{
    if (!clock_is_wanted(wanted, "monotonic") && clock_counter_permitted() && clock_counter_invariant() &&
        clock_counter_fast())
        return DWELL_CLOCK_TSC;
    return DWELL_CLOCK_MONOTONIC;
}

int clock_usable(enum dwell_clock clock)
{
    return clock == DWELL_CLOCK_MONOTONIC || (clock == DWELL_CLOCK_TSC && clock_counter_permitted());
}

#else

enum dwell_clock clock_choose(const char *wanted)
{
    return clock_is_wanted(wanted, "monotonic") ? DWELL_CLOCK_MONOTONIC : DWELL_CLOCK_CNTVCT;
}

int clock_usable(enum dwell_clock clock)
{
    return clock == DWELL_CLOCK_MONOTONIC || clock == DWELL_CLOCK_CNTVCT;
}

#endif

/* Reads one instant on both clocks: of several tries, the one with the shortest time between its readings. */
static void clock_read_pair(enum dwell_clock clock, clockid_t id, int tries, uint64_t *ticks, uint64_t *nanoseconds)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < tries; i++) {
        uint64_t before = clock_now(clock);
        uint64_t ns = clock_read(id);
        uint64_t after = clock_now(clock);
        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *nanoseconds = ns;
        }
    }
}

enum { FEW = 2, MANY = 8 };

void clock_pair(enum dwell_clock clock, uint64_t *ticks, uint64_t *nanoseconds)
{
    clock_read_pair(clock, CLOCK_MONOTONIC_RAW, FEW, ticks, nanoseconds);
}

uint64_t clock_frequency(enum dwell_clock clock)
{
    if (clock == DWELL_CLOCK_MONOTONIC)
        return 1000000000u;
#if defined(__aarch64__)
    uint64_t frequency;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
#else
    uint64_t ticks[2] = { 0 }, ns[2] = { 0 };
    clock_read_pair(clock, CLOCK_MONOTONIC, MANY, &ticks[0], &ns[0]);
    do {
        clock_read_pair(clock, CLOCK_MONOTONIC, MANY, &ticks[1], &ns[1]);
    } while (ns[1] - ns[0] < 2000000);
    return (uint64_t)((unsigned __int128)(ticks[1] - ticks[0]) * 1000000000u / (ns[1] - ns[0]));
#endif
}
