/*
 * Samples of the process' CPU and memory use. The helper thread takes them at the interval of DWELL_MONITOR, in
 * milliseconds, and one more is taken when the process ends.
 *
 * The helper has a chunk of its own for the samples: it cannot wait for a chunk that only itself prepares.
 */
#include <string.h>
#include <time.h>

#include "chunk.h"
#include "clock.h"
#include "environment.h"
#include "guard.h"
#include "metadata.h"
#include "monitor.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { SAMPLES_CHUNK = 16 << 10, MAX_INTERVAL = 3600000 };

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

static bool monitor_next_chunk(struct process *p, int fd)
{
    struct area area = chunk_prepare(fd, SAMPLES_CHUNK);
    if (!area.at)
        return false;
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = p->serial;
    process_lock();
    chunk->sequence = p->metadata.chunks++;
    process_unlock();
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_METADATA, __ATOMIC_RELEASE);
    if (p->monitor.chunk)
        session_unmap(p->monitor.chunk, guard_size(p->monitor.chunk));
    p->monitor.chunk = chunk;
    p->monitor.used = sizeof *chunk;
    return true;
}

static bool monitor_append(struct process *p, int fd, const struct dwell_rec_sample *record)
{
    if ((!p->monitor.chunk || p->monitor.used + sizeof *record > guard_size(p->monitor.chunk)) &&
        !monitor_next_chunk(p, fd))
        return false;
    struct dwell_rec_sample *at = (struct dwell_rec_sample *)((char *)p->monitor.chunk + p->monitor.used);
    memcpy(&at->record + 1, &record->record + 1, sizeof *record - sizeof record->record);
    at->record.size = record->record.size;
    __atomic_store_n(&at->record.type, record->record.type, __ATOMIC_RELEASE);
    p->monitor.used += sizeof *record;
    return true;
}

long monitor_tick(struct process *p, int fd)
{
    const uint64_t interval = p->monitor.interval;
    if (!interval || p->stopped)
        return -1;
    uint64_t now = clock_monotonic();
    if (now >= p->monitor.next) {
        const struct dwell_rec_sample record = monitor_take_sample();
        if (!monitor_append(p, fd, &record)) {
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
