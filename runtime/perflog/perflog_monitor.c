/* The monitor of PerfLog: a thread that reads CPU and memory use at an interval. It receives no signals, and a forked
 * child has no monitor. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "perflog/state.h"
#include "sys.h"

#define READING "%" PRIu64 ".%06" PRIu64
#define NANOSECONDS 1000000000u

static struct {
    pthread_mutex_t control; /* held while the thread is started or stopped */
    pthread_t thread;
    char name[MAX_APPNAME_LEN + 1];

    pthread_mutex_t lock; /* protects `stop` */
    pthread_cond_t stopping;
    bool stop;

    /* Protected by the library's lock. */
    bool running;
    uint32_t flags, refresh; /* milliseconds */
    struct perflog_cpu before;
    bool measured;
    uint64_t share; /* CPU use of the last interval that could be measured */
} monitor = { .control = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

/* The caller holds the library's lock, as for all functions that log. */
static bool sysmon_log_cpu(MARKER_ID marker, uint64_t share)
{
    return perflog_line("APP [%s] EVT [%" PRIu32 "] CPU [" READING "]", perflog.application, marker, share / 1000000,
                        share % 1000000);
}

static bool sysmon_log_memory(MARKER_ID marker, bool process)
{
    uint64_t bytes;
    return perflog_read_memory(process, &bytes) &&
           perflog_line("APP [%s] EVT [%" PRIu32 "] MEM [%" PRIu64 "]", perflog.application, marker, bytes);
}

/* The system counts in steps of some milliseconds. A short interval may have none, and continues into the next one. */
static bool sysmon_measure_cpu(void)
{
    struct perflog_cpu now;
    if (!perflog_read_cpu(monitor.flags & SYS_MON_PROCESS, &now) ||
        !perflog_cpu_share(&monitor.before, &now, &monitor.share))
        return false;
    monitor.before = now;
    monitor.measured = true;
    return true;
}

static void sysmon_read_all(void)
{
    const uint64_t mask = perflog_lock();
    const bool logged = monitor.flags & SYS_MON_LOG;
    if (monitor.flags & SYS_MON_MEM && logged)
        sysmon_log_memory(MARK_AUTOMEM, monitor.flags & SYS_MON_PROCESS);
    if (monitor.flags & SYS_MON_CPU && sysmon_measure_cpu() && logged)
        sysmon_log_cpu(MARK_AUTOCPU, monitor.share);
    perflog_unlock(mask);
}

static struct timespec sysmon_timespec_of(uint64_t nanoseconds)
{
    return (struct timespec){ (time_t)(nanoseconds / NANOSECONDS), (long)(nanoseconds % NANOSECONDS) };
}

static void *sysmon_run(void *interval)
{
    uint64_t next = clock_monotonic();
    pthread_mutex_lock(&monitor.lock);
    while (!monitor.stop) {
        const uint64_t now = clock_monotonic();
        next = now > next + (uintptr_t)interval ? now + (uintptr_t)interval : next + (uintptr_t)interval;
        const struct timespec limit = sysmon_timespec_of(next);
        int status = 0;
        while (!monitor.stop && status != ETIMEDOUT)
            status = pthread_cond_timedwait(&monitor.stopping, &monitor.lock, &limit);
        if (monitor.stop)
            break;
        pthread_mutex_unlock(&monitor.lock);
        sysmon_read_all();
        pthread_mutex_lock(&monitor.lock);
    }
    pthread_mutex_unlock(&monitor.lock);
    return NULL;
}

void perflog_monitor_forked(void)
{
    monitor.control = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    monitor.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    monitor.running = false;
    monitor.measured = false;
    monitor.flags = 0;
}

static bool sysmon_stop_thread(void)
{
    if (!monitor.running)
        return false;
    int cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling); /* else a cancelled caller would end in pthread_join */
    pthread_mutex_lock(&monitor.lock);
    monitor.stop = true;
    pthread_cond_signal(&monitor.stopping);
    pthread_mutex_unlock(&monitor.lock);
    pthread_join(monitor.thread, NULL);
    pthread_setcancelstate(cancelling, NULL);
    pthread_cond_destroy(&monitor.stopping);
    const uint64_t mask = perflog_lock();
    monitor.running = false;
    monitor.measured = false;
    monitor.flags = 0;
    perflog_unlock(mask);
    return true;
}

bool perflog_stop_monitor(void)
{
    pthread_mutex_lock(&monitor.control);
    const bool done = sysmon_stop_thread();
    pthread_mutex_unlock(&monitor.control);
    return done;
}

