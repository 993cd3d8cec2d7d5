/*
 * The interface by which a program controls the profiler that records it: it switches the recording on and off, sets
 * marks, and names threads.
 *
 * All of it is optional. The functions refer to the runtime weakly, so a program that calls them links and runs without
 * dwell. They then cost next to nothing and return DWELL_NOT_RECORDED.
 *
 * Unless a comment says otherwise, each function may be called from any thread at any time, also in signal handlers. No
 * function changes errno, calls malloc or ends the program. A text is copied before the function returns, and stays the
 * caller's.
 *
 * A thread is recorded while three scopes are on: the global one, its process and the thread itself. A scope is on if
 * it is started and not paused. dwell_start and dwell_stop are a switch, which is on at first. dwell_pause and
 * dwell_resume change a count, which is zero at first and may become negative. The scope is paused while its count is
 * above zero. Time while recording is off is not reported. Calls that are open at that time continue when it is on
 * again. This is the model of StartProfile, StopProfile, SuspendProfile and ResumeProfile in Visual Studio's profiler.
 */
#ifndef DWELL_DWELL_H
#define DWELL_DWELL_H

#include <stddef.h>
#include <stdint.h>

/* The version of dwell.h, event.h and perflog.h. Each release that adds a function raises it. Nothing is removed, and
 * no meaning changes. With an older runtime, a function that it lacks returns what it returns without a runtime. */
#define DWELL_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

enum dwell_level {
    DWELL_GLOBAL = 1,  /* every process of the session; the id is ignored */
    DWELL_PROCESS = 2, /* id: the pid of this process, or DWELL_CURRENT */
    DWELL_THREAD = 3,  /* id: a tid of this process, or DWELL_CURRENT */
};

#define DWELL_CURRENT 0xffffffffu

/* The results of the functions. */
enum dwell_status {
    DWELL_OK = 0,
    DWELL_NOT_RECORDED =
        1, /* no runtime is loaded, or it does not record this process, or recording was stopped permanently */
    DWELL_NO_LEVEL = 2,   /* unknown scope, or the function does not accept it */
    DWELL_NO_ID = 3,      /* no such thread or process */
    DWELL_IS_OFF = 4,     /* this thread is not being recorded at the moment */
    DWELL_RESERVED = 5,   /* marks: numbers below 1 are reserved */
    DWELL_TRUNCATED = 6,  /* done, but the text was cut to DWELL_LONGEST_... bytes */
    DWELL_BAD_NAME = 7,   /* names: empty, or begins with a digit, a blank or punctuation */
    DWELL_NAMED = 8,      /* names: it has a name already, which stays */
    DWELL_NO_SUPPORT = 9, /* the recording mode (record --mode) cannot store it */
    DWELL_FAILED = 10,    /* the system refused: no space, no permission or no memory */
};

enum {
    DWELL_LONGEST_TEXT = 255, /* bytes of a mark's text */
    DWELL_LONGEST_NAME = 31,  /* bytes of a name */
};

/*
 * The connection to the runtime. Call the functions below instead.
 *
 * The address of a function that may be missing is read from the global offset table. The loader fills the table in
 * every kind of program. The address of a weak symbol would be zero permanently in a program that is not
 * position-independent.
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

/* Calls the runtime's function of that name. Returns `otherwise` if there is no runtime. */
#define DWELL_ASK(type, otherwise, name, parameters, arguments)                                                        \
    type(*function) parameters;                                                                                        \
    DWELL_ADDRESS_OF("dwell_runtime_" name, function);                                                                 \
    return function ? function arguments : otherwise

#define DWELL_TELL(name, parameters, arguments)                                                                        \
    void(*function) parameters;                                                                                        \
    DWELL_ADDRESS_OF("dwell_runtime_" name, function);                                                                 \
    if (function)                                                                                                      \
    function arguments

/* Returns whether this process is being recorded, paused or not. */
DWELL_CALL int dwell_is_there(void)
{
    DWELL_ASK(uint64_t, 0, "time", (void), ()) != 0;
}

/* Switches a scope on. The calling thread obeys at once, others at their next enter or exit. The time of another thread
 * counts up to this call in any case. Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_NO_LEVEL or DWELL_NO_ID. */
DWELL_CALL int dwell_start(enum dwell_level scope, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "start", (enum dwell_level, uint32_t), (scope, id));
}

/* Switches a scope off. Otherwise as dwell_start. */
DWELL_CALL int dwell_stop(enum dwell_level scope, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "stop", (enum dwell_level, uint32_t), (scope, id));
}

/* Pauses a scope: adds one to its count. A scope that was paused twice is on again after the second dwell_resume.
 * Otherwise as dwell_start. */
