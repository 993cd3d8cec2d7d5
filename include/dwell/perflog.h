/*
 * PerfLog: a program measures durations under numbers of its own and writes them to a log, for people and other
 * programs. The interface is that of the performance logger of Windows CE. A program that was written for it includes
 * this header instead and links with -ldwell (pkg-config --libs dwell). It works with and without `dwell record`.
 * `dwell perflog` reports such logs. docs/perflog-library.md describes the log and where it is written.
 *
 * Unless a comment says otherwise, a function returns 1 if it succeeds. It returns 0 if an argument is invalid or the
 * line could not be written, and the program continues. Every function may be called from any thread, but not in a
 * signal handler. No function changes errno. Strings are copied and stay the caller's. The first call of any function
 * sets the library up.
 *
 * A marker is a number from 0 to MAX_MARKER_ID. Each thread has one timer for each marker. A timer ends on the thread
 * that began it.
 */
#ifndef DWELL_PERFLOG_H
#define DWELL_PERFLOG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_MARKER_ID 100
#define MAX_APPNAME_LEN 32     /* bytes of an application's name */
#define MAX_MARKERNAME_LEN 512 /* bytes of a marker's string */

/* Numbers that the library uses itself. */
#define MARK_CALIBRATE (MAX_MARKER_ID + 1)
#define MARK_AUTOMEM (MAX_MARKER_ID + 2)
#define MARK_AUTOCPU (MAX_MARKER_ID + 3)
#define TOTAL_MARKS (MAX_MARKER_ID + 4)

/* What Perf_StartSysMonitor observes. */
#define SYS_MON_CPU 1
#define SYS_MON_MEM 2
#define SYS_MON_LOG 4     /* log each reading, under MARK_AUTOCPU and MARK_AUTOMEM */
#define SYS_MON_PROCESS 8 /* this process instead of the whole system; the original has no such flag */

typedef uint32_t MARKER_ID;

/* Types that such programs expect from the headers of Windows. Define DWELL_PERFLOG_PLAIN if another header defines the
 * same names. The functions below do not need them. */
#ifndef DWELL_PERFLOG_PLAIN
typedef int BOOL;
typedef char TCHAR;
typedef uint32_t DWORD;
typedef int32_t HRESULT;
typedef char *LPTSTR;
typedef const char *LPCTSTR;
typedef void *LPVOID;
#ifndef VOID
#define VOID void
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef TEXT
#define TEXT(text) text
#endif
#ifndef _T
#define _T(text) text
#endif
#ifndef S_OK
#define S_OK ((HRESULT)0)
#endif
#ifndef SUCCEEDED
#define SUCCEEDED(result) ((HRESULT)(result) >= 0)
#endif
#ifndef FAILED
#define FAILED(result) ((HRESULT)(result) < 0)
#endif
#endif

/* The library's symbols have other names, so that they do not clash with a program's own functions of these names. */
#define DWELL_PERFLOG_CALL(name) __asm__("dwell_perflog_" #name)

/* Begins a use of the library and writes the log's header. Uses are counted: each needs a Perf_LibDeinit. A program
 * need not call it: the first line of any other function is then preceded by the header. */
int Perf_LibInit(void) DWELL_PERFLOG_CALL(LibInit);

/* Ends a use of the library. The last one stops the monitor, closes the log and forgets all names, markers and the
 * callback. A later call begins a new run. Fails if there is no use to end. */
int Perf_LibDeinit(void) DWELL_PERFLOG_CALL(LibDeinit);

/* Sets the application's name, which appears in the log and in the log's file name. It has to come before every other
 * call, or it fails. A longer name is cut to MAX_APPNAME_LEN bytes, at a character. */
int Perf_SetTestName(const char *name) DWELL_PERFLOG_CALL(SetTestName);

/* The same as Perf_SetTestName. */
int Perf_SetTestTitle(const char *title) DWELL_PERFLOG_CALL(SetTestTitle);

/* Gives a marker its string, or replaces it, by a printf format. Later entries of the marker belong to the new string.
 * Numbers are printed as in the locale "C". A longer string is cut to MAX_MARKERNAME_LEN bytes. A marker without a
 * string works: its string is empty. */
