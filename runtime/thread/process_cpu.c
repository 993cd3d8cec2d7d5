/* Where a sandbox forbids the calls, there are no records. */
#include "process_cpu.h"

#include <sys/resource.h>
#include <time.h>

#include "clock.h"
#include "metadata_records.h"
#include "process.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"

static uint64_t process_cpu_ns(uint64_t seconds, uint64_t nanoseconds)
{
    return seconds * 1000000000 + nanoseconds;
}

static bool process_cpu_read(struct dwell_rec_process_cpu *record)
{
    struct rusage usage = { 0 };
    struct timespec clock = { 0 };
    if (SYS2(getrusage, RUSAGE_SELF, &usage) < 0 || SYS2(clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &clock) < 0)
        return false;
    record->usage = process_cpu_ns((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec,
                                   ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000);
    record->clock = process_cpu_ns((uint64_t)clock.tv_sec, (uint64_t)clock.tv_nsec);
    return true;
}

/* The clock of another thread of the process (clock_getcpuclockid makes such a number). */
static uint64_t process_cpu_of_thread(uint32_t tid)
{
    enum { CLOCK_OF_THREAD = 6 };
    struct timespec clock = { 0 };
    if (!tid || SYS2(clock_gettime, (long)(int)(~tid << 3 | CLOCK_OF_THREAD), &clock) < 0)
        return 0;
    return process_cpu_ns((uint64_t)clock.tv_sec, (uint64_t)clock.tv_nsec);
}

static struct dwell_rec_process_cpu process_cpu_record(void)
{
    const struct process *p = runtime.process;
    return (struct dwell_rec_process_cpu){
        .record.type = DWELL_REC_PROCESS_CPU,
        .process = p->serial,
        .pid = p->pid,
        .time = clock_now(runtime.clock),
    };
}

void process_cpu_begin(bool forked)
{
    struct dwell_rec_process_cpu record = process_cpu_record();
    if (process_cpu_read(&record)) {
        if (forked)
            record.usage = record.clock = 0;
        else
            runtime.process->cpu.helpers -=
                process_cpu_of_thread(runtime.process->helper.tid); /* it counts from here */
        runtime.process->cpu.begin =
            (struct dwell_rec_process_cpu *)metadata_append(&record.record, sizeof record, NULL, 0);
    }
}

struct dwell_record *process_cpu_append_end(void)
{
    const struct process *p = runtime.process;
    struct dwell_rec_process_cpu record = process_cpu_record();
    if (!p->cpu.begin || !process_cpu_read(&record))
        return NULL;
    record.runtime =
        __atomic_load_n(&p->cpu.set_up, __ATOMIC_RELAXED) + p->cpu.helpers + process_cpu_of_thread(p->helper.tid);
    return metadata_append(&record.record, sizeof record, NULL, 0);
}

/* A process that is killed has no last record. */
void process_cpu_note_helper(bool ends)
{
    struct process *p = runtime.process;
    uint64_t own;
    if (!p->cpu.begin || !switches_read_cpu(&own))
        return;
    __atomic_store_n(&p->cpu.begin->runtime, __atomic_load_n(&p->cpu.set_up, __ATOMIC_RELAXED) + p->cpu.helpers + own,
                     __ATOMIC_RELAXED);
    if (ends)
        p->cpu.helpers += own;
}

uint64_t process_cpu_set_up_begins(void)
{
    uint64_t begin;
    return switches_read_cpu(&begin) ? begin : 0;
}

void process_cpu_set_up_ends(uint64_t begin)
{
    uint64_t now;
    if (begin && switches_read_cpu(&now))
        __atomic_fetch_add(&runtime.process->cpu.set_up, now - begin, __ATOMIC_RELAXED);
}
