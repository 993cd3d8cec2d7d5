/*
 * The helper thread. It keeps chunks ready, mapped and present in memory, so that the program's threads never wait for
 * the file system. Full ones get their checksums from it, and it unmaps them.
 *
 * It is made by a bare clone, so libc does not know of it. It has a table of descriptors of its own, which holds the
 * session file and nothing else: the program can neither see nor close it. It uses no TLS, as it shares that of the
 * thread that started it.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <string.h>

#include "chunk.h"
#include "clock.h"
#include "guard.h"
#include "helper.h"
#include "lock.h"
#include "losses.h"
#include "process.h"
#include "recorder.h"
#include "retired.h"
#include "runtime.h"
#include "session.h"
#include "spare.h"
#include "sys.h"
#include "upward.h"

enum {
    HELPER_STACK = 64 << 10,
    PREPARED_SIZE = 256 << 10,
    SETTLING = 100,  /* milliseconds between two attempts to add counts to the file */
    PATIENCE = 2000, /* milliseconds to wait for an answer before the helper counts as lost */
    MAX_DESCRIPTORS = 65536,
    REQUEST_RING = 1, /* requests that are not sizes of a chunk */
    REQUEST_CLOSE = 2,
};

#ifndef PIDFD_THREAD
#define PIDFD_THREAD 0200 /* O_EXCL */
#endif

static void helper_keep_descriptor(int fd)
{
#ifdef SYS_close_range
    bool done = true;
    if (fd > 0)
        done = SYS3(close_range, 0, fd - 1, 0) == 0;
    if (done && SYS3(close_range, fd + 1, ~0u, 0) == 0)
        return;
#endif
    for (int i = 0; i < MAX_DESCRIPTORS; i++)
        if (i != fd)
            sys_close(i);
}

/* Some virtual machines make a page only when it is first touched, although the kernel has mapped it: that takes 10 us.
 * Ends if a thread waits for an answer. */
static void helper_touch(const struct helper *helper, struct area area)
{
    for (uint32_t i = 0; i < area.size && !__atomic_load_n(&helper->request_size, __ATOMIC_RELAXED); i += PAGE)
        __atomic_fetch_add(area.at + i, 0, __ATOMIC_RELAXED);
}

/* Prepares one chunk for the pool, if that has fewer than its target. A helper in a hurry leaves its pages to the
 * thread that will use it. */
