/* Tries whether this user may watch system calls, as the runtime does for --os-events=syscalls. */
#include "recorder/syscall_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "perf_attr.h"
#include "sys.h"

/* Returns the kernel's number of the event, or a negative error of the more usual place. */
static long syscall_events_number(const char **place)
{
    static const char *const places[] = { SYSCALLS_EVENT, SYSCALLS_EVENT_OLD };
    long error = 0;
    char text[32];
    for (int i = 0; i < 2; i++) {
        const long length = sys_read_file(places[i], text, sizeof text);
        *place = length > 0 || i == 0 ? places[i] : *place;
        if (length > 0)
            return strtol(text, NULL, 10);
        error = i == 0 ? length : error;
    }
    return error ? error : -ENOENT;
}

char *syscall_events_missing(void)
{
    const char *place;
    const long number = syscall_events_number(&place);
    if (number == -ENOENT)
        return need_text("%s: %s; as root, mount -t tracefs tracefs /sys/kernel/tracing", place, strerror(ENOENT));
    if (number < 0)
        return need_text("%s: %s; run as root, or let this user read tracefs: mount -o remount,mode=755 "
                         "/sys/kernel/tracing",
                         place, strerror((int)-number));
    struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
                                    .size = sizeof attr,
                                    .config = (uint64_t)number,
                                    .sample_period = 1,
                                    .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW };
    const long fd = SYS5(perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return need_text(
            "perf_event_open of raw_syscalls:sys_enter: %s; run as root, or with the capability CAP_PERFMON",
            strerror((int)-fd));
    close((int)fd);
    return NULL;
}
