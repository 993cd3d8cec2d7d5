/* Compares the clocks of this process with those of perf events, by page faults that it makes. */
#include "perf_clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "common.h"
#include "perf_attr.h"
#include "sys.h"

enum {
    TRIES = 6,
    LEAST = 1000000, /* nanoseconds; a smaller difference is that of two readings of one clock */
};

/* The link of a process in the system's first time namespace; the number is part of the kernel's interface. */
static const char first_namespace[] = "time:[4026531834]";

static bool perf_clock_is_in_first_namespace(void)
{
    char link[64];
    const long length = SYS4(readlinkat, AT_FDCWD, "/proc/self/ns/time", link, sizeof link);
    return length == (long)sizeof first_namespace - 1 && memcmp(link, first_namespace, (size_t)length) == 0;
}

static int64_t perf_clock_now(clockid_t id)
{
    struct timespec now = { 0, 0 };
    clock_gettime(id, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The time of the page fault in the ring's records from `from` on; zero if there is none. */
static uint64_t perf_clock_of_fault(const struct perf_event_mmap_page *ring, uint64_t from, uint64_t to)
{
    const char *data = (const char *)ring + PAGE;
    struct {
        struct perf_event_header head;
        uint64_t time;
    } record;
    for (; from + sizeof record <= to && to <= PAGE; from += record.head.size) {
        memcpy(&record, data + from, sizeof record);
        if (record.head.type == PERF_RECORD_SAMPLE)
            return record.time;
        if (record.head.size < sizeof record.head)
            break;
    }
    return 0;
}

/* The fault comes after the reading of the clock, so the difference is largest where it comes soonest. */
static int64_t perf_clock_measure(const struct perf_event_mmap_page *ring, char *fresh, clockid_t id)
{
    int64_t most = INT64_MIN;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t from = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
        const int64_t before = perf_clock_now(id);
        *(volatile char *)(fresh + (size_t)i * PAGE) = 1;
        const uint64_t fault = perf_clock_of_fault(ring, from, __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE));
        if (fault && before - (int64_t)fault > most)
            most = before - (int64_t)fault;
    }
    return most == INT64_MIN || (most > -LEAST && most < LEAST) ? 0 : most;
}

int64_t perf_clock_offset(bool monotonic)
{
    if (perf_clock_is_in_first_namespace())
        return 0;
    struct perf_event_attr attr = os_perf_attr(monotonic);
    const long fd = SYS5(perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    void *ring = sys_map_at_once(2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    char *fresh = sys_memory(TRIES * PAGE);
    sys_close((int)fd);
    const int64_t offset =
        ring && fresh ? perf_clock_measure(ring, fresh, monotonic ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW) : 0;
    if (ring)
        sys_unmap(ring, 2 * PAGE);
    if (fresh)
        sys_unmap(fresh, TRIES * PAGE);
    return offset;
}
