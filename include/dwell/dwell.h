/*
 * What a program may say to the profiler that records it: when to record, what to call things, what happened.
 *
 * All of it is optional, and costs next to nothing where no runtime is there: the functions below are found weakly, so
 * a program that calls them links without dwell and runs without it; they then return DWELL_NOT_RECORDED. All are
 * safe to call from any thread at any time, in signal handlers too, unless the contrary is said; none changes errno,
 * allocates by malloc, or ends the program.
 *
 * A thread is recorded while the global level, its process and the thread itself are on. A level is on if it is
 * started (it is at first: dwell_start and dwell_stop are a switch) and not paused (dwell_pause and dwell_resume count;
 * the count is zero at first, and the level is off while it is above zero; it may go below). What passes between is
 * part of no time in the report; calls that are open then go on behind it. This is the model of StartProfile,
 * StopProfile, SuspendProfile and ResumeProfile in Visual Studio's profiler.
 */
#ifndef DWELL_DWELL_H
#define DWELL_DWELL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dwell_level {
    DWELL_GLOBAL = 1,  /* every process of the session; the id does not matter */
    DWELL_PROCESS = 2, /* id: a pid of the session, or DWELL_CURRENT */
    DWELL_THREAD = 3,  /* id: a tid of this process, or DWELL_CURRENT */
};

#define DWELL_CURRENT 0xffffffffu

/* What the functions return. */
enum dwell_status {
    DWELL_OK = 0,
    DWELL_NOT_RECORDED = 1, /* no runtime is there, or it records nothing in this process, or was stopped for good */
    DWELL_NO_LEVEL = 2,     /* there is no such level, or the function does not take it */
    DWELL_NO_ID = 3,        /* there is no such thread or process */
    DWELL_IS_OFF = 4,       /* nothing is being recorded on this thread at the moment */
    DWELL_RESERVED = 5,     /* marks: numbers below 1 are not for programs */
    DWELL_TRUNCATED = 6,    /* done, but the text was cut to DWELL_LONGEST_... bytes */
    DWELL_BAD_NAME = 7,     /* names: empty, or begins with a digit, a blank or punctuation */
    DWELL_NAMED = 8,        /* names: it has one already, which stays */
    DWELL_NO_SUPPORT = 9,   /* the way in which this session records (record --mode) has no place for it */
    DWELL_FAILED = 10,      /* the system refused: no space, no permission, no memory */
};

enum {
    DWELL_LONGEST_TEXT = 255, /* bytes of a mark's text */
    DWELL_LONGEST_NAME = 31,  /* bytes of a name */
};

/* The runtime's side. Use the functions below instead. */
#define DWELL_WEAK __attribute__((weak, visibility("default")))
DWELL_WEAK int dwell_runtime_start(enum dwell_level level, uint32_t id);
DWELL_WEAK int dwell_runtime_stop(enum dwell_level level, uint32_t id);
DWELL_WEAK int dwell_runtime_pause(enum dwell_level level, uint32_t id);
DWELL_WEAK int dwell_runtime_resume(enum dwell_level level, uint32_t id);
DWELL_WEAK int dwell_runtime_mark(uint64_t time, int32_t number, const char *text);
DWELL_WEAK int dwell_runtime_name(enum dwell_level level, uint32_t id, const char *name);
DWELL_WEAK uint64_t dwell_runtime_time(void);
DWELL_WEAK int dwell_runtime_dump(const char *path);

/* Whether this process is being recorded, paused or not. */
static inline int dwell_is_there(void)
{
    return dwell_runtime_time && dwell_runtime_time() != 0;
}

/* Switch a level on or off. The calling thread obeys at once, others at their next enter or exit; what they did
 * before is recorded up to now. */
static inline int dwell_start(enum dwell_level level, uint32_t id)
{
    return dwell_runtime_start ? dwell_runtime_start(level, id) : DWELL_NOT_RECORDED;
}

static inline int dwell_stop(enum dwell_level level, uint32_t id)
{
    return dwell_runtime_stop ? dwell_runtime_stop(level, id) : DWELL_NOT_RECORDED;
}

/* The same, counted: a level that was paused twice goes on after the second dwell_resume. */
static inline int dwell_pause(enum dwell_level level, uint32_t id)
{
    return dwell_runtime_pause ? dwell_runtime_pause(level, id) : DWELL_NOT_RECORDED;
}

static inline int dwell_resume(enum dwell_level level, uint32_t id)
{
    return dwell_runtime_resume ? dwell_runtime_resume(level, id) : DWELL_NOT_RECORDED;
}

/* A point in time, in units of the session's clock, for dwell_mark_at; zero where nothing is recorded. */
static inline uint64_t dwell_time(void)
{
    return dwell_runtime_time ? dwell_runtime_time() : 0;
}

/* Marks this moment of the calling thread by a number from 1 on, and by a text in UTF-8 (copied; NULL: none).
 * `dwell marks` lists them. */
static inline int dwell_mark_comment(int32_t number, const char *text)
{
    return dwell_runtime_mark ? dwell_runtime_mark(0, number, text) : DWELL_NOT_RECORDED;
}

static inline int dwell_mark(int32_t number)
{
    return dwell_mark_comment(number, NULL);
}

/* Marks a moment that has passed: `time` is what dwell_time returned then. */
static inline int dwell_mark_at(uint64_t time, int32_t number, const char *text)
{
    return dwell_runtime_mark ? dwell_runtime_mark(time, number, text) : DWELL_NOT_RECORDED;
}

/* Gives a thread or this process a name for reports. The first name stays. Names may be equal. */
static inline int dwell_name(enum dwell_level level, uint32_t id, const char *name)
{
    return dwell_runtime_name ? dwell_runtime_name(level, id, name) : DWELL_NOT_RECORDED;
}

/* Writes what the session holds now to a session file of its own, while recording goes on: for `record --mode ring`
 * above all. `path`: a new file, or one that is replaced if it is a session. Not from a signal handler on a small stack. */
static inline int dwell_dump(const char *path)
{
    return dwell_runtime_dump ? dwell_runtime_dump(path) : DWELL_NOT_RECORDED;
}

#ifdef __cplusplus
}
#endif

#endif
