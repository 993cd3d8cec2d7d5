/* Starts, pauses, continues and ends a marker's timer, and subtracts the overhead of each reading. */
#include "perflog/timer.h"

void perflog_timer_begin(struct perflog_timer *timer, uint64_t now)
{
    timer->state = PERFLOG_RUNNING;
    timer->ran = 0;
    timer->since = now;
}

/* Returns the time since a running timer started or continued, less the overhead; zero if it does not run. */
static uint64_t timer_ticks_since_start(const struct perflog_timer *timer, uint64_t now, uint64_t overhead)
{
    if (timer->state != PERFLOG_RUNNING || now < timer->since || now - timer->since < overhead)
        return 0;
    return now - timer->since - overhead;
}

bool perflog_timer_pause(struct perflog_timer *timer, uint64_t now, uint64_t overhead)
{
    if (timer->state == PERFLOG_STOPPED)
        return false;
    timer->ran += timer_ticks_since_start(timer, now, overhead);
    timer->state = PERFLOG_PAUSED;
    return true;
}

bool perflog_timer_go_on(struct perflog_timer *timer, uint64_t now)
{
    if (timer->state == PERFLOG_PAUSED) {
        timer->state = PERFLOG_RUNNING;
        timer->since = now;
    }
    return timer->state == PERFLOG_RUNNING;
}

bool perflog_timer_look(const struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks)
{
    *ticks = timer->state == PERFLOG_STOPPED ? 0 : timer->ran + timer_ticks_since_start(timer, now, overhead);
    return timer->state != PERFLOG_STOPPED;
}

bool perflog_timer_accumulate(struct perflog_timer *timer, uint64_t now, uint64_t overhead)
{
    uint64_t ticks;
    if (!perflog_timer_look(timer, now, overhead, &ticks))
        return false;
    timer->sum += ticks;
    timer->summed = true;
    timer->state = PERFLOG_STOPPED;
    return true;
}

bool perflog_timer_end(struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks)
{
    const bool open = perflog_timer_look(timer, now, overhead, ticks), summed = timer->summed;
    *ticks += timer->sum;
    *timer = (struct perflog_timer){ 0 };
    return open || summed;
}

void perflog_timer_cancel(struct perflog_timer *timer)
{
    timer->state = PERFLOG_STOPPED;
}

uint64_t perflog_median(uint64_t *durations, int count)
{
    for (int i = 1; i < count; i++) {
        const uint64_t duration = durations[i];
        int at = i;
        for (; at > 0 && durations[at - 1] > duration; at--)
            durations[at] = durations[at - 1];
        durations[at] = duration;
    }
    return durations[(count - 1) / 2];
}
