/* Reads CPU and memory use as the kernel counts them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perflog/state.h"
#include "sys.h"

enum {
    MAX_FILE = 4096,
    /* Columns of the first line of /proc/stat. The columns of guests come later, and are part of user and nice. */
    IDLE = 3,
    WAITING = 4,
    COLUMNS = 8,
};

#define WHOLE 100000000u /* millionths of a percent */

static uint64_t usage_read_clock(clockid_t id)
{
    struct timespec now = { 0, 0 };
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool perflog_read_cpu(bool process, struct perflog_cpu *cpu)
{
    *cpu = (struct perflog_cpu){ 0 };
    if (process) {
        cpu->used = usage_read_clock(CLOCK_PROCESS_CPUTIME_ID);
        cpu->total = clock_monotonic();
        return true;
    }
    char text[MAX_FILE];
    if (sys_read_file("/proc/stat", text, sizeof text) <= 0 || strncmp(text, "cpu ", 4) != 0)
        return false;
    char *at = text + 4;
    for (int i = 0; i < COLUMNS; i++) {
        const uint64_t ticks = strtoull(at, &at, 10);
        cpu->total += ticks;
        if (i != IDLE && i != WAITING)
            cpu->used += ticks;
    }
    return cpu->total > 0;
}

bool perflog_cpu_share(const struct perflog_cpu *from, const struct perflog_cpu *to, uint64_t *share)
{
    if (to->total <= from->total)
        return false;
    const uint64_t used = to->used > from->used ? to->used - from->used : 0;
    *share = (uint64_t)((unsigned __int128)used * WHOLE / (to->total - from->total));
    return true;
}

/* Finds the number of kilobytes after a name in /proc/meminfo. */
static bool usage_find_kilobytes(const char *text, const char *name, uint64_t *kilobytes)
{
    const char *at = strstr(text, name);
    if (at)
        *kilobytes = strtoull(at + strlen(name), NULL, 10);
    return at;
}

bool perflog_read_memory(bool process, uint64_t *bytes)
{
    char text[MAX_FILE];
    if (process) {
        char *at;
        if (sys_read_file("/proc/self/statm", text, sizeof text) <= 0)
            return false;
        strtoull(text, &at, 10); /* the address space; the resident part follows */
        *bytes = strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
        return *bytes > 0;
    }
    uint64_t whole, available;
    if (sys_read_file("/proc/meminfo", text, sizeof text) <= 0 || !usage_find_kilobytes(text, "MemTotal:", &whole) ||
        !usage_find_kilobytes(text, "MemAvailable:", &available))
        return false;
    *bytes = whole > available ? (whole - available) * 1024 : 0;
    return true;
}
