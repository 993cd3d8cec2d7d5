/*
 * PerfLog: a program times what it does under numbers of its own, and writes them to a log that people and other
 * programs read. The interface is that of the performance logger of Windows CE: a program written for it includes this
 * header instead of its own, is linked with -ldwell (pkg-config --libs dwell), and logs; whether it is recorded by
 * `dwell record` at the same time does not matter. `dwell perflog` reports such logs; docs/perflog-library.md tells
 * where they go and what is in them.
 *
 * The functions return 1, or 0 where something was wrong or the line could not be written; the program goes on either
 * way. They may be called from any thread, but not from signal handlers, and leave errno alone. What they need is set
 * up by the first call of any of them.
 *
 * A marker is a number from 0 to MAX_MARKER_ID. Its timers are one for each thread: what a thread begins, it ends.
 */
#ifndef DWELL_PERFLOG_H
#define DWELL_PERFLOG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_MARKER_ID 100
#define MAX_APPNAME_LEN 32     /* characters of an application's name */
#define MAX_MARKERNAME_LEN 512 /* of a marker's string */

/* Numbers that the library uses by itself. */
#define MARK_CALIBRATE (MAX_MARKER_ID + 1)
#define MARK_AUTOMEM (MAX_MARKER_ID + 2)
#define MARK_AUTOCPU (MAX_MARKER_ID + 3)
#define TOTAL_MARKS (MAX_MARKER_ID + 4)

/* What Perf_StartSysMonitor observes. */
#define SYS_MON_CPU 1
#define SYS_MON_MEM 2
#define SYS_MON_LOG 4     /* each reading is logged, under MARK_AUTOCPU and MARK_AUTOMEM */
#define SYS_MON_PROCESS 8 /* this process instead of the whole system; not in the original */

typedef uint32_t MARKER_ID;

/*
 * The types that such programs expect from the headers of Windows. Define DWELL_PERFLOG_PLAIN where another header has
 * names like these: the functions below do not need them.
 */
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

/* The names in the library are others, so that it stands in no program's way that has such functions itself. */
#define DWELL_PERFLOG_CALL(name) __asm__("dwell_perflog_" #name)

/* Begin and end the use of the library; they count. The first writes the log's header, and the last closes the log and
 * forgets all names and markers: what follows is another run. Where they are not called, the first call of another
 * function begins a run, and its first line has the header before it. */
int Perf_LibInit(void) DWELL_PERFLOG_CALL(LibInit);
int Perf_LibDeinit(void) DWELL_PERFLOG_CALL(LibDeinit);

/* The application's name in the log and in the name of its file. Both do the same, and come before every other call:
 * later they fail. Of a name that is too long, the first MAX_APPNAME_LEN characters are taken. */
int Perf_SetTestName(const char *name) DWELL_PERFLOG_CALL(SetTestName);
int Perf_SetTestTitle(const char *title) DWELL_PERFLOG_CALL(SetTestTitle);

/* Gives a marker its string, or another one: what is logged from then on belongs to that. Numbers are printed as in the
 * locale "C"; what is longer than MAX_MARKERNAME_LEN is cut. Markers work without, too: their string is empty. */
int Perf_RegisterMark(MARKER_ID marker, const char *format, ...) DWELL_PERFLOG_CALL(RegisterMark)
    __attribute__((format(printf, 2, 3)));

/* Starts the calling thread's timer of that marker, anew if it runs. */
int Perf_MarkBegin(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkBegin);

/* Stops it and logs the time since MarkBegin, with what the accumulator holds. Fails if there is neither. */
int Perf_MarkEnd(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkEnd);

/* Stops it and adds the time since MarkBegin to the accumulator. The next MarkBegin starts it again. */
int Perf_MarkAccumulator(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkAccumulator);

/* As MarkEnd, but logs the duration given. It needs no MarkBegin. */
int Perf_MarkEndAbsolute(MARKER_ID marker, uint32_t microseconds) DWELL_PERFLOG_CALL(MarkEndAbsolute);

/* Logs that something went wrong, and stops the timer without a trace. The accumulator stays. */
int Perf_MarkError(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkError);

/* Milliseconds since MarkBegin, pauses left out; 0 if the timer does not run. */
uint32_t Perf_MarkGetDuration(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkGetDuration);

/* Pauses a running timer, or lets it go on. PauseAll: those of all markers and threads that have been begun. */
int Perf_Pause(MARKER_ID marker, int on) DWELL_PERFLOG_CALL(Pause);
int Perf_PauseAll(int on) DWELL_PERFLOG_CALL(PauseAll);

/*
 * Starts a thread that reads CPU and memory use every `refresh` milliseconds; one that runs is stopped first. `name` is
 * what the log calls them, NULL: the application's. For `calibration` milliseconds, in which the call does not return,
 * the first reading of the CPU is made. The original returns nothing here.
 */
int Perf_StartSysMonitor(const char *name, uint32_t flags, uint32_t refresh, uint32_t calibration)
    DWELL_PERFLOG_CALL(StartSysMonitor);
int Perf_StopSysMonitor(void) DWELL_PERFLOG_CALL(StopSysMonitor);

/* Logs the CPU use of the monitor's last interval, in percent of all processors' time; with SYS_MON_PROCESS, in percent
 * of one processor's. Fails without a monitor with SYS_MON_CPU, and before its first reading. */
int Perf_MarkCPU(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkCPU);

/* Logs how many bytes of memory are in use now: of the system, without a monitor, too; of this process while a monitor
 * with SYS_MON_PROCESS runs. */
int Perf_MarkMem(MARKER_ID marker) DWELL_PERFLOG_CALL(MarkMem);

/* Log a value of the program's own under a name. */
int Perf_MarkAttribute(MARKER_ID marker, const char *name, uint32_t value) DWELL_PERFLOG_CALL(MarkAttribute);
int Perf_MarkAttributeDecimal(MARKER_ID marker, const char *name, double value)
    DWELL_PERFLOG_CALL(MarkAttributeDecimal);

/* What the callback is told, with the member names of the original. */
enum { PLE_MARKEND = 1 };

typedef struct tag_PerInfo {
    MARKER_ID markerId;
    const char *szMarkName; /* the string registered last; valid during the call */
    float ulMilliseconds;
    uint32_t dwEvent; /* PLE_MARKEND */
} PERFINFO, *LPPERFINFO;

typedef int32_t (*PERFCALLBACK)(LPPERFINFO info, void *user);

/* Has `function` called behind each end of a timer that is logged, on the thread that ends it; what it returns does not
 * matter. NULL: none any more. Like the original it returns an HRESULT: zero is success. */
int32_t Perf_RegisterCallBack(PERFCALLBACK function, void *user) DWELL_PERFLOG_CALL(RegisterCallBack);

#ifdef __cplusplus
}
#endif

#endif