static bool helper_fill_pool(struct process *p, int fd, bool hurries)
{
    uint32_t ready = 0;
    char **empty = NULL;
    for (int i = 0; i < POOL_SLOTS; i++) {
        char *at = __atomic_load_n(&p->pool.ready[i], __ATOMIC_RELAXED);
        if (at)
            ready++;
        else if (!empty)
            empty = &p->pool.ready[i];
    }
    if (ready >= p->pool.target || !empty || p->stopped)
        return false;
    struct area area = chunk_prepare(fd, PREPARED_SIZE);
    if (!area.at)
        return false;
    if (ready && !hurries) /* else a thread may soon need this one */
        helper_touch(&p->helper, area);
    char *none = NULL;
    if (!__atomic_compare_exchange_n(empty, &none, area.at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        session_unmap(area.at, area.size);
    return true;
}

static bool helper_unmap_whole(char *at)
{
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)at;
    if (chunk_has_holes(chunk))
        return false;
    retired_seal(chunk);
    session_unmap(at, guard_size(at));
    return true;
}

static void helper_hold_chunk(struct process *p, char *at)
{
    for (int i = 0; i < HELD_SLOTS; i++) {
        if (!p->helper.held[i] || helper_unmap_whole(p->helper.held[i])) {
            p->helper.held[i] = at;
            return;
        }
    }
    /* All slots are taken: the chunk stays mapped permanently, as a record may still be stored. */
}

/* Chunks that a ring has stay mapped. */
static bool helper_unmap_retired(struct process *p)
{
    bool any = false;
    for (int i = 0; i < RETIRED_SLOTS; i++) {
        const struct retired retired = retired_begin(i);
        if (!retired.at)
            continue;
        any = true;
        if (!retired.kept && retired.whole)
            retired_unmap(&retired);
        else if (!retired.kept)
            helper_hold_chunk(p, retired.at);
        retired_end();
    }
    return any;
}

/* Chunks of windows that were given up a moment ago may have the room. */
static struct area helper_prepare(struct process *p, int fd, uint32_t size)
{
    struct area area = chunk_prepare(fd, size);
    if (!area.at && runtime.makes_room && helper_unmap_retired(p))
        area = chunk_prepare(fd, size);
    return area;
}

static bool helper_answer_request(struct process *p, int fd)
{
    uint32_t size = __atomic_load_n(&p->helper.request_size, __ATOMIC_ACQUIRE);
    if (!size)
        return false;
    if (size == REQUEST_RING)
        p->helper.answer.at = upward.open_ring(p->helper.request_tid, &p->helper.request_fd);
    else if (size == REQUEST_CLOSE)
        sys_close(p->helper.request_fd);
    else
        p->helper.answer = helper_prepare(p, fd, size);
    __atomic_store_n(&p->helper.request_size, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&p->helper.request_done, 1, __ATOMIC_RELEASE);
    sys_futex_wake(&p->helper.request_done, 1);
    return true;
}

void helper_serve(void)
{
    struct process *p = runtime.process;
    helper_answer_request(p, p->helper.fd);
    for (uint32_t i = 0; i < p->pool.target && helper_fill_pool(p, p->helper.fd, true); i++)
        continue;
    if (retired_are_many())
        helper_unmap_retired(p);
}

static void helper_run(void *argument)
{
    const int fd = (int)(long)argument;
    struct process *p = runtime.process;
    helper_keep_descriptor(fd);
    SYS2(prctl, PR_SET_NAME, "dwell");
    while (!__atomic_load_n(&p->helper.stop, __ATOMIC_ACQUIRE)) {
        uint32_t seen = __atomic_load_n(p->helper.work, __ATOMIC_ACQUIRE);
        upward.take_commands(p, fd);
        const bool hurries = upward.hurries();
        spare_release_windows(fd);
        bool busy = helper_answer_request(p, fd);
        busy |= helper_fill_pool(p, fd, hurries);
        if (!busy || retired_are_many())
            busy |= helper_unmap_retired(p);
        if (busy && !hurries)
            continue;
        long patience = upward.tick(p);
        if (busy)
            continue;
        if (guard_trouble() && !losses_settle(fd))
            patience = patience < 0 || patience > SETTLING ? SETTLING : patience;
        upward.note_helper(false);
        __atomic_store_n(&p->helper.sleeps, 1, __ATOMIC_SEQ_CST);
        bool waited = true;
        /* In a session that was truncated, the word may have come to the same value again. */
        if (__atomic_load_n(p->helper.work, __ATOMIC_SEQ_CST) == seen &&
            __atomic_load_n(&p->helper.request_size, __ATOMIC_SEQ_CST) == 0)
            waited = sys_futex_wait_shared(p->helper.work, seen, patience);
        __atomic_store_n(&p->helper.sleeps, 0, __ATOMIC_RELAXED);
        processor_leave(&p->helper.moves, __atomic_load_n(&p->helper.waker, __ATOMIC_RELAXED));
        if (!waited)
            break; /* waiting is refused: no helper is better than one that never sleeps */
    }
    upward.note_helper(true);
    p->helper.tid = 0;
}

bool helper_is_here(void)
{
    const char *here = __builtin_frame_address(0), *stack = runtime.process ? runtime.process->helper.stack : NULL;
    return stack && here >= stack && here < stack + HELPER_STACK;
}

/* Whether valgrind runs this process: it knows no threads of the helper's kind, and ends the program. It acts upon
 * these instructions, which do nothing elsewhere. */
static bool helper_is_below_valgrind(void)
{
    enum { RUNNING_ON_VALGRIND = 0x1001 };
    const volatile uint64_t request[6] = { RUNNING_ON_VALGRIND };
    uint64_t depth = 0;
#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(depth)
                     : "a"(request)
                     : "cc", "memory");
#else
    register uint64_t x3 __asm__("x3") = depth;
    register const volatile uint64_t *x4 __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(x3)
                     : "r"(x4)
                     : "cc", "memory");
    depth = x3;
#endif
    return depth != 0;
}

void helper_start(int fd)
{
    struct process *p = runtime.process;
    if (!runtime.helper_is_wanted || !upward.sees_privileges() || helper_is_below_valgrind())
        return;
    char *stack = sys_memory(HELPER_STACK);
    if (!stack)
        return;
    p->helper.stack = stack;
    p->helper.fd = fd;
    long tid = sys_start_thread(stack + HELPER_STACK, helper_run, (void *)(long)fd);
    if (tid < 0) {
        p->helper.stack = NULL;
        sys_unmap(stack, HELPER_STACK);
        return;
    }
    p->helper.tid = (uint32_t)tid;
    if (p->control.chunk)
        p->control.chunk->listening = 1;
}

