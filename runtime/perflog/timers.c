/* The calls of a program that begin, end and pause timers. Each thread has timers of its own, in a page that is freed
 * with the thread. Another thread accesses them only in Perf_PauseAll and Perf_LibDeinit. The clock is read first if a
 * timer stops, and last if it starts. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "perflog/state.h"
#include "sys.h"

enum {
    TICKS_PER_MILLISECOND = PERFLOG_FREQUENCY / 1000,
    TICKS_PER_MICROSECOND = PERFLOG_FREQUENCY / 1000000,
    WARM_UP = 16,
    MAX_DECIMAL = 40,
};

struct thread_timers {
    pthread_mutex_t lock;
    struct thread_timers *next, **link; /* guarded by the library's lock */
    struct perflog_timer timers[TOTAL_MARKS];
};
_Static_assert(sizeof(struct thread_timers) <= 4096, "a page holds them");

static struct thread_timers *all;
static pthread_key_t key;

static void marks_thread_ended(void *own)
{
    struct thread_timers *t = own;
    const uint64_t mask = perflog_lock();
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    perflog_unlock(mask);
    sys_unmap(t, sizeof *t);
}

bool perflog_make_key(void)
{
    return pthread_key_create(&key, marks_thread_ended) == 0;
}

/* The caller holds the library's lock. */
static struct thread_timers *marks_make_timers(void)
{
    struct thread_timers *t = sys_memory(sizeof *t);
    if (!t)
        return NULL;
    if (pthread_setspecific(key, t) != 0) {
        sys_unmap(t, sizeof *t);
        return NULL;
    }
    t->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    t->next = all;
    t->link = &all;
    if (all)
        all->link = &t->next;
    all = t;
    return t;
}

/* Returns the timers of the calling thread, or NULL if it has begun none. */
static struct thread_timers *marks_own_timers(void)
{
    perflog_enter();
    return __atomic_load_n(&perflog.ready, __ATOMIC_ACQUIRE) ? pthread_getspecific(key) : NULL;
}

void perflog_marks_forked(void)
{
    struct thread_timers *own = pthread_getspecific(key);
    for (struct thread_timers *t = all, *next; t; t = next) {
        next = t->next;
        if (t != own)
            sys_unmap(t, sizeof *t);
    }
    all = own;
    if (own) {
        own->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        own->next = NULL;
        own->link = &all;
    }
}

void perflog_clear_timers(void)
{
    for (struct thread_timers *t = all; t; t = t->next) {
        pthread_mutex_lock(&t->lock);
        for (int i = 0; i < TOTAL_MARKS; i++)
            t->timers[i] = (struct perflog_timer){ 0 };
        pthread_mutex_unlock(&t->lock);
    }
}

/* ---- begin and end ---- */

static __attribute__((noinline)) void marks_begin_timer(struct thread_timers *t, MARKER_ID marker)
{
    pthread_mutex_lock(&t->lock);
    perflog_timer_begin(&t->timers[marker], clock_monotonic());
    pthread_mutex_unlock(&t->lock);
}

static uint64_t marks_overhead(void)
{
    return __atomic_load_n(&perflog.overhead, __ATOMIC_RELAXED);
}

/* *open says whether the timer ran or was paused, and not only its accumulator has a value. */
static __attribute__((noinline)) bool marks_end_timer(struct thread_timers *t, MARKER_ID marker, uint64_t *ticks,
                                                      uint64_t less, bool *open)
{
    const uint64_t now = clock_monotonic();
    pthread_mutex_lock(&t->lock);
    *open = t->timers[marker].state != PERFLOG_STOPPED;
    const bool done = perflog_timer_end(&t->timers[marker], now, less, ticks);
    pthread_mutex_unlock(&t->lock);
    return done;
}

void perflog_time_pairs(uint64_t *durations, int count)
{
    struct thread_timers *t = pthread_getspecific(key);
    if (!t)
        t = marks_make_timers();
    for (int i = -WARM_UP; i < count; i++) {
        uint64_t ticks = 0;
        bool open;
        if (t) {
            marks_begin_timer(t, MARK_CALIBRATE);
            marks_end_timer(t, MARK_CALIBRATE, &ticks, 0, &open);
        }
        if (i >= 0)
            durations[i] = ticks;
    }
}

DWELL_EXPORT int Perf_MarkBegin(MARKER_ID marker)
{
    const int error = errno;
    struct thread_timers *t = marks_own_timers();
    if (!t && perflog.ready) {
        const uint64_t mask = perflog_lock();
        t = marks_make_timers();
        perflog_unlock(mask);
    }
    errno = error;
    if (!t || marker > MAX_MARKER_ID)
        return 0;
    perflog_event(PERFLOG_EVENT_BEGIN, marker);
    marks_begin_timer(t, marker);
    return 1;
}

/* The callback is called without any lock, because it may call the library. */
static int marks_log_end(MARKER_ID marker, uint64_t ticks)
{
    char name[MAX_MARKERNAME_LEN + 1];
    const uint64_t mask = perflog_lock();
    const bool done = perflog_line("APP [%s] EVT [%" PRIu32 "] DUR [%" PRIu64 "]", perflog.application, marker, ticks);
    const PERFCALLBACK callback = perflog.callback;
    void *user = perflog.user;
    if (callback)
        perflog_copy_text(name, perflog.names[marker], MAX_MARKERNAME_LEN);
    perflog_unlock(mask);
    if (callback)
        callback(&(PERFINFO){ marker, name, (float)((double)ticks / TICKS_PER_MILLISECOND), PLE_MARKEND }, user);
    return done;
}

