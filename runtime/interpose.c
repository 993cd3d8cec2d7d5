/*
 * Functions of libc that the runtime stands before, to learn of things it cannot see otherwise: libraries
 * that come and go, forks, and ends of the process that run no destructors. Each does its work and then
 * what the program asked for, by the program's own function. Not part of libdwell.a.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime.h"
#include "sys.h"

const int dwell_interposed = 1;

static void *next_of(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* dlopen looks at who calls it, to know whose search path holds; swapcontext saves who called it; makecontext takes any
 * number of arguments. All are entered by a jump, with everything as the program left it: `before_NAME` is called with
 * the same arguments, and returns the real one. */
#if defined(__x86_64__)
#define ENTER_BY_JUMP(name)                                                                       \
    __asm__(".pushsection .text\n"                                                                \
            ".globl " #name "\n.type " #name ", @function\n" #name ":\n"                           \
            "	endbr64\n	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n"   \
            "	push %rax\n	call before_" #name "\n	mov %rax, %r11\n"                                \
            "	pop %rax\n	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n"       \
            "	jmp *%r11\n"                                                                        \
            ".size " #name ", . - " #name "\n.popsection\n")
#else
#define ENTER_BY_JUMP(name)                                                                       \
    __asm__(".pushsection .text\n"                                                                \
            ".globl " #name "\n.type " #name ", %function\n" #name ":\n"                           \
            "	stp x29, x30, [sp, #-80]!\n	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n"        \
            "	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n"                                    \
            "	bl before_" #name "\n	mov x9, x0\n"                                                  \
            "	ldp x6, x7, [sp, #64]\n	ldp x4, x5, [sp, #48]\n	ldp x2, x3, [sp, #32]\n"            \
            "	ldp x0, x1, [sp, #16]\n	ldp x29, x30, [sp], #80\n	br x9\n"                          \
            ".size " #name ", . - " #name "\n.popsection\n")
#endif

/* The thread's next probe looks at the module map; constructors of the library may come before dlopen returns, and find
 * it mapped. */
#define BEFORE_LOADING(name)                                                                      \
    DWELL_HIDDEN void *before_##name(void);                                                       \
    void *before_##name(void)                                                                     \
    {                                                                                             \
        static void *next;                                                                        \
        modules_changed();                                                                        \
        return next_of(&next, #name);                                                             \
    }

BEFORE_LOADING(dlopen)
BEFORE_LOADING(dlmopen)
ENTER_BY_JUMP(dlopen);
ENTER_BY_JUMP(dlmopen);

DWELL_HIDDEN void *before_makecontext(const ucontext_t *context);
void *before_makecontext(const ucontext_t *context)
{
    static void *next;
    stacks_context_made(context);
    return next_of(&next, "makecontext");
}

DWELL_HIDDEN void *before_setcontext(const ucontext_t *context);
void *before_setcontext(const ucontext_t *context)
{
    static void *next;
    stacks_context_chosen(context);
    return next_of(&next, "setcontext");
}

DWELL_HIDDEN void *before_swapcontext(const ucontext_t *from, const ucontext_t *to);
void *before_swapcontext(const ucontext_t *from, const ucontext_t *to)
{
    static void *next;
    (void)from;
    stacks_context_chosen(to);
    return next_of(&next, "swapcontext");
}

ENTER_BY_JUMP(makecontext);
ENTER_BY_JUMP(setcontext);
ENTER_BY_JUMP(swapcontext);

DWELL_EXPORT int dlclose(void *handle)
{
    static void *next;
    int (*real)(void *) = (int (*)(void *))next_of(&next, "dlclose");
    int result = real(handle);
    modules_changed();
    return result;
}

/* The parent may be gone before the child's first probe, so it is remembered who it was. */
static pid_t fork_by(void **next, const char *name)
{
    pid_t (*real)(void) = (pid_t(*)(void))next_of(next, name);
    const uint32_t parent = (uint32_t)SYS0(getpid);
    pid_t result = real();
    if (result == 0 && runtime.process) {
        runtime.forked_at = clock_now(runtime.clock);
        runtime.forked_pid = (uint32_t)SYS0(getpid);
        runtime.forked_from = parent;
    }
    return result;
}

DWELL_EXPORT pid_t fork(void)
{
    static void *next;
    return fork_by(&next, "fork");
}

/* Of glibc 2.34 and later; may be called in a signal handler. */
DWELL_EXPORT pid_t _Fork(void)
{
    static void *next;
    return fork_by(&next, "_Fork");
}

static __attribute__((noreturn)) void end_now(int status)
{
    process_end(DWELL_END_EXIT, status);
    for (;;)
        SYS1(exit_group, status);
}

DWELL_EXPORT void _exit(int status)
{
    end_now(status);
}

DWELL_EXPORT void _Exit(int status)
{
    end_now(status);
}
