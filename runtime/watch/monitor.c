/*
 * Samples of the process' CPU and memory use. The helper thread takes them at the interval of DWELL_MONITOR, in
 * milliseconds, and one more is taken when the process ends.
 */
#include <string.h>
#include <time.h>

#include "clock.h"
#include "environment.h"
#include "metadata_records.h"
#include "monitor.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

enum { MAX_INTERVAL = 3600000 };

void monitor_begin(void)
{
    const char *text = environment_get("DWELL_MONITOR");
    uint64_t interval = 0;
    for (; text && *text >= '0' && *text <= '9' && interval <= MAX_INTERVAL; text++)
        interval = interval * 10 + (uint64_t)(*text - '0');
    if (text && !*text && interval <= MAX_INTERVAL)
        runtime.process->monitor.interval = interval * 1000000;
}

/* Returns the second number of statm, which is in pages. Zero if there is no /proc. */
static uint64_t monitor_resident_bytes(void)
{
    char text[128];
    if (sys_read_file("/proc/self/statm", text, sizeof text) <= 0)
        return 0;
    const char *at = text;
    while (*at && *at != ' ')
        at++;
    uint64_t pages = 0;
    while (*at == ' ')
        at++;
    for (; *at >= '0' && *at <= '9'; at++)
        pages = pages * 10 + (uint64_t)(*at - '0');
    return pages * PAGE;
}

static struct dwell_rec_sample monitor_take_sample(void)
{
    struct timespec cpu = { 0, 0 };
    SYS2(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct dwell_rec_sample){
        .record = { .type = DWELL_REC_SAMPLE, .size = sizeof(struct dwell_rec_sample) },
        .time = clock_now(runtime.clock),
        .cpu = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec,
        .resident = monitor_resident_bytes(),
    };
}

long monitor_tick(struct process *p)
{
    const uint64_t interval = p->monitor.interval;
    if (!interval || p->stopped)
        return -1;
    uint64_t now = clock_monotonic();
    if (now >= p->monitor.next) {
        const struct dwell_rec_sample record = monitor_take_sample();
        if (!metadata_append_in_helper(&record.record, sizeof record)) {
            p->monitor.interval = 0; /* no space: no more samples */
            return -1;
        }
        p->monitor.next = now + interval - (p->monitor.next ? (now - p->monitor.next) % interval : 0);
    }
    return (long)((p->monitor.next - now + 999999) / 1000000);
}

void monitor_end(void)
{
    if (!runtime.process->monitor.interval || runtime.process->stopped)
        return;
    const struct dwell_rec_sample record = monitor_take_sample();
    metadata_append(&record.record, sizeof record, NULL, 0);
}
