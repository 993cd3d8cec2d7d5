/*
 * The hooks to compare with. They are built once per kind (-DHOOK_EMPTY and so on) into a shared object of its own.
 * That is preloaded, so that the way from the program to the hook is the same as to dwell's.
 *
 * HOOK_EMPTY  returns at once: the cost of the calls alone.
 * HOOK_CLOCK  reads the clock and discards it.
 * HOOK_COUNT  counts the calls and prints their number to stderr at the end.
 * HOOK_FLOOR  the yardstick: reads the clock and stores 16 bytes into a small ring in memory, which is never read. A
 *             profiler that keeps what it records cannot do less than this.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ticks.h"

#define HOOK __attribute__((visibility("default"))) void
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

HOOK __cyg_profile_func_enter(void *function, void *call_site);
HOOK __cyg_profile_func_exit(void *function, void *call_site);

#if defined(HOOK_EMPTY)

HOOK __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function, (void)call_site;
}

HOOK __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function, (void)call_site;
}

#elif defined(HOOK_CLOCK)

HOOK __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function, (void)call_site;
    (void)read_ticks();
}

HOOK __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function, (void)call_site;
    (void)read_ticks();
}

#elif defined(HOOK_COUNT)

/* Shared by all threads. It is slow under contention, but this kind is not timed. */
static uint64_t enters;

HOOK __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function, (void)call_site;
    __atomic_fetch_add(&enters, 1, __ATOMIC_RELAXED);
}

HOOK __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function, (void)call_site;
}

__attribute__((destructor)) static void print_count(void)
{
    fprintf(stderr, "calls %llu\n", (unsigned long long)enters);
}

#elif defined(HOOK_FLOOR)

#include <sys/mman.h>

enum { RING_BYTES = 1 << 20, RING_EVENTS = RING_BYTES / 16 };

#define EXIT_BIT ((uint64_t)1 << 63)

struct event {
    uint64_t function; /* with EXIT_BIT for an exit */
    uint64_t ticks;
};

struct ring {
    struct event *events;
    uint64_t next; /* never wraps to zero; the low bits are the place in the ring */
};

static _Thread_local INITIAL_EXEC struct ring ring;

/* Runs once a thread. MAP_POPULATE: the floor does not include page faults. */
__attribute__((cold, noinline)) static void start_ring(void)
{
    void *memory = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    ring.events = memory;
}

__attribute__((always_inline)) static inline void store(uint64_t function)
{
    /* Starting the ring loses this one event. So the fast path need not save its argument across a call. */
    if (__builtin_expect(!ring.events, 0)) {
        start_ring();
        return;
    }
    struct event *event = &ring.events[ring.next++ & (RING_EVENTS - 1)];
    event->function = function;
    event->ticks = read_ticks();
}

HOOK __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)call_site;
    store((uint64_t)(uintptr_t)function);
}

HOOK __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    store((uint64_t)(uintptr_t)function | EXIT_BIT);
}

#else
#error "say which hooks: -DHOOK_EMPTY, -DHOOK_CLOCK, -DHOOK_COUNT or -DHOOK_FLOOR"
#endif
