/* The runtime's system calls for memory, files, signals, futexes and threads, without libc. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { RESTORE_TRIES = 3, SMALLEST_PAGE = 4096 };

bool (*sys_guard)(long number, const long *arguments);

bool sys_unlocks;

static long map_error;

void sys_unlock(void *at, size_t size)
{
    if (sys_unlocks)
        SYS2(munlock, at, size);
}

static void *sys_keep_error(void *at)
{
    if (!sys_failed(at))
        return at;
    __atomic_store_n(&map_error, (long)at, __ATOMIC_RELAXED);
    return NULL;
}

void *sys_map_at_once(size_t size, int protection, int flags, int fd, uint64_t offset)
{
    void *at = sys_keep_error((void *)SYS6(mmap, 0, size, protection, flags, fd, offset));
    if (at)
        sys_unlock(at, size);
    return at;
}

/* A mapping that is not locked may grow without an allowance. */
void *sys_map(size_t size, int protection, int flags, int fd, uint64_t offset)
{
    if (!sys_unlocks)
        return sys_keep_error((void *)SYS6(mmap, 0, size, protection, flags, fd, offset));
    void *page = sys_map_at_once(SMALLEST_PAGE, protection, flags, fd, offset);
    if (!page)
        return NULL;
    void *at = (void *)SYS4(mremap, page, SMALLEST_PAGE, size, MREMAP_MAYMOVE);
    if (!sys_failed(at))
        return at;
    sys_unmap(page, SMALLEST_PAGE);
    return sys_map_at_once(size, protection, flags, fd, offset);
}

bool sys_map_was_refused(void)
{
    const long error = __atomic_load_n(&map_error, __ATOMIC_RELAXED);
    return error != 0 && error != -ENOMEM && error != -EAGAIN && error != -ENFILE;
}

static struct sys_piece pieces[SYS_PIECES];

static void sys_note_piece(char *at, size_t size)
{
    for (int i = 0; i < SYS_PIECES; i++) {
        char *none = NULL;
        if (!__atomic_compare_exchange_n(&pieces[i].at, &none, at, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&pieces[i].size, size, __ATOMIC_RELEASE);
        return;
    }
}

static void sys_forget_piece(const char *at)
{
    for (int i = 0; i < SYS_PIECES; i++) {
        if (__atomic_load_n(&pieces[i].at, __ATOMIC_RELAXED) != at)
            continue;
        __atomic_store_n(&pieces[i].size, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&pieces[i].at, NULL, __ATOMIC_RELEASE);
        return;
    }
}

struct sys_piece sys_piece(int i)
{
    const size_t size = __atomic_load_n(&pieces[i].size, __ATOMIC_ACQUIRE);
    return (struct sys_piece){ __atomic_load_n(&pieces[i].at, __ATOMIC_RELAXED), size };
}

void *sys_memory(size_t size)
{
    char *at = sys_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at && size > SMALLEST_PAGE)
        sys_note_piece(at, size);
    return at;
}

void sys_unmap(void *at, size_t size)
{
    if (size > SMALLEST_PAGE)
        sys_forget_piece(at);
    SYS2(munmap, at, size);
}

