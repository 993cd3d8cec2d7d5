/*
 * Bare system calls. libc's wrappers set errno, are cancellation points, and may be interposed by the recorded program.
 *
 * Each returns the kernel's result: a negative errno value on failure. All are safe in signal handlers and in threads
 * without libc state.
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

/* Says whether a system call may be made. NULL unless the program has forbidden itself some (sandbox.c). */
extern __attribute__((visibility("hidden"))) bool (*sys_guard)(long number, const long *arguments);

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
    if (__builtin_expect(sys_guard != NULL, 0) && !sys_guard(number, (const long[]){ a, b, c, d, e, f }))
        return -1; /* EPERM */
    return sys_bare(number, a, b, c, d, e, f);
}

/* The sixth argument of calls with fewer ones. It tells them from the program's calls (osevents.c). */
#define SYS_OWN 0x6c6c657764

#define SYS0(name) sys_call(SYS_##name, 0, 0, 0, 0, 0, SYS_OWN)
#define SYS1(name, a) sys_call(SYS_##name, (long)(a), 0, 0, 0, 0, SYS_OWN)
#define SYS2(name, a, b) sys_call(SYS_##name, (long)(a), (long)(b), 0, 0, 0, SYS_OWN)
#define SYS3(name, a, b, c) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, SYS_OWN)
#define SYS4(name, a, b, c, d) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, SYS_OWN)
#define SYS5(name, a, b, c, d, e) sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), SYS_OWN)
#define SYS6(name, a, b, c, d, e, f)                                                                                   \
    sys_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Returns whether a pointer from a system call is an error. */
static inline int sys_failed(const void *pointer)
{
    return (uintptr_t)pointer > (uintptr_t)-4096;
}

/* Set while the program locks all memory that is mapped from now on, and may not lock any amount (mlockall). What the
 * runtime maps is not locked then. sys_unlock is for what it maps by itself. */
extern __attribute__((visibility("hidden"))) bool sys_unlocks;
void sys_unlock(void *at, size_t size);

/* mmap. Returns NULL on failure. If such a program locks memory, the first needs its allowance for a page only. The
 * second is for mappings that cannot grow. */
void *sys_map(size_t size, int protection, int flags, int fd, uint64_t offset);
void *sys_map_at_once(size_t size, int protection, int flags, int fd, uint64_t offset);

/* Returns whether the last failure of sys_map had a cause other than a lack of memory: a sandbox may answer
 * anything. */
bool sys_map_was_refused(void);

/* Returns zeroed private memory, which a forked child inherits, or NULL. The caller frees it by sys_unmap. */
void *sys_memory(size_t size);

void sys_unmap(void *at, size_t size);

/* The first pieces of more than a page that sys_memory has given. A size of zero: there is none of that number. */
struct sys_piece {
    char *at;
    size_t size;
};
enum { SYS_PIECES = 512 };
struct sys_piece sys_piece(int i);

/* Returns *block, and makes it first if there is none: so much memory as sys_memory gives. NULL if there is none.
 * Several threads may do so at once. */
void *sys_block(void **block, size_t size);

/* Moves a full list to memory with room for twice as many items of `size` bytes, or for `first` if it has none yet. It
 * frees the list's memory. Returns the list, or NULL if there is no memory; then the list stays as it is. */
void *sys_grow(void *list, uint32_t *room, size_t size, uint32_t first);

/* How often a call is repeated that signals interrupt; a sandbox may always answer EINTR. */
enum { MAX_INTERRUPTIONS = 10000 };

/* open with O_CLOEXEC, repeated after EINTR. Returns a descriptor or a negative errno value. */
int sys_open(const char *path, int flags, int mode);

/* Writes all of it at that offset. Returns zero or a negative errno value. */
long sys_write_at(int fd, const void *data, size_t size, uint64_t offset);

void sys_close(int fd);

/* Reads a small file as a whole, such as one of /proc, into `buffer`, and ends it with a zero byte. Returns the number
 * of bytes, or a negative errno value. */
long sys_read_file(const char *path, char *buffer, size_t size);

/* The same for a file of a thread of this process: /proc/self/task/TID/NAME. `name` has at most 20 characters. */
long sys_read_task_file(uint32_t tid, const char *name, char *buffer, size_t size);

/* All signals of the calling thread but SIGBUS (guard.h) are blocked between the two calls. If the system refuses that,
 * as a sandbox may, the first returns SYS_NOT_BLOCKED, and the second does nothing. */
#define SYS_NOT_BLOCKED (~0ull) /* no real mask: SIGKILL is never in one */
uint64_t sys_block_signals(void);
void sys_restore_signals(uint64_t mask);

/* Waits while *word is `expected`, for at most `milliseconds` (negative: without limit). Returns false if the system
 * refuses to wait. */
bool sys_futex_wait(const uint32_t *word, uint32_t expected, long milliseconds);
void sys_futex_wake(uint32_t *word, int how_many);

/* By a futex, which a sandbox allows more often than other calls that sleep. */
void sys_sleep_a_millisecond(void);

/* The same for a word that other processes may wake. */
bool sys_futex_wait_shared(const uint32_t *word, uint32_t expected, long milliseconds);
bool sys_futex_wait_shared_for(const uint32_t *word, uint32_t expected, uint64_t nanoseconds);
void sys_futex_wake_shared(uint32_t *word);

/* Starts `run(argument)` on `stack_top` as a thread that libc does not know. It has a descriptor table and a working
 * directory of its own. Returns its thread id or a negative errno value. The thread shares the caller's TLS registers,
 * so it must not touch TLS or errno. */
long sys_start_thread(void *stack_top, void (*run)(void *), void *argument);

#endif
