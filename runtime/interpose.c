/*
 * Functions of libc that the runtime stands before, to learn of things it cannot see otherwise: libraries
 * that come and go, forks, and ends of the process that run no destructors. Each does its work and then
 * what the program asked for, by the program's own function. Not part of libdwell.a.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
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

/* dlopen looks at who calls it, to know whose search path holds: it is entered by a jump, so that its
 * caller is still the program. The thread's next probe looks at the module map; constructors of the
 * library may come before dlopen returns, and find it mapped. */
#define BEFORE(name)                                                                              \
    DWELL_HIDDEN void *before_##name(void);                                                       \
    void *before_##name(void)                                                                     \
    {                                                                                             \
        static void *next;                                                                        \
        modules_changed();                                                                        \
        return next_of(&next, #name);                                                             \
    }

BEFORE(dlopen)
BEFORE(dlmopen)

#if defined(__x86_64__)
#define ENTER_BY_JUMP(name)                                                                       \
    __asm__(".pushsection .text\n"                                                                \
            ".globl " #name "\n.type " #name ", @function\n" #name ":\n"                           \
            "	endbr64\n	push %rdi\n	push %rsi\n	push %rdx\n"                                       \
            "	call before_" #name "\n"                                                           \
            "	pop %rdx\n	pop %rsi\n	pop %rdi\n	jmp *%rax\n"                                       \
            ".size " #name ", . - " #name "\n.popsection\n")
#else
#define ENTER_BY_JUMP(name)                                                                       \
    __asm__(".pushsection .text\n"                                                                \
            ".globl " #name "\n.type " #name ", %function\n" #name ":\n"                           \
            "	stp x29, x30, [sp, #-48]!\n	stp x0, x1, [sp, #16]\n	str x2, [sp, #32]\n"             \
            "	bl before_" #name "\n	mov x9, x0\n"                                                  \
            "	ldr x2, [sp, #32]\n	ldp x0, x1, [sp, #16]\n	ldp x29, x30, [sp], #48\n	br x9\n"        \
            ".size " #name ", . - " #name "\n.popsection\n")
#endif

ENTER_BY_JUMP(dlopen);
ENTER_BY_JUMP(dlmopen);

DWELL_EXPORT int dlclose(void *handle)
{
    static void *next;
    int (*real)(void *) = (int (*)(void *))next_of(&next, "dlclose");
    int result = real(handle);
    modules_changed();
    return result;
}

DWELL_EXPORT pid_t fork(void)
{
    static void *next;
    pid_t (*real)(void) = (pid_t(*)(void))next_of(&next, "fork");
    pid_t result = real();
    if (result == 0 && runtime.process)
        runtime.forked_at = clock_now(runtime.clock);
    return result;
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
