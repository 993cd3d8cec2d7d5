/* How the interpose_*.c stand before functions of libc. */
#ifndef DWELL_RUNTIME_INTERPOSE_H
#define DWELL_RUNTIME_INTERPOSE_H

/* The program's own function of that name, behind ours in the order of search; NULL: there is none. */
__attribute__((visibility("hidden"))) void *interpose_next(void **cache, const char *name);

/* Names a function whose next_NAME is to be found when the runtime is loaded: to look for it takes the loader's lock,
 * which another thread may have held when a child was forked. */
struct interposed {
    void **cache;
    const char *name;
};
#define INTERPOSED(name)                                                                                               \
    static void *next_##name;                                                                                          \
    static const struct interposed next_entry_##name                                                                   \
        __attribute__((section("dwell_next"), used)) = { &next_##name, #name }

/* dlopen looks at who calls it, to know whose search path holds; swapcontext saves who called it; makecontext takes any
 * number of arguments. All are entered by a jump, with everything as the program left it: `before_NAME` is called with
 * the same arguments, and returns the real one. */
#if defined(__x86_64__)
/* In before_NAME: where the return address of NAME lies, behind the seven registers that are saved. */
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
#define INTERPOSED_RETURN_SLOT NULL /* it is in a register */
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
