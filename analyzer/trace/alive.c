/* Whether a session is still being recorded: compares its processes with those in /proc. */
#include "trace/alive.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/wide.h"
#include "clock.h"

static const uint64_t ns_per_second = 1000000000;

/* The state of a process or thread: a letter, and its start in the clock ticks of sysconf. */
static bool alive_read_state(const char *path, char *state, unsigned long long *start)
{
    char text[1024];
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    const size_t length = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* a name may contain parentheses */
    return at && sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                        state, start) == 2;
}

/* Nanoseconds from boot to its start. Zero if there is no such process or if it is a zombie. */
static uint64_t alive_process_start(uint32_t pid)
{
    char path[64], state;
    unsigned long long start;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (!alive_read_state(path, &state, &start) || state == 'Z' || state == 'X')
        return 0;
    return multiply_divide(start, ns_per_second, (uint64_t)sysconf(_SC_CLK_TCK)) + 1;
}

static uint64_t alive_read_clock(clockid_t id)
{
    struct timespec now = { 0, 0 };
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * ns_per_second + (uint64_t)now.tv_nsec;
}

/* Whether the process with this PID existed at `monotonic`. Otherwise the PID was reused. */
static bool alive_process_existed(uint32_t pid, uint64_t monotonic)
{
    const uint64_t start = pid ? alive_process_start(pid) : 0, boot = alive_read_clock(CLOCK_BOOTTIME),
                   now = alive_read_clock(CLOCK_MONOTONIC);
    if (!start || now < monotonic)
        return false;
    return boot - start + ns_per_second >= now - monotonic;
}

/* CLOCK_MONOTONIC at a time of the session. */
static uint64_t alive_monotonic_of(const struct session_file *file, uint64_t time)
{
    const struct dwell_file_header *h = &file->header;
    const uint64_t passed = time > h->start_ticks ? time - h->start_ticks : 0;
    return h->start_monotonic + (uint64_t)((uint128)passed * ns_per_second / h->ticks_per_second);
}

static bool alive_session_is_recorded(const struct session_file *file)
{
    return file->header.state == DWELL_RECORDING && !(file->header.origin & DWELL_ORIGIN_IMPORTED);
}

bool process_is_alive(const struct session_file *file, const struct trace_process *process)
{
    return alive_session_is_recorded(file) && !process->end_time &&
           alive_process_existed(process->pid, alive_monotonic_of(file, process->start_time));
}

bool thread_is_waiting(uint32_t pid, uint32_t tid)
{
    char path[64], state;
    unsigned long long start;
    snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
    return alive_read_state(path, &state, &start) && strchr("SDTtI", state);
}

bool session_is_alive(const struct session_file *file)
{
    for (size_t i = 0; i < file->process_count; i++)
        if (process_is_alive(file, &file->processes[i]))
            return true;
    return alive_session_is_recorded(file) &&
           alive_process_existed(file->header.recorder_pid, file->header.start_monotonic);
}

uint64_t session_now(const struct session_file *file)
{
    return clock_now((enum dwell_clock)file->header.clock);
}
