/* A run of the PerfLog library: its start and end, the application's name, the strings of markers, and the callback. */
#include "perflog/state.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"

struct perflog_run perflog;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t perflog_lock(void)
{
    const uint64_t mask = sys_block_signals();
    pthread_mutex_lock(&lock);
    return mask;
}

void perflog_unlock(uint64_t mask)
{
    pthread_mutex_unlock(&lock);
    sys_restore_signals(mask);
}

void perflog_copy_text(char *to, const char *text, size_t longest)
{
    size_t length = strnlen(text, longest + 1);
    if (length > longest) {
        length = longest;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++)
        to[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    to[length] = '\0';
}

/* ---- forks ---- */

static uint64_t mask_of_fork;

static void perflog_before_fork(void)
{
    const uint64_t mask = perflog_lock(); /* the lock protects it now */
    mask_of_fork = mask;
}

static void perflog_after_fork_in_parent(void)
{
    perflog_unlock(mask_of_fork);
}

static void perflog_after_fork_in_child(void)
{
    perflog_marks_forked();
    perflog_monitor_forked();
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    sys_restore_signals(mask_of_fork);
}

/* ---- begin and end ---- */

static void perflog_set_up(void)
{
    static bool once;
    if (perflog.ready)
        return;
    if (!once)
        once = perflog_make_key() &&
               pthread_atfork(perflog_before_fork, perflog_after_fork_in_parent, perflog_after_fork_in_child) == 0;
    if (!once)
        return;
    perflog_events_begin();
    perflog_time_pairs(perflog.pairs, PERFLOG_PAIRS);
    uint64_t sorted[PERFLOG_PAIRS];
    memcpy(sorted, perflog.pairs, sizeof sorted);
    __atomic_store_n(&perflog.overhead, perflog_median(sorted, PERFLOG_PAIRS), __ATOMIC_RELAXED);
    __atomic_store_n(&perflog.ready, 1, __ATOMIC_RELEASE);
}

void perflog_enter(void)
{
    if (__atomic_load_n(&perflog.ready, __ATOMIC_ACQUIRE))
        return;
    const int error = errno;
    const uint64_t mask = perflog_lock();
    perflog_set_up();
    perflog_unlock(mask);
    errno = error;
}

DWELL_EXPORT int Perf_LibInit(void)
{
    const int error = errno;
    const uint64_t mask = perflog_lock();
    perflog_set_up();
    const bool done = perflog.ready && perflog_header();
    if (done)
        perflog.users++;
    perflog_unlock(mask);
    errno = error;
    return done;
}

static void perflog_reset(void)
{
    perflog_close();
    perflog_clear_timers();
    __atomic_store_n(&perflog.ready, 0, __ATOMIC_RELEASE);
    memset(&perflog, 0, sizeof perflog);
}

DWELL_EXPORT int Perf_LibDeinit(void)
{
    const int error = errno;
    uint64_t mask = perflog_lock();
    const bool any = perflog.users > 0, last = perflog.users == 1;
    if (any)
        perflog.users--;
    perflog_unlock(mask);
    if (last) {
        perflog_stop_monitor();
        mask = perflog_lock();
        if (perflog.users == 0)
            perflog_reset();
        perflog_unlock(mask);
    }
    errno = error;
    return any;
}

/* ---- names ---- */

static int perflog_set_name(const char *name)
{
    const uint64_t mask = perflog_lock();
    const bool done = name && !perflog.ready;
    if (done)
        perflog_copy_text(perflog.application, name, MAX_APPNAME_LEN);
    perflog_unlock(mask);
    return done;
}

DWELL_EXPORT int Perf_SetTestName(const char *name)
{
    return perflog_set_name(name);
}

DWELL_EXPORT int Perf_SetTestTitle(const char *title)
{
    return perflog_set_name(title);
}

/* Formats in the locale "C" and not in the program's, because readers split the string at commas. */
static bool perflog_format_name(char *text, size_t size, const char *format, va_list arguments)
{
    const locale_t own = duplocale(uselocale((locale_t)0));
    const locale_t numbers = own ? newlocale(LC_NUMERIC_MASK, "C", own) : (locale_t)0;
    const locale_t before = numbers ? uselocale(numbers) : (locale_t)0;
    const int length = vsnprintf(text, size, format, arguments);
    if (numbers) {
        uselocale(before);
        freelocale(numbers);
    } else if (own) {
        freelocale(own);
    }
    return length >= 0;
}

DWELL_EXPORT int Perf_RegisterMark(MARKER_ID marker, const char *format, ...)
{
    const int error = errno;
    perflog_enter();
    bool done = false;
    char text[MAX_MARKERNAME_LEN + 4]; /* longer than the limit, to detect that a character is cut */
    va_list arguments;
    va_start(arguments, format);
    if (marker <= MAX_MARKER_ID && format && perflog_format_name(text, sizeof text, format, arguments)) {
        const uint64_t mask = perflog_lock();
        done = perflog_register(marker, text);
        perflog_unlock(mask);
    }
    va_end(arguments);
    errno = error;
    return done;
}

DWELL_EXPORT int32_t Perf_RegisterCallBack(PERFCALLBACK function, void *user)
{
    const int error = errno;
    perflog_enter();
    const uint64_t mask = perflog_lock();
    perflog.callback = function;
    perflog.user = user;
    perflog_unlock(mask);
    errno = error;
    return 0;
}
