/* Functions of libc that the runtime interposes to learn of events it cannot see otherwise. They are loaded and
 * unloaded libraries, new contexts, forks, and ends of the process that run no destructors. Each function does its work
 * and then calls the program's own function. Not part of libdwell.a. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

#include "binding.h"
#include "environment.h"
#include "fault_signals.h"
#include "forking.h"
#include "interpose_exec.h"
#include "interposed.h"
#include "levels/in_place.h"
#include "levels/levels.h"
#include "library_calls.h"
#include "modules.h"
#include "process.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"

/* The thread's next probe reads the list of modules. Constructors of the library may run before dlopen returns, and
 * find it mapped. */
INTERPOSED(dlopen);
INTERPOSED(dlmopen);
DWELL_HIDDEN void *before_dlopen(const char *path, int mode);
DWELL_HIDDEN void *before_dlmopen(Lmid_t space, const char *path, int mode);

/* Whether the library is the same whatever module asks for it. */
static bool interpose_is_whole_path(const char *path)
{
    return path && strchr(path, '/') && !strchr(path, '$');
}

static void *interpose_dlopen_deep(const char *path, int mode)
{
    void *result = ((void *(*)(const char *, int))next_dlopen)(path, mode);
    modules_loaded();
    return result;
}

static void *interpose_dlmopen_deep(Lmid_t space, const char *path, int mode)
{
    void *result = ((void *(*)(Lmid_t, const char *, int))next_dlmopen)(space, path, mode);
    modules_loaded();
    return result;
}

/* A library in a scope of its own does not find the probes. The program may call it before any other probe comes. So it
 * is looked at when dlopen returns, which a jump to it would not show. The same is done if calls into libraries are
 * recorded: another thread may use the library before this one comes to its next probe. */
void *before_dlopen(const char *path, int mode)
{
    modules_loading(INTERPOSED_RETURN_SLOT);
    void *real = interpose_next(&next_dlopen, "dlopen");
    if (!(mode & RTLD_DEEPBIND))
        return library_calls_are_wanted() && interpose_is_whole_path(path) ? (void *)interpose_dlopen_deep : real;
    process_begin_early(); /* no probe would come before the library is looked at */
    binding_expect();
    return interpose_is_whole_path(path) ? (void *)interpose_dlopen_deep : real;
}

void *before_dlmopen(Lmid_t space, const char *path, int mode)
{
    modules_loading(INTERPOSED_RETURN_SLOT);
    void *real = interpose_next(&next_dlmopen, "dlmopen");
    if (space == LM_ID_BASE && !(mode & RTLD_DEEPBIND))
        return real;
    process_begin_early(); /* no probe would come before the library is looked at */
    binding_expect();
    return interpose_is_whole_path(path) ? (void *)interpose_dlmopen_deep : real;
}

ENTER_BY_JUMP(dlopen);
ENTER_BY_JUMP(dlmopen);

INTERPOSED(makecontext);
DWELL_HIDDEN void *before_makecontext(const ucontext_t *context);
void *before_makecontext(const ucontext_t *context)
{
    stacks_context_made(context);
    return interpose_next(&next_makecontext, "makecontext");
}

INTERPOSED(setcontext);
DWELL_HIDDEN void *before_setcontext(const ucontext_t *context);
void *before_setcontext(const ucontext_t *context)
{
    stacks_context_chosen(context);
    fault_leave_handler();
    return interpose_next(&next_setcontext, "setcontext");
}

INTERPOSED(swapcontext);
DWELL_HIDDEN void *before_swapcontext(const ucontext_t *from, const ucontext_t *to);
void *before_swapcontext(const ucontext_t *from, const ucontext_t *to)
{
    (void)from;
    stacks_context_chosen(to);
    fault_leave_handler();
    return interpose_next(&next_swapcontext, "swapcontext");
}

/* libc makes threads for these two. They block all signals at first. */
INTERPOSED(timer_create);
DWELL_HIDDEN void *before_timer_create(void);
void *before_timer_create(void)
{
    in_place_set_up();
    return interpose_next(&next_timer_create, "timer_create");
}

INTERPOSED(mq_notify);
DWELL_HIDDEN void *before_mq_notify(void);
void *before_mq_notify(void)
{
    in_place_set_up();
    return interpose_next(&next_mq_notify, "mq_notify");
}

ENTER_BY_JUMP(timer_create);
ENTER_BY_JUMP(mq_notify);
ENTER_BY_JUMP(makecontext);
ENTER_BY_JUMP(setcontext);
ENTER_BY_JUMP(swapcontext);

/* AddressSanitizer's library refuses to start if another one precedes it, as this one does by LD_PRELOAD. The
 * interposed functions pass on to it, so the check is not needed. A program's own function of this name takes
 * precedence. */
DWELL_EXPORT const char *__asan_default_options(void);
DWELL_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

INTERPOSED(dlclose);

DWELL_EXPORT int dlclose(void *handle)
{
    int (*real)(void *) = (int (*)(void *))interpose_next(&next_dlclose, "dlclose");
    modules_unloading(true);
    levels_unloading(true);
    int result = real(handle);
    modules_unloading(false);
    if (levels_unloading(false))
        modules_look_now();
    return result;
}

static pid_t interpose_fork_by(void **next, const char *name)
{
    pid_t (*real)(void) = (pid_t(*)(void))interpose_next(next, name);
    const struct forking f = fork_begins(); /* now: the parent may have ended before the child's first probe */
    const pid_t result = real();
    fork_ends(&f, result == 0);
    if (result == 0 && runtime.process)
        interpose_exec_forked();
    return result;
}

INTERPOSED(fork);
INTERPOSED(_Fork);

DWELL_EXPORT pid_t fork(void)
{
    return interpose_fork_by(&next_fork, "fork");
}

/* In glibc 2.34 and later. It may be called in a signal handler. */
DWELL_EXPORT pid_t _Fork(void)
{
    return interpose_fork_by(&next__Fork, "_Fork");
}

static __attribute__((noreturn)) void interpose_end_process(int status)
{
    process_end(DWELL_END_EXIT, status);
    for (;;)
        SYS1(exit_group, status);
}

DWELL_EXPORT void _exit(int status)
{
    interpose_end_process(status);
}

DWELL_EXPORT void _Exit(int status)
{
    interpose_end_process(status);
}
