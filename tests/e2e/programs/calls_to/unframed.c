/* Functions that change the frame pointer and say nothing of that, as the end of a throw does: the registers are then
 * those of where the exception continues. A backtrace in them must lead to main, whatever frame their stub has. The
 * functions get arguments of several sizes on the stack, and call the function that they get. */
#define FUNCTIONS(X) X(none) X(some) X(many) X(most)

#ifdef LIBRARY

#if defined(__x86_64__)
#define DEFINITION(name)                                                                                               \
    __asm__(".globl callee_" #name "\n.type callee_" #name ", @function\ncallee_" #name ":\n"                          \
            ".cfi_startproc\n"                                                                                         \
            "pushq %rbp\n"                                                                                             \
            ".cfi_adjust_cfa_offset 8\n"                                                                               \
            "movl $1, %ebp\n"                                                                                          \
            "call *%rdi\n"                                                                                             \
            "popq %rbp\n"                                                                                              \
            ".cfi_adjust_cfa_offset -8\n"                                                                              \
            "ret\n"                                                                                                    \
            ".cfi_endproc\n.size callee_" #name ", . - callee_" #name "\n");
#else
#define DEFINITION(name)                                                                                               \
    __asm__(".globl callee_" #name "\n.type callee_" #name ", %function\ncallee_" #name ":\n"                          \
            ".cfi_startproc\n"                                                                                         \
            "stp x29, x30, [sp, #-16]!\n"                                                                              \
            ".cfi_adjust_cfa_offset 16\n"                                                                              \
            ".cfi_offset x30, -8\n"                                                                                    \
            "mov x29, #1\n"                                                                                            \
            "blr x0\n"                                                                                                 \
            "ldp x29, x30, [sp], #16\n"                                                                                \
            ".cfi_adjust_cfa_offset -16\n"                                                                             \
            "ret\n"                                                                                                    \
            ".cfi_endproc\n.size callee_" #name ", . - callee_" #name "\n");
#endif
FUNCTIONS(DEFINITION)

#else

#include <execinfo.h>
#include <stdio.h>

#define NO_PROBES __attribute__((noinline, noclone, no_instrument_function))

enum { DEPTH = 64, CALLS = 100 };

#define TYPES long, long, long, long, long, long, long, long
#define VALUES 1, 2, 3, 4, 5, 6, 7, 8

typedef void function(void);
void callee_none(function *);
void callee_some(function *, TYPES, TYPES);
void callee_many(function *, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES);
void callee_most(function *, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES, TYPES);

static const void *in_main;
static int calls, found;

NO_PROBES static void look(void)
{
    void *stack[DEPTH];
    const int depth = backtrace(stack, DEPTH);
    for (int i = 0; i < depth; i++)
        found += stack[i] == in_main;
    calls++;
}

__attribute__((noinline)) static void call_all(void)
{
    callee_none(look);
    callee_some(look, VALUES, VALUES);
    callee_many(look, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES);
    callee_most(look, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES, VALUES);
}

NO_PROBES static void call_from_main(void)
{
    in_main = __builtin_return_address(0);
    call_all();
    __asm__ volatile("");
}

NO_PROBES int main(void)
{
    for (int i = 0; i < CALLS; i++)
        call_from_main();
    printf("%d backtraces, %d with main\ncalls %d\n", calls, found, calls);
}

#endif
