/*
 * Keeps the runtime's system calls within the program's sandbox. A program may forbid itself system calls by seccomp
 * after the runtime has started, and the kernel may kill it for a forbidden one. The runtime interposes the calls that
 * begin a sandbox and copies each filter. It runs the copies before every system call of its own. A call that would do
 * more than fail is not made, and counts as failed. Less is then recorded.
 *
 * A filter that was there before the runtime is unknown, and so is one that a system call instruction of the program
 * itself sets. Not part of libdwell.a.
 */
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

#include "bpf.h"
#include "helper.h"
#include "interposed.h"
#include "levels/code_lock.h"
#include "levels/in_place.h"
#include "levels/levels.h"
#include "process.h"
#include "sys.h"
#include "thread.h"

enum { MAX_FILTERS = 16 };

struct filter {
    struct sock_filter *code;
    uint32_t length;
    uint32_t everywhere; /* covers all threads, the helper too */
};

static struct filter sandbox_filters[MAX_FILTERS];
static uint32_t sandbox_filter_count;
static uint32_t sandbox_unknown_filters; /* filters that could not be copied: nothing is allowed while there are any */

static bool sandbox_is_harmless(uint32_t answer)
{
    answer &= SECCOMP_RET_ACTION_FULL;
    return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG || answer == SECCOMP_RET_ERRNO;
}

static struct seccomp_data sandbox_call_of(long number, const long *arguments)
{
    struct seccomp_data data = { .nr = (int)number };
#if defined(__x86_64__)
    data.arch = AUDIT_ARCH_X86_64;
#else
    data.arch = AUDIT_ARCH_AARCH64;
#endif
    for (int i = 0; i < 6; i++)
        data.args[i] = (uint64_t)arguments[i];
    return data;
}