DWELL_CALL int dwell_pause(enum dwell_level scope, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "pause", (enum dwell_level, uint32_t), (scope, id));
}

/* Ends one pause of a scope: subtracts one from its count. Otherwise as dwell_start. */
DWELL_CALL int dwell_resume(enum dwell_level scope, uint32_t id)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "resume", (enum dwell_level, uint32_t), (scope, id));
}

/* Returns the time now in ticks of the session's clock, for dwell_mark_at. Returns zero if nothing is recorded. */
DWELL_CALL uint64_t dwell_time(void)
{
    DWELL_ASK(uint64_t, 0, "time", (void), ());
}

/*
 * Sets a mark: the calling thread, this moment, a number from 1 on, and a text in UTF-8 or NULL. `dwell marks` lists
 * the marks. A text above DWELL_LONGEST_TEXT bytes is cut at a character.
 *
 * Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_RESERVED, DWELL_NO_SUPPORT (mode profile), DWELL_IS_OFF, DWELL_TRUNCATED
 * or DWELL_FAILED.
 */
DWELL_CALL int dwell_mark_comment(int32_t number, const char *text)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "mark", (uint64_t, int32_t, const char *), (0, number, text));
}

/* Sets a mark without a text: see dwell_mark_comment. */
DWELL_CALL int dwell_mark(int32_t number)
{
    return dwell_mark_comment(number, NULL);
}

/* Sets a mark at a moment that has passed: `time` is what dwell_time returned then, zero means now. Otherwise as
 * dwell_mark_comment. */
DWELL_CALL int dwell_mark_at(uint64_t time, int32_t number, const char *text)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "mark", (uint64_t, int32_t, const char *), (time, number, text));
}

/*
 * Gives a thread or this process a name for reports. `scope` is DWELL_PROCESS or DWELL_THREAD. The first name stays.
 * Several may have the same name. It begins with a letter, an underscore or a character outside ASCII, and is not NULL.
 * A name above DWELL_LONGEST_NAME bytes is cut at a character.
 *
 * Returns DWELL_OK, DWELL_NOT_RECORDED, DWELL_NO_LEVEL, DWELL_NO_ID, DWELL_BAD_NAME, DWELL_NAMED or DWELL_TRUNCATED.
 */
DWELL_CALL int dwell_name(enum dwell_level scope, uint32_t id, const char *name)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "name", (enum dwell_level, uint32_t, const char *), (scope, id, name));
}

/*
 * Writes what the session holds now to a session file of its own, while recording continues. It is mainly for `record
 * --mode ring`. It copies the whole session, and the calling thread waits for that.
 *
 * `path` is relative to the working directory, and must not be a symbolic link. It is a new file, or a session of this
 * user that nobody writes to: that is replaced. Of two dumps to one file at once, one fails. The session is opened
 * again by its path, so a dump fails after chroot, or when the session was renamed.
 *
 * The function uses at most 4 KiB of stack. Returns DWELL_OK, DWELL_NOT_RECORDED or DWELL_FAILED.
 */
DWELL_CALL int dwell_dump(const char *path)
{
    DWELL_ASK(int, DWELL_NOT_RECORDED, "dump", (const char *), (path));
}

/*
 * Announces a stack that the program switches by itself. Stacks of makecontext and swapcontext are known without this.
 * None of the three functions may be called in a signal handler.
 *
 * `stack` is the lowest address and `size` the number of bytes: with both, probes notice by themselves on which stack
 * they run. Pass NULL and 0 if the place is unknown. Then every switch needs a call of dwell_fiber_switch. Create a new
 * handle when a stack is used again from its start.
 *
 * Returns a handle for the other two functions, or NULL if nothing is recorded. They accept NULL. The caller gives the
 * handle back by dwell_fiber_destroy.
 *
 * A forked child has the same stacks and handles as its parent, and destroys them for itself.
 */
DWELL_CALL void *dwell_fiber_create(const void *stack, size_t size)
{
    DWELL_ASK(void *, NULL, "fiber_create", (const void *, size_t), (stack, size));
}

/* Announces that the calling thread is about to switch to that stack. NULL means the thread's own stack. Call it
 * immediately before the switch. A stack may continue on another thread. */
DWELL_CALL void dwell_fiber_switch(void *fiber)
{
    DWELL_TELL("fiber_switch", (void *), (fiber));
}

/* Gives the handle back, which is invalid from then on. No thread may be on the stack. Calls that are open on it have
 * no time after the last switch away from it. Destroy a handle before the memory of its stack is used for something
 * else. */
DWELL_CALL void dwell_fiber_destroy(void *fiber)
{
    DWELL_TELL("fiber_destroy", (void *), (fiber));
}

#ifdef __cplusplus
}
#endif

#endif