int Perf_RegisterMark(MARKER_ID marker, const char *format, ...) DWELL_PERFLOG_CALL(RegisterMark)
    __attribute__((format(printf, 2, 3)));

/* Starts the calling thread's timer of that marker. A running timer starts anew. */
int Perf_MarkBegin(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkBegin);

/* Stops the timer and logs the time since MarkBegin plus the accumulator, which is cleared. Pauses do not count. Fails
 * if the timer does not run and nothing was accumulated. The log has ticks of CLOCK_MONOTONIC, in nanoseconds. */
int Perf_MarkEnd(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkEnd);

/* Stops the timer and adds the time since MarkBegin to the accumulator. The next MarkBegin starts it again. */
int Perf_MarkAccumulator(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkAccumulator);

/* Logs `microseconds` as the duration, and ends the timer and its accumulator if there are any. Needs no MarkBegin. */
int Perf_MarkEndAbsolute(MARKER_ID marker, uint32_t microseconds) DWELL_PERFLOG_CALL(MarkEndAbsolute);

/* Logs an error of that marker and stops its timer without a duration. The accumulator stays. */
int Perf_MarkError(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkError);

/* Returns whole milliseconds since MarkBegin without pauses, or 0 if the timer does not run. */
uint32_t Perf_MarkGetDuration(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkGetDuration);

/* Pauses a running timer (`on` is not 0) or continues it (0). */
int Perf_Pause(MARKER_ID marker, int on) DWELL_PERFLOG_CALL(Pause);

/* The same for the timers of all markers and threads. */
int Perf_PauseAll(int on) DWELL_PERFLOG_CALL(PauseAll);

/*
 * Starts a thread that reads the CPU and memory use every `refresh` milliseconds. A monitor that runs is stopped first.
 * `flags` are SYS_MON_CPU, SYS_MON_MEM or both, with SYS_MON_LOG and SYS_MON_PROCESS as options. `name` appears in the
 * log: NULL means the application's name.
 *
 * The call returns after `calibration` milliseconds, in which it takes the first CPU reading. The original returns
 * nothing here.
 */
int Perf_StartSysMonitor(const char *name, uint32_t flags, uint32_t refresh, uint32_t calibration)
    DWELL_PERFLOG_CALL(StartSysMonitor);

/* Stops the monitor's thread and waits for its end. Fails if none runs. */
int Perf_StopSysMonitor(void) DWELL_PERFLOG_CALL(StopSysMonitor);

/* Logs the CPU use of the monitor's last interval, in percent of the time of all processors. With SYS_MON_PROCESS it is
 * in percent of one processor. Fails if no monitor with SYS_MON_CPU runs or it has no reading yet. */
int Perf_MarkCPU(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkCPU);

/* Logs the bytes of memory in use now: those of this process while a monitor with SYS_MON_PROCESS runs, else those of
 * the system. Needs no monitor. */
int Perf_MarkMem(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkMem);

/* Logs a value of the program's own under a name. */
int Perf_MarkAttribute(MARKER_ID marker, const char *name, uint32_t value) DWELL_PERFLOG_CALL(MarkAttribute);

/* The same for a decimal number, with as few digits as represent it exactly. */
int Perf_MarkAttributeDecimal(MARKER_ID marker, const char *name, double value)
    DWELL_PERFLOG_CALL(MarkAttributeDecimal);

/* The argument of the callback. Its members have the names of the original. */
enum { PLE_MARKEND = 1 };

typedef struct tag_PerInfo {
    MARKER_ID markerId;
    const char *szMarkName; /* the string that was registered last; valid during the call */
    float ulMilliseconds;
    uint32_t dwEvent; /* PLE_MARKEND */
} PERFINFO, *LPPERFINFO;

typedef int32_t (*PERFCALLBACK)(LPPERFINFO info, void *user);

/* Sets the function that is called after each MarkEnd and MarkEndAbsolute, on the thread that ends the timer. It may
 * call the library. Its result is ignored. NULL removes it. Returns an HRESULT as the original does: always 0, success.
 * `user` is passed on unchanged. */
int32_t Perf_RegisterCallBack(PERFCALLBACK function, void *user) DWELL_PERFLOG_CALL(RegisterCallBack);

#ifdef __cplusplus
}
#endif

#endif
