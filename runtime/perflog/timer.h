/* The time that one thread spends under one marker. All numbers are ticks of any clock. */
#ifndef DWELL_RUNTIME_PERFLOG_TIMER_H
#define DWELL_RUNTIME_PERFLOG_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct perflog_timer {
    enum { PERFLOG_STOPPED, PERFLOG_RUNNING, PERFLOG_PAUSED } state;
    bool summed;    /* something was accumulated, if only zero */
    uint64_t since; /* running: when it began, or went on */
    uint64_t ran;   /* until its last pause */
    uint64_t sum;   /* of what was accumulated */
};

/* `overhead` is what a begin and an end with nothing between them take: it is left out of every stretch in which the
 * timer runs. False: there is no timer for that, and nothing happens. */
void perflog_timer_begin(struct perflog_timer *timer, uint64_t now);
bool perflog_timer_pause(struct perflog_timer *timer, uint64_t now, uint64_t overhead);
bool perflog_timer_go_on(struct perflog_timer *timer, uint64_t now);
bool perflog_timer_accumulate(struct perflog_timer *timer, uint64_t now, uint64_t overhead);
bool perflog_timer_end(struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks);
bool perflog_timer_look(const struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks);
void perflog_timer_cancel(struct perflog_timer *timer);

/* The median of the durations, which are sorted for it; of an even number, the lower one of the two in the middle. */
uint64_t perflog_median(uint64_t *durations, int count);

#endif