DWELL_EXPORT int Perf_MarkEnd(MARKER_ID marker)
{
    /* If the library is set up, a thread that has begun a timer has a page of them. */
    struct thread_timers *t = __atomic_load_n(&perflog.ready, __ATOMIC_ACQUIRE) ? pthread_getspecific(key) : NULL;
    uint64_t ticks;
    bool open;
    if (marker <= MAX_MARKER_ID && t && marks_end_timer(t, marker, &ticks, marks_overhead(), &open)) {
        const int error = errno;
        if (open)
            perflog_event(PERFLOG_EVENT_END, marker);
        const int done = marks_log_end(marker, ticks);
        errno = error;
        return done;
    }
    perflog_enter();
    return 0;
}

DWELL_EXPORT int Perf_MarkEndAbsolute(MARKER_ID marker, uint32_t microseconds)
{
    const int error = errno;
    struct thread_timers *t = marks_own_timers();
    uint64_t ticks;
    bool open = false;
    int done = 0;
    if (marker <= MAX_MARKER_ID) {
        if (t)
            marks_end_timer(t, marker, &ticks, 0, &open);
        if (open)
            perflog_event(PERFLOG_EVENT_END, marker);
        done = marks_log_end(marker, (uint64_t)microseconds * TICKS_PER_MICROSECOND);
    }
    errno = error;
    return done;
}

DWELL_EXPORT int Perf_MarkAccumulator(MARKER_ID marker)
{
    const uint64_t now = clock_monotonic();
    struct thread_timers *t = marks_own_timers();
    if (!t || marker > MAX_MARKER_ID)
        return 0;
    pthread_mutex_lock(&t->lock);
    const bool done = perflog_timer_accumulate(&t->timers[marker], now, marks_overhead());
    pthread_mutex_unlock(&t->lock);
    if (done)
        perflog_event(PERFLOG_EVENT_END, marker);
    return done;
}

DWELL_EXPORT int Perf_MarkError(MARKER_ID marker)
{
    const int error = errno;
    struct thread_timers *t = marks_own_timers();
    bool done = false;
    if (marker <= MAX_MARKER_ID) {
        if (t) {
            pthread_mutex_lock(&t->lock);
            perflog_timer_cancel(&t->timers[marker]);
            pthread_mutex_unlock(&t->lock);
        }
        perflog_event(PERFLOG_EVENT_ERROR, marker);
        const uint64_t mask = perflog_lock();
        done = perflog_line("APP [%s] EVT [%" PRIu32 "] ERROR", perflog.application, marker);
        perflog_unlock(mask);
    }
    errno = error;
    return done;
}

DWELL_EXPORT uint32_t Perf_MarkGetDuration(MARKER_ID marker)
{
    const uint64_t now = clock_monotonic();
    struct thread_timers *t = marks_own_timers();
    if (!t || marker > MAX_MARKER_ID)
        return 0;
    uint64_t ticks;
    pthread_mutex_lock(&t->lock);
    perflog_timer_look(&t->timers[marker], now, marks_overhead(), &ticks);
    pthread_mutex_unlock(&t->lock);
    ticks /= TICKS_PER_MILLISECOND;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* ---- pauses ---- */

DWELL_EXPORT int Perf_Pause(MARKER_ID marker, int on)
{
    const uint64_t now = clock_monotonic();
    struct thread_timers *t = marks_own_timers();
    if (!t || marker > MAX_MARKER_ID)
        return 0;
    struct perflog_timer *timer = &t->timers[marker];
    pthread_mutex_lock(&t->lock);
    const bool done =
        on ? perflog_timer_pause(timer, now, marks_overhead()) : perflog_timer_go_on(timer, clock_monotonic());
    pthread_mutex_unlock(&t->lock);
    return done;
}

DWELL_EXPORT int Perf_PauseAll(int on)
{
    const uint64_t now = clock_monotonic();
    perflog_enter();
    const uint64_t mask = perflog_lock();
    for (struct thread_timers *t = all; t; t = t->next) {
        pthread_mutex_lock(&t->lock);
        for (int i = 0; i < TOTAL_MARKS; i++) {
            if (on)
                perflog_timer_pause(&t->timers[i], now, marks_overhead());
            else
                perflog_timer_go_on(&t->timers[i], clock_monotonic());
        }
        pthread_mutex_unlock(&t->lock);
    }
    perflog_unlock(mask);
    return perflog.ready;
}

/* ---- attributes ---- */

static bool marks_log_attribute(MARKER_ID marker, const char *name, const char *value)
{
    perflog_enter();
    if (marker > MAX_MARKER_ID || !name)
        return false;
    char text[MAX_MARKERNAME_LEN + 1];
    perflog_copy_text(text, name, MAX_MARKERNAME_LEN);
    const uint64_t mask = perflog_lock();
    const bool done =
        perflog_line("APP [%s] EVT [%" PRIu32 "] ATTR [%s] [%s]", perflog.application, marker, text, value);
    perflog_unlock(mask);
    return done;
}

DWELL_EXPORT int Perf_MarkAttribute(MARKER_ID marker, const char *name, uint32_t value)
{
    const int error = errno;
    char digits[MAX_DECIMAL];
    snprintf(digits, sizeof digits, "%" PRIu32, value);
    const int done = marks_log_attribute(marker, name, digits);
    errno = error;
    return done;
}

/* Prints the fewest digits that give the same value when they are read. */
static void marks_print_decimal(char *text, size_t size, double value)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
}

DWELL_EXPORT int Perf_MarkAttributeDecimal(MARKER_ID marker, const char *name, double value)
{
    const int error = errno;
    char digits[MAX_DECIMAL];
    marks_print_decimal(digits, sizeof digits, value);
    const int done = marks_log_attribute(marker, name, digits);
    errno = error;
    return done;
}