void *sys_block(void **block, size_t size)
{
    void *made = __atomic_load_n(block, __ATOMIC_ACQUIRE);
    if (made)
        return made;
    void *fresh = sys_memory(size);
    if (!fresh || __atomic_compare_exchange_n(block, &made, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    sys_unmap(fresh, size);
    return made;
}

void *sys_grow(void *list, uint32_t *room, size_t size, uint32_t first)
{
    const uint32_t larger = *room ? 2 * *room : first;
    void *grown = sys_memory(larger * size);
    if (!grown)
        return NULL;
    if (*room) {
        memcpy(grown, list, *room * size);
        sys_unmap(list, *room * size);
    }
    *room = larger;
    return grown;
}

int sys_open(const char *path, int flags, int mode)
{
    long fd = -EINTR;
    for (int tries = 0; tries < MAX_INTERRUPTIONS && fd == -EINTR; tries++)
        fd = SYS4(openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
    return (int)fd;
}

long sys_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    const char *at = data;
    for (int tries = 0; size > 0;) {
        const long wrote = SYS4(pwrite64, fd, at, size, offset);
        if (wrote == -EINTR && ++tries < MAX_INTERRUPTIONS)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? wrote : -ENOSPC;
        at += wrote;
        size -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return 0;
}

void sys_close(int fd)
{
    SYS1(close, fd);
}

long sys_read_file(const char *path, char *buffer, size_t size)
{
    int fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    size_t used = 0;
    long got = 0;
    for (int tries = 0; used + 1 < size;) {
        got = SYS3(read, fd, buffer + used, size - 1 - used);
        if (got == -EINTR && ++tries < MAX_INTERRUPTIONS)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    sys_close(fd);
    buffer[used] = '\0';
    return got < 0 ? got : (long)used;
}

long sys_read_task_file(uint32_t tid, const char *name, char *buffer, size_t size)
{
    char path[64], digits[12];
    int count = 0;
    do
        digits[count++] = (char)('0' + tid % 10);
    while (tid /= 10);
    char *at = stpcpy(path, "/proc/self/task/");
    while (count > 0)
        *at++ = digits[--count];
    *at++ = '/';
    strcpy(at, name);
    return sys_read_file(path, buffer, size);
}

uint64_t sys_block_signals(void)
{
    uint64_t all = ~(1ull << (SIGBUS - 1)), before = 0;
    if (SYS4(rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) < 0)
        return SYS_NOT_BLOCKED;
    return before;
}

void sys_restore_signals(uint64_t mask)
{
    if (mask == SYS_NOT_BLOCKED)
        return;
    /* If it is refused now, it may be allowed in a moment. Otherwise the program would receive no more signals. */
    for (int i = 0; i < RESTORE_TRIES; i++)
        if (SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask) == 0)
            return;
}

static bool sys_futex_wait_until(const uint32_t *word, int operation, uint32_t expected, const struct timespec *limit)
{
    const long error = SYS4(futex, word, operation, expected, limit);
    return error == 0 || error == -EAGAIN || error == -EINTR || error == -ETIMEDOUT;
}

static bool sys_futex_wait_on(const uint32_t *word, int operation, uint32_t expected, long milliseconds)
{
    const struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    return sys_futex_wait_until(word, operation, expected, milliseconds < 0 ? NULL : &limit);
}

bool sys_futex_wait(const uint32_t *word, uint32_t expected, long milliseconds)
{
    return sys_futex_wait_on(word, FUTEX_WAIT_PRIVATE, expected, milliseconds);
}

void sys_sleep_a_millisecond(void)
{
    const uint32_t never = 0;
    sys_futex_wait(&never, 0, 1);
}

void sys_futex_wake(uint32_t *word, int how_many)
{
    SYS3(futex, word, FUTEX_WAKE_PRIVATE, how_many);
}

bool sys_futex_wait_shared(const uint32_t *word, uint32_t expected, long milliseconds)
{
    return sys_futex_wait_on(word, FUTEX_WAIT, expected, milliseconds);
}

bool sys_futex_wait_shared_for(const uint32_t *word, uint32_t expected, uint64_t nanoseconds)
{
    const struct timespec limit = { (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
    return sys_futex_wait_until(word, FUTEX_WAIT, expected, &limit);
}

void sys_futex_wake_shared(uint32_t *word)
{
    SYS3(futex, word, FUTEX_WAKE, INT32_MAX);
}

/* The new thread finds run and argument on its stack. Registers other than the stack pointer are those of the parent,
 * but the compiler may not rely on any of them in the child. */
long sys_start_thread(void *stack_top, void (*run)(void *), void *argument)
{
    if (sys_guard)
        return -EPERM;
    const unsigned long flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    void **stack = (void **)((uintptr_t)stack_top & ~(uintptr_t)15) - 2;
    stack[0] = (void *)run;
    stack[1] = argument;
    long result;
#if defined(__x86_64__)
    register long tid_slot __asm__("r10") = 0;
    register long tls __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "pop %%rax\n\t"
                     "pop %%rdi\n\t"
                     "call *%%rax\n\t"
                     "mov %[exit], %%eax\n\t"
                     "xor %%edi, %%edi\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0L), "r"(tid_slot), "r"(tls), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = (long)flags;
    register long x1 __asm__("x1") = (long)stack;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "ldp x9, x0, [sp], #16\n\t"
                     "blr x9\n\t"
                     "mov x8, %[exit]\n\t"
                     "mov x0, xzr\n\t"
                     "svc 0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [exit] "i"(SYS_exit)
                     : "x9", "memory");
    result = x0;
#endif
    return result;
}
