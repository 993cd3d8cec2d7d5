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

/*
 * The runtime's side; use the functions below instead. The address of a function that may not be there is taken from
 * the global offset table, for which the linker asks the loader in every kind of program; that of a weak symbol would
 * be zero for good in one that is not position-independent.
 */
#define DWELL_CALL static inline __attribute__((no_instrument_function, unused))

#if defined(__x86_64__)
#define DWELL_ADDRESS_OF(name, into) __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(into))
#elif defined(__aarch64__)
#define DWELL_ADDRESS_OF(name, into)                                                                                   \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]" : "=r"(into))
#else
#define DWELL_ADDRESS_OF(name, into) ((into) = 0)
#endif

/* Calls the runtime's function of that name, or has the value `otherwise`. */
#define DWELL_ASK(type, otherwise, name, parameters, arguments)                                                        \
    type(*function) parameters;                                                                                        \
    DWELL_ADDRESS_OF("dwell_runtime_" name, function);                                                                 \
    return function ? function arguments : otherwise

#define DWELL_TELL(name, parameters, arguments)                                                                        \
    void(*function) parameters;                                                                                        \
    DWELL_ADDRESS_OF("dwell_runtime_" name, function);                                                                 \
    if (function)                                                                                                      \
    function arguments

/* Whether this process is being recorded, paused or not. */
DWELL_CALL int dwell_is_there(void)
{
    DWELL_ASK(uint64_t, 0, "time", (void), ()) != 0;
}

/* Switch a level on or off. The calling thread obeys at once, others at their next enter or exit; what they did
 * before is recorded up to now. */
DWELL_CALL int dwell_start(enum dwell_level level, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "start", (enum dwell_level, uint32_t), (level, id));
}

DWELL_CALL int dwell_stop(enum dwell_level level, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "stop", (enum dwell_level, uint32_t), (level, id));
}

/* The same, counted: a level that was paused twice goes on after the second dwell_resume. */
DWELL_CALL int dwell_pause(enum dwell_level level, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "pause", (enum dwell_level, uint32_t), (level, id));
}

DWELL_CALL int dwell_resume(enum dwell_level level, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "resume", (enum dwell_level, uint32_t), (level, id));
}

/* A point in time, in units of the session's clock, for dwell_mark_at; zero where nothing is recorded. */
DWELL_CALL uint64_t dwell_time(void)
{
    DWELL_ASK(uint64_t, 0, "time", (void), ());
}

/* Marks this moment of the calling thread by a number from 1 on, and by a text in UTF-8 (copied; NULL: none).
 * `dwell marks` lists them. */
DWELL_CALL int dwell_mark_comment(int32_t number, const char *text)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "mark", (uint64_t, int32_t, const char *), (0, number, text));
}

DWELL_CALL int dwell_mark(int32_t number)
{
    return dwell_mark_comment(number, NULL);
}

/* Marks a moment that has passed: `time` is what dwell_time returned then. */
DWELL_CALL int dwell_mark_at(uint64_t time, int32_t number, const char *text)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "mark", (uint64_t, int32_t, const char *), (time, number, text));
}

/* Gives a thread or this process a name for reports. The first name stays. Names may be equal. */
DWELL_CALL int dwell_name(enum dwell_level level, uint32_t id, const char *name)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "name", (enum dwell_level, uint32_t, const char *), (level, id, name));
}

/* Writes what the session holds now to a session file of its own, while recording goes on: for `record --mode ring`
 * above all. `path`: a new file, or one that is replaced if it is a session. Not from a signal handler on a small
 * stack. */
DWELL_CALL int dwell_dump(const char *path)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "dump", (const char *), (path));
}

/*
 * Stacks that the program switches by itself. Those of makecontext and swapcontext are known without this.
 *
 * dwell_fiber_create tells of a stack: `stack` is its lowest address, `size` its bytes; with that, probes notice by
 * themselves on which stack they run. NULL and 0 where the place cannot be told: then each change has to be. Returns a
 * handle to be given to the other two, or NULL where nothing is recorded, which they take as well. Begin a new one when
 * a stack is used again from its start.
 *
 * dwell_fiber_switch tells that the calling thread is about to go over to that stack, NULL: to its own. Call it
 * immediately before the switch. A stack may go on on another thread.
 *
 * dwell_fiber_destroy gives the handle back; no thread is on the stack then. None of them is for signal handlers.
 */
DWELL_CALL void *dwell_fiber_create(const void *stack, size_t size)
{
    DWELL_ASK(void *, NULL, "fiber_create", (const void *, size_t), (stack, size));
}

DWELL_CALL void dwell_fiber_switch(void *fiber)
{
    DWELL_TELL("fiber_switch", (void *), (fiber));
}

DWELL_CALL void dwell_fiber_destroy(void *fiber)
{
    DWELL_TELL("fiber_destroy", (void *), (fiber));
}

#ifdef __cplusplus
}
#endif

#endif
