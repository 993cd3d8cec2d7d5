/* Decides for which part of the time samples are taken, by the switches of the threads that have samples. */
#include "recorder/sample_windows.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/numbers.h"
#include "base/wide.h"

/* Of CPU time, in nanoseconds, and of switches, before something is decided. */
enum { ENOUGH_TIME = 10000000, ENOUGH_SWITCHES = 20 };

unsigned sample_stretch(uint64_t switches, uint64_t time, uint64_t cost, uint32_t permille)
{
    const uint64_t allowed = multiply_divide(time, permille, 1000);
    unsigned stretch = 1;
    while (stretch < SAMPLE_MOST_STRETCH && multiply_divide(switches, cost, stretch) > allowed)
        stretch *= 2;
    return stretch;
}

/* ---- the cost of a switch ---- */

enum { COST_SLEEPS = 20, COST_ROUNDS = 5, COST_SLEEP = 20000 /* nanoseconds */ };

/* A sleep switches to an idle processor, which has a timer to set anyway. Between two threads of one processor a switch
 * cost twice as much, where both were tried. */
enum { COST_OF_BUSY = 2 };

uint64_t sample_cpu_time(void)
{
    struct timespec time;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
               ? (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec
               : UINT64_MAX;
}

static uint64_t switch_sleeps(void)
{
    const uint64_t begin = sample_cpu_time();
    for (int i = 0; i < COST_SLEEPS; i++)
        nanosleep(&(struct timespec){ .tv_nsec = COST_SLEEP }, NULL);
    return sample_cpu_time() - begin;
}

uint64_t sample_switch_cost(int event)
{
    uint64_t with = UINT64_MAX, without = UINT64_MAX;
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < COST_ROUNDS; i++) {
        without = smaller(without, switch_sleeps());
        ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
        with = smaller(with, switch_sleeps());
        ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    }
    prctl(PR_SET_TIMERSLACK, 0); /* as the thread had it */
    return less(with, without) / COST_SLEEPS * COST_OF_BUSY;
}

/* ---- switches of threads ---- */

/* Returns false if the thread has ended. */
static bool switches_of(uint32_t tid, uint64_t *switches)
{
    char path[32], line[128];
    snprintf(path, sizeof path, "/proc/%u/status", tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    *switches = 0;
    while (fgets(line, sizeof line, file)) {
        const char *number = strstr(line, "voluntary_ctxt_switches:"); /* a part of nonvoluntary_ctxt_switches, too */
        if (number)
            *switches += strtoull(strchr(number, ':') + 1, NULL, 10);
    }
    fclose(file);
    return true;
}

void sample_windows_note(struct sample_windows *w, uint32_t tid, uint32_t period)
{
    if (!w->permille)
        return;
    for (size_t i = 0; i < w->count; i++)
        if (w->threads[i].tid == tid) {
            w->threads[i].time += period;
            return;
        }
    struct switching_thread one = { .tid = tid };
    if (w->count < SAMPLE_LOOKED_AT && switches_of(tid, &one.switches))
        w->threads[w->count++] = one; /* this sample was before */
}

void sample_windows_begin(struct sample_windows *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct switching_thread one = { .tid = w->threads[i].tid };
        if (switches_of(one.tid, &one.switches))
            w->threads[kept++] = one;
    }
    w->count = kept;
}

bool sample_windows_look(struct sample_windows *w)
{
    size_t kept = 0;
    const uint64_t before = w->time;
    for (size_t i = 0; i < w->count; i++) {
        struct switching_thread *one = &w->threads[i];
        uint64_t now;
        if (!switches_of(one->tid, &now))
            continue;
        w->switches += less(now, one->switches);
        w->time += one->time;
        w->threads[kept++] = (struct switching_thread){ .tid = one->tid, .switches = now };
    }
    w->count = kept == SAMPLE_LOOKED_AT && w->time == before ? 0 : kept; /* others run now */
    return w->time >= ENOUGH_TIME;
}

unsigned sample_windows_needed(const struct sample_windows *w, uint64_t cost)
{
    return w->switches < ENOUGH_SWITCHES ? 1 : sample_stretch(w->switches, w->time, cost, w->permille);
}

void sample_windows_decide(struct sample_windows *w)
{
    const unsigned needed = sample_windows_needed(w, w->cost);
    w->stretch = needed < w->stretch ? w->stretch / 2 : needed;
    w->switches = w->time = 0;
}
