/*
 * System calls as the runtime makes them: straight into the kernel. libc's wrappers set errno, are
 * cancellation points and may be interposed by the very program that is recorded.
 *
 * Each returns the kernel's answer: a negative errno value on failure. Safe everywhere, in signal
 * handlers and in threads that have no libc state.
 */
#ifndef DWELL_SYS_H
#define DWELL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long sys_bare(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long sys_bare(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

#else
#error "dwell's runtime knows x86-64 and aarch64"
#endif

/* NULL, or tells whether a call may be made: set in a program that has forbidden itself some (sandbox.c). */
extern __attribute__((visibility("hidden"))) bool (*sys_guard)(long number, const long *arguments);

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
    if (__builtin_expect(sys_guard != NULL, 0) && !sys_guard(number, (const long[]){ a, b, c, d, e, f }))
        return -1; /* EPERM */
    return sys_bare(number, a, b, c, d, e, f);
}

/* Calls of fewer arguments have this as their sixth, so that they can be told from the program's (osevents.c). */
#define SYS_OWN 0x6c6c657764

#define SYS0(name) sys_call(SYS_##name, 0, 0, 0, 0, 0, SYS_OWN)
#define SYS1(name, a) sys_call(SYS_##name, (long)(a), 0, 0, 0, 0, SYS_OWN)
#define SYS2(name, a, b) sys_call(SYS_##name, (long)(a), (long)(b), 0, 0, 0, SYS_OWN)
#define SYS3(name, a, b, c) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, SYS_OWN)
#define SYS4(name, a, b, c, d) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, SYS_OWN)
#define SYS5(name, a, b, c, d, e) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), SYS_OWN)
#define SYS6(name, a, b, c, d, e, f)                                                                                   \
    sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Whether a pointer that a system call returned is an error. */
static inline int sys_failed(const void *pointer)
{
    return (uintptr_t)pointer > (uintptr_t)-4096;
}

/* mmap; NULL where it fails. */
void *sys_map(size_t size, int protection, int flags, int fd, uint64_t offset);

/* Whether the last one that failed did so for another reason than want of memory: a sandbox, which answers as it likes.
 */
bool sys_map_was_refused(void);

/* Zeroed private memory, which a forked child inherits; NULL where there is none. */
void *sys_memory(size_t size);

void sys_unmap(void *at, size_t size);

/* open with O_CLOEXEC, and again after EINTR. */
int sys_open(const char *path, int flags, int mode);

void sys_close(int fd);

/* Reads a small file whole, such as one of /proc, into buffer and ends it with a zero byte. Returns
 * the number of bytes, or a negative errno value. */
long sys_read_file(const char *path, char *buffer, size_t size);

/* All signals of the calling thread are held back between the two calls; but where the system refuses that (a sandbox
 * does), the first returns SYS_NOT_BLOCKED, and the second does nothing then. */
#define SYS_NOT_BLOCKED (~0ull) /* no mask is like it: SIGKILL is never in one */
uint64_t sys_block_signals(void);
void sys_restore_signals(uint64_t mask);

/* Waits while *word is `expected`, for `milliseconds` at most (negative: without a limit). False: it is refused. */
bool sys_futex_wait(const uint32_t *word, uint32_t expected, long milliseconds);
void sys_futex_wake(uint32_t *word, int how_many);

/* The same for a word that other processes may wake, too. */
bool sys_futex_wait_shared(const uint32_t *word, uint32_t expected, long milliseconds);
void sys_futex_wake_shared(uint32_t *word);

/* Starts `run(argument)` on `stack_top` as a thread of this process that libc does not know of, with
 * a table of descriptors and a working directory of its own. Returns its thread id, or a negative
 * errno value. The thread shares the caller's TLS registers: it must touch neither TLS nor errno. */
long sys_start_thread(void *stack_top, void (*run)(void *), void *argument);

#endif
