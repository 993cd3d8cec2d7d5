/* A timer of one thread for one marker. All numbers are ticks of any clock. */
#ifndef DWELL_RUNTIME_PERFLOG_TIMER_H
#define DWELL_RUNTIME_PERFLOG_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct perflog_timer {
    enum { PERFLOG_STOPPED, PERFLOG_RUNNING, PERFLOG_PAUSED } state;
    bool summed;    /* the accumulator holds a value, which may be zero */
    uint64_t since; /* if running: when it began or continued */
    uint64_t ran;   /* ticks until its last pause */
    uint64_t sum;   /* the accumulator */
};

/* `now` is the time of the call. `overhead` is the duration of a begin and an end with nothing between them. It is
 * subtracted from each period in which the timer runs. The functions return false and do nothing if the timer is in no
 * state for the call. `ticks` receives the duration. */
void perflog_timer_begin(struct perflog_timer *timer, uint64_t now);
bool perflog_timer_pause(struct perflog_timer *timer, uint64_t now, uint64_t overhead);
bool perflog_timer_go_on(struct perflog_timer *timer, uint64_t now);
bool perflog_timer_accumulate(struct perflog_timer *timer, uint64_t now, uint64_t overhead);
bool perflog_timer_end(struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks);
bool perflog_timer_look(const struct perflog_timer *timer, uint64_t now, uint64_t overhead, uint64_t *ticks);
void perflog_timer_cancel(struct perflog_timer *timer);

/* Returns the median of the durations and sorts them. Of an even number, it is the lower of the two in the middle. */
uint64_t perflog_median(uint64_t *durations, int count);

#endif