static bool sandbox_may_call(long number, const long *arguments)
{
    if (number == SYS_exit_group || number == SYS_exit)
        return true; /* made for the program */
    struct seccomp_data data = sandbox_call_of(number, arguments);
    data.instruction_pointer = (uint64_t)__builtin_return_address(0);
    const bool helper = helper_is_here();
    const uint32_t count = __atomic_load_n(&sandbox_filter_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if ((!helper || sandbox_filters[i].everywhere) &&
            !sandbox_is_harmless(bpf_run(sandbox_filters[i].code, sandbox_filters[i].length, &data)))
            return false;
    return !sandbox_unknown_filters || helper;
}

/* Copies a filter, before the kernel gets it: the program may free its own. Two threads that do this at once, each with
 * a filter of its own, would need a lock. No program does that. */
static void sandbox_keep_filter(const struct sock_fprog *program, bool everywhere)
{
    struct sock_filter *code = NULL;
    const uint32_t count = sandbox_filter_count;
    if (count < MAX_FILTERS)
        code = sys_memory(program->len * sizeof *code);
    if (code) {
        memcpy(code, program->filter, program->len * sizeof *code);
        sandbox_filters[count] = (struct filter){ code, program->len, everywhere };
        __atomic_store_n(&sandbox_filter_count, count + 1, __ATOMIC_RELEASE);
    } else {
        sandbox_unknown_filters++;
    }
    sys_guard = sandbox_may_call;
}

/* Drops the filters after the first `count`: the kernel refused them. */
static void sandbox_forget_filters(uint32_t count)
{
    if (sandbox_filter_count > count)
        __atomic_store_n(&sandbox_filter_count, count, __ATOMIC_RELEASE);
    else
        sandbox_unknown_filters--;
    if (sandbox_filter_count == 0 && !sandbox_unknown_filters)
        sys_guard = NULL;
}

/* A call that begins a sandbox. Strict mode takes the counter from the thread, too, so that no probe may read it. The
 * thread's recording ends then. */
struct beginning {
    bool filter, strict;
    const struct sock_fprog *program;
    bool everywhere;
};

static bool sandbox_lets_set_gs(void)
{
#if defined(__x86_64__)
    const long arguments[6] = { ARCH_SET_GS, 0, 0, 0, 0, SYS_OWN };
    const struct seccomp_data data = sandbox_call_of(SYS_arch_prctl, arguments);
    for (uint32_t i = 0; i < sandbox_filter_count; i++) {
        const uint32_t answer = bpf_run(sandbox_filters[i].code, sandbox_filters[i].length, &data);
        if ((answer & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ALLOW &&
            (answer & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_LOG)
            return false;
    }
#endif
    return !sandbox_unknown_filters;
}

static uint32_t sandbox_prepare(const struct beginning *b)
{
    const uint32_t count = sandbox_filter_count;
    if (b->filter || b->strict) {
        process_begin_early();
        in_place_set_up();
    }
    if (b->filter && b->program)
        sandbox_keep_filter(b->program, b->everywhere);
    if (b->filter && in_place_needs_calls() && !sandbox_lets_set_gs())
        levels_leave_places(); /* new threads could not get bases of their own */
    if (b->strict)
        thread_silence();
    return count;
}

typedef int prctl_function(int, ...);

INTERPOSED(prctl);

DWELL_EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    prctl_function *next = (prctl_function *)interpose_next(&next_prctl, "prctl");
    const struct beginning b = {
        .filter = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_FILTER,
        .strict = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT,
        .program = (const struct sock_fprog *)a[1],
    };
    const uint32_t count = sandbox_prepare(&b);
    int result = next(option, a[0], a[1], a[2], a[3]);
    if (result < 0 && b.filter && b.program)
        sandbox_forget_filters(count);
    return result;
}

DWELL_HIDDEN long sandbox_call(long number, long a, long b, long c, long d, long e);
DWELL_HIDDEN long sandbox_failed(long error);

/* Handles syscall(SYS_seccomp, ...) and syscall(SYS_prctl, ...), as libraries for sandboxes make them. */
long sandbox_call(long number, long a, long b, long c, long d, long e)
{
    if (number == SYS_prctl)
        return prctl((int)a, b, c, d, e);
    const struct beginning beginning = {
        .filter = a == SECCOMP_SET_MODE_FILTER,
        .strict = a == SECCOMP_SET_MODE_STRICT,
        .program = (const struct sock_fprog *)c,
        .everywhere = (b & SECCOMP_FILTER_FLAG_TSYNC) != 0,
    };
    const uint32_t count = sandbox_prepare(&beginning);
    long result = sys_bare(number, a, b, c, d, e, 0);
    if (result != 0 && beginning.filter && beginning.program && !(b & SECCOMP_FILTER_FLAG_NEW_LISTENER && result > 0))
        sandbox_forget_filters(count);
    return result < 0 ? sandbox_failed(result) : result;
}

/* Handles syscall(SYS_mprotect, ...) and syscall(SYS_pkey_mprotect, ...). */
DWELL_HIDDEN long protect_call(long number, long at, long size, long protection, long key);
long protect_call(long number, long at, long size, long protection, long key)
{
    const uint64_t held = code_lock_begin_call((uint64_t)at, (uint64_t)size);
    const long result = sys_bare(number, at, size, protection, key, 0, 0);
    code_lock_end_call(held);
    return result < 0 ? sandbox_failed(result) : result;
}

long sandbox_failed(long error)
{
    errno = (int)-error;
    return -1;
}

/* libc's syscall, unchanged for all other numbers: it moves the registers by one and executes the instruction. It must
 * have no frame: the call may return twice, or on another stack. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl syscall\n.type syscall, @function\nsyscall:\n"
        "	endbr64\n"
        "	cmpq $202, %rdi\n	je futex_call\n"   /* SYS_futex */
        "	cmpq $317, %rdi\n	je sandbox_call\n" /* SYS_seccomp */
        "	cmpq $157, %rdi\n	je sandbox_call\n" /* SYS_prctl */
        "	cmpq $158, %rdi\n	je base_call\n"    /* SYS_arch_prctl */
        "	cmpq $10, %rdi\n	je protect_call\n" /* SYS_mprotect */
        "	cmpq $329, %rdi\n	je protect_call\n" /* SYS_pkey_mprotect */
        "	cmpq $231, %rdi\n	je ending_call\n"  /* SYS_exit_group */
        "	cmpq $60, %rdi\n	je ending_call\n"  /* SYS_exit */
        "	cmpq $59, %rdi\n	je ending_call\n"  /* SYS_execve */
        "	cmpq $322, %rdi\n	je ending_call\n"  /* SYS_execveat */
        "	movq %rdi, %rax\n	movq %rsi, %rdi\n	movq %rdx, %rsi\n	movq %rcx, %rdx\n"
        "	movq %r8, %r10\n	movq %r9, %r8\n	movq 8(%rsp), %r9\n"
        "	syscall\n"
        "	cmpq $-4095, %rax\n	jae 1f\n	ret\n"
        "1:	movq %rax, %rdi\n	jmp sandbox_failed\n"
        ".size syscall, . - syscall\n.popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".globl syscall\n.type syscall, %function\nsyscall:\n"
    "	cmp x0, #98\n	b.eq 4f\n" /* SYS_futex */
    "	cmp x0, #277\n	b.eq 1f\n" /* SYS_seccomp */
    "	cmp x0, #167\n	b.eq 1f\n" /* SYS_prctl */
    "	cmp x0, #226\n	b.eq 5f\n" /* SYS_mprotect */
    "	cmp x0, #288\n	b.eq 5f\n" /* SYS_pkey_mprotect */
    "	cmp x0, #94\n	b.eq 3f\n" /* SYS_exit_group */
    "	cmp x0, #93\n	b.eq 3f\n" /* SYS_exit */
    "	cmp x0, #221\n	b.eq 3f\n" /* SYS_execve */
    "	cmp x0, #281\n	b.eq 3f\n" /* SYS_execveat */
    "	mov x8, x0\n	mov x0, x1\n	mov x1, x2\n	mov x2, x3\n	mov x3, x4\n	mov x4, x5\n	mov x5, x6\n	mov x6, x7\n"
    "	svc 0\n"
    "	cmn x0, #4095\n	b.cs 2f\n	ret\n"
    "1:	b sandbox_call\n"
    "2:	b sandbox_failed\n"
    "3:	b ending_call\n"
    "4:	b futex_call\n"
    "5:	b protect_call\n"
    ".size syscall, . - syscall\n.popsection\n");
#endif