/* The original's first reading took as long. Signals do not shorten the wait. */
static void sysmon_wait_for(uint32_t milliseconds)
{
    const struct timespec until = sysmon_timespec_of(clock_monotonic() + (uint64_t)milliseconds * 1000000);
    while (milliseconds && SYS4(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == -EINTR)
        continue;
}

/* The original logged its count of idle work in an interval. Here it is the number of clock ticks of all processors. */
static uint64_t sysmon_ticks_of_interval(void)
{
    return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * (uint64_t)sysconf(_SC_CLK_TCK) * monitor.refresh / 1000;
}

static bool sysmon_log_start(void)
{
    const char *app = perflog.application;
    bool done = perflog_header();
    if (monitor.flags & SYS_MON_CPU)
        done = done &&
               perflog_line("REGISTERED MARKER [CPU: %s] AS [%d] BY APP [%s]", monitor.name, MARK_AUTOCPU, app) &&
               perflog_line("APP [%s] CPU CAL [%" PRIu64 "]", app, sysmon_ticks_of_interval());
    if (monitor.flags & SYS_MON_MEM)
        done = done && perflog_line("REGISTERED MARKER [MEM: %s] AS [%d] BY APP [%s]", monitor.name, MARK_AUTOMEM, app);
    return done && perflog_line("APP [%s] CPU MON [%s] FREQ [%" PRIu32 "]", app, monitor.name, monitor.refresh);
}

static bool sysmon_start_thread(void)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool done = pthread_cond_init(&monitor.stopping, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (!done)
        return false;
    monitor.stop = false;
    done = pthread_create(&monitor.thread, NULL, sysmon_run, (void *)((uintptr_t)monitor.refresh * 1000000)) == 0;
    if (!done)
        pthread_cond_destroy(&monitor.stopping);
    return done;
}

static bool sysmon_start(const char *name, uint32_t flags, uint32_t refresh, uint32_t calibration)
{
    sysmon_stop_thread();
    if (!(flags & (SYS_MON_CPU | SYS_MON_MEM)) || !refresh)
        return false;
    struct perflog_cpu before = { 0 };
    if (flags & SYS_MON_CPU && !perflog_read_cpu(flags & SYS_MON_PROCESS, &before))
        return false;
    sysmon_wait_for(calibration);
    const uint64_t mask = perflog_lock();
    monitor.flags = flags;
    monitor.refresh = refresh;
    monitor.before = before;
    perflog_copy_text(monitor.name, name ? name : perflog.application, MAX_APPNAME_LEN);
    if (flags & SYS_MON_CPU)
        sysmon_measure_cpu();
    const bool done =
        sysmon_log_start() && sysmon_start_thread(); /* the thread inherits that all signals are blocked */
    monitor.running = done;
    if (!done) {
        monitor.flags = 0;
        monitor.measured = false;
    }
    perflog_unlock(mask);
    return done;
}

DWELL_EXPORT int Perf_StartSysMonitor(const char *name, uint32_t flags, uint32_t refresh, uint32_t calibration)
{
    const int error = errno;
    perflog_enter();
    pthread_mutex_lock(&monitor.control);
    const bool done = sysmon_start(name, flags, refresh, calibration);
    pthread_mutex_unlock(&monitor.control);
    errno = error;
    return done;
}

DWELL_EXPORT int Perf_StopSysMonitor(void)
{
    const int error = errno;
    perflog_enter();
    const bool done = perflog_stop_monitor();
    errno = error;
    return done;
}

DWELL_EXPORT int Perf_MarkCPU(MARKER_ID marker)
{
    const int error = errno;
    perflog_enter();
    const uint64_t mask = perflog_lock();
    const bool there = monitor.running && monitor.flags & SYS_MON_CPU && (monitor.measured || sysmon_measure_cpu());
    const bool done = there && marker <= MAX_MARKER_ID && sysmon_log_cpu(marker, monitor.share);
    perflog_unlock(mask);
    errno = error;
    return done;
}

DWELL_EXPORT int Perf_MarkMem(MARKER_ID marker)
{
    const int error = errno;
    perflog_enter();
    const uint64_t mask = perflog_lock();
    const bool done = marker <= MAX_MARKER_ID && sysmon_log_memory(marker, monitor.flags & SYS_MON_PROCESS);
    perflog_unlock(mask);
    errno = error;
    return done;
}
