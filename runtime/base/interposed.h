/* How the interpose_*.c and oscalls_*.c interpose functions of libc. */
#ifndef DWELL_RUNTIME_INTERPOSED_H
#define DWELL_RUNTIME_INTERPOSED_H

#include <signal.h>

#pragma GCC visibility push(hidden)

/* All of these are weak, as libdwell.a has none of them. */

/* NULL in libdwell.a, which interposes nothing. So each new chunk looks for changes of the modules there. That of a
 * forked child does not: another thread of its parent may have held the loader's lock. */
extern const int dwell_interposed __attribute__((weak));

/* Returns the first function of that name in the order of search: what modules call by it. */
void *interpose_first(const char *name) __attribute__((weak));

/* Returns the next function of that name in the order of search: the program's own. NULL if there is none. `cache`
 * keeps it. */
void *interpose_next(void **cache, const char *name) __attribute__((weak));

/* libc's sigaction, whose name the runtime interposes. */
int interpose_next_sigaction(int number, const struct sigaction *action, struct sigaction *old) __attribute__((weak));

#pragma GCC visibility pop

/* Names a function whose next_NAME is looked up when the runtime is loaded. The lookup takes the loader's lock, which
 * another thread may have held when a child was forked. */
struct interposed {
    void **cache;
    const char *name;
};
#define INTERPOSED_IN(list, name)                                                                                      \
    static void *next_##name;                                                                                          \
    static const struct interposed next_entry_##name __attribute__((section(list), used)) = { &next_##name, #name }
#define INTERPOSED(name) INTERPOSED_IN("dwell_next", name)

/* dlopen searches the path of its caller, swapcontext saves its caller, and makecontext takes any number of arguments.
 * So they are entered by a jump, with all registers as the program left them. `before_NAME` is called with the same
 * arguments and returns the real function. */
#if defined(__x86_64__)
/* In before_NAME: the place of NAME's return address, above the seven saved registers. */
#define INTERPOSED_RETURN_SLOT ((const volatile uint64_t *)__builtin_dwarf_cfa() + 7)
#define ENTER_BY_JUMP(name)                                                                                            \
    __asm__(                                                                                                           \
        ".pushsection .text\n"                                                                                         \
        ".globl " #name "\n.type " #name ", @function\n" #name ":\n"                                                   \
        "	endbr64\n	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n"                             \
        "	push %rax\n	call before_" #name "\n	mov %rax, %r11\n"                                              \
        "	pop %rax\n	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n"                                  \
        "	jmp *%r11\n"                                                                                                 \
        ".size " #name ", . - " #name "\n.popsection\n")
#else
#define INTERPOSED_RETURN_SLOT NULL /* the return address is in a register */
#define ENTER_BY_JUMP(name)                                                                                            \
    __asm__(".pushsection .text\n"                                                                                     \
            ".globl " #name "\n.type " #name ", %function\n" #name ":\n"                                               \
            "	stp x29, x30, [sp, #-80]!\n	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n"                             \
            "	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n"                                                         \
            "	bl before_" #name "\n	mov x9, x0\n"                                                                    \
            "	ldp x6, x7, [sp, #64]\n	ldp x4, x5, [sp, #48]\n	ldp x2, x3, [sp, #32]\n"                                 \
            "	ldp x0, x1, [sp, #16]\n	ldp x29, x30, [sp], #80\n	br x9\n"                                               \
            ".size " #name ", . - " #name "\n.popsection\n")
#endif

#endif
