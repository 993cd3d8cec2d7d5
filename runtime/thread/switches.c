/*
 * How often threads were taken from their CPU, and for how long, as the kernel itself counts it. The reader of a
 * session sees how much was missed. What a full ring has lost is estimated from it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "clock.h"
#include "metadata_records.h"
#include "os_ring.h"
#include "osevents.h"
#include "process.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"

enum { LARGEST_STATUS = 4096 };

static bool switches_count_own(struct switch_counts *counts)
{
    struct rusage usage;
    if (SYS2(getrusage, RUSAGE_THREAD, &usage) < 0)
        return false;
    *counts = (struct switch_counts){ (uint64_t)usage.ru_nvcsw, (uint64_t)usage.ru_nivcsw };
    return true;
}

static bool switches_find_number(const char *text, const char *name, uint64_t *number)
{
    const char *at = strstr(text, name);
    if (at)
        *number = strtoull(at + strlen(name), NULL, 10);
    return at != NULL;
}

static bool switches_count_other(uint32_t tid, struct switch_counts *counts)
{
    char text[LARGEST_STATUS];
    return sys_read_task_file(tid, "status", text, sizeof text) > 0 &&
           switches_find_number(text, "\nvoluntary_ctxt_switches:", &counts->waits) &&
           switches_find_number(text, "\nnonvoluntary_ctxt_switches:", &counts->preemptions);
}

bool switches_read_cpu(uint64_t *cpu)
{
    struct timespec time;
    if (SYS2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time) < 0)
        return false;
    *cpu = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return true;
}

static uint64_t switches_nanoseconds(uint64_t ticks)
{
    const uint64_t rate = runtime.ticks_per_second, second = 1000000000;
    return ticks / rate * second + ticks % rate * second / rate;
}

void switches_begin_thread(struct thread *t, bool forked)
{
    struct thread_switches *const s = &t->switches;
    s->recorded = s->off_cpu_seen = 0;
    s->seen = (struct switch_counts){ 0, 0 };
    s->known = switches_count_own(&s->before) && switches_read_cpu(&s->cpu_before);
    s->monotonic_before = clock_monotonic();
    if (!forked)
        return;
    s->before = (struct switch_counts){ 0, 0 };
    s->cpu_before = runtime.forked_pid == runtime.process->pid ? runtime.forked_cpu : 0;
    s->monotonic_before -= switches_nanoseconds(saturating_difference(clock_now(runtime.clock), t->last));
}

/* Nanoseconds in which the thread could have run and did not, since it was made. */
static bool switches_read_delay(const struct thread *t, uint64_t *delay)
{
    char text[64], *end;
    if (sys_read_task_file(t->tid, "schedstat", text, sizeof text) <= 0)
        return false;
    strtoull(text, &end, 10); /* its time on a CPU */
    *delay = strtoull(end, NULL, 10);
    return true;
}

uint64_t switches_preempted(const struct thread *t, const struct switch_counts *missed, uint64_t ticks)
{
    uint64_t delay;
    if (!missed->preemptions || !missed->waits)
        return missed->preemptions ? ticks : 0;
    if (switches_read_delay(t, &delay))
        return smaller_of(os_ticks(delay), ticks);
    return missed->preemptions > missed->waits ? ticks : 0;
}

bool switches_missed(const struct thread *t, const struct os_events *events, struct switch_counts *counts,
                     uint64_t *ticks)
{
    struct switch_counts now;
    uint64_t cpu;
    if (!t->switches.known || t != thread_self || !switches_count_own(&now) || !switches_read_cpu(&cpu))
        return false;
    const struct switch_counts *before = &t->switches.before, *seen = &t->switches.seen, *here = &events->switches;
    counts->waits = saturating_difference(now.waits - before->waits, seen->waits + here->waits);
    counts->preemptions =
        saturating_difference(now.preemptions - before->preemptions, seen->preemptions + here->preemptions);
    const uint64_t off_cpu =
        saturating_difference(clock_monotonic() - t->switches.monotonic_before, cpu - t->switches.cpu_before);
    *ticks = saturating_difference(os_ticks(off_cpu), t->switches.off_cpu_seen + events->blocked + events->preempted);
    return true;
}

void switches_note(const struct thread *t)
{
    struct switch_counts now = { 0, 0 };
    if (!t->switches.known || !(t == thread_self ? switches_count_own(&now) : switches_count_other(t->tid, &now)))
        return;
    struct dwell_rec_thread_switches record = {
        .record.type = DWELL_REC_THREAD_SWITCHES,
        .thread = t->serial,
        .waits = now.waits - t->switches.before.waits,
        .preemptions = now.preemptions - t->switches.before.preemptions,
        .recorded = t->switches.recorded,
    };
    metadata_append(&record.record, sizeof record, NULL, 0);
}