void helper_wake(void)
{
    struct process *p = runtime.process;
    __atomic_fetch_add(p->helper.work, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&p->helper.sleeps, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&p->helper.waker, processor_here(), __ATOMIC_RELAXED);
        sys_futex_wake_shared(p->helper.work);
    }
    /* It may sleep on a page of the file whose place memory has taken since. */
    if (UNLIKELY(guard_trouble()) && p->helper.tid && upward.bus_wakes_helper())
        SYS3(tgkill, p->pid, p->helper.tid, SIGBUS);
}

void helper_end(void)
{
    __atomic_store_n(&runtime.process->helper.stop, 1, __ATOMIC_RELEASE);
    helper_wake();
}

static bool helper_request(struct process *p, uint32_t what)
{
    uint32_t before = __atomic_load_n(&p->helper.request_done, __ATOMIC_ACQUIRE);
    uint64_t give_up = clock_monotonic() + PATIENCE * 1000000ull;
    __atomic_store_n(&p->helper.request_size, what, __ATOMIC_RELEASE);
    helper_wake();
    while (__atomic_load_n(&p->helper.request_done, __ATOMIC_ACQUIRE) == before) {
        if (!p->helper.tid || clock_monotonic() > give_up) {
            p->helper.tid = 0; /* it may still answer later, and no thread waits then */
            return false;
        }
        sys_futex_wait(&p->helper.request_done, before, PATIENCE / 10);
        if (guard_trouble())
            helper_wake();
    }
    return true;
}

struct area helper_ask(uint32_t size)
{
    struct process *p = runtime.process;
    struct area area = { NULL, 0 };
    lock_take(&p->helper.request_lock);
    if (p->helper.tid && helper_request(p, size))
        area = p->helper.answer;
    lock_release(&p->helper.request_lock);
    return area;
}

bool helper_open_ring(uint32_t tid, void **ring, int *syscalls)
{
    struct process *p = runtime.process;
    lock_take(&p->helper.request_lock);
    p->helper.request_tid = tid;
    const bool answered = p->helper.tid && helper_request(p, REQUEST_RING);
    *ring = answered ? p->helper.answer.at : NULL;
    *syscalls = answered && p->helper.answer.at ? p->helper.request_fd : OS_NOTHING;
    lock_release(&p->helper.request_lock);
    return answered;
}

void helper_close(int fd)
{
    struct process *p = runtime.process;
    lock_take(&p->helper.request_lock);
    p->helper.request_fd = fd;
    if (p->helper.tid)
        helper_request(p, REQUEST_CLOSE);
    lock_release(&p->helper.request_lock);
}

/* Copies the helper's own descriptor, for a program that may not open the file any more. */
static int helper_copy_descriptor(const struct process *p)
{
    const int pidfd = (int)SYS2(pidfd_open, p->helper.tid, PIDFD_THREAD);
    if (pidfd < 0)
        return pidfd;
    const int fd = (int)SYS3(pidfd_getfd, pidfd, p->helper.fd, 0);
    sys_close(pidfd);
    return fd;
}

/* Waits for the helper's end: only then does the kernel count the process as single-threaded. */
static bool helper_wait_for_end(const struct process *p, uint32_t tid)
{
    const uint64_t give_up = clock_monotonic() + PATIENCE * 1000000ull;
    while (SYS3(tgkill, p->pid, tid, 0) == 0) {
        if (clock_monotonic() > give_up)
            return false;
        sys_sleep_a_millisecond();
    }
    return true;
}

int helper_pause(void)
{
    struct process *p = runtime.process;
    int fd = -1;
    lock_take(&p->helper.request_lock);
    const uint32_t tid = p->helper.tid;
    if (tid) {
        fd = session_reopen(&runtime.session, runtime.path);
        if (fd < 0)
            fd = helper_copy_descriptor(p);
        p->helper.tid = 0;
        if (p->control.chunk)
            p->control.chunk->listening = 0;
        __atomic_store_n(&p->helper.stop, 1, __ATOMIC_RELEASE);
        helper_wake();
        if (helper_wait_for_end(p, tid))
            sys_unmap(p->helper.stack, HELPER_STACK);
    }
    lock_release(&p->helper.request_lock);
    return fd;
}

void helper_resume(int fd)
{
    if (fd < 0)
        return;
    runtime.process->helper.stop = 0;
    helper_start(fd);
    sys_close(fd);
}
