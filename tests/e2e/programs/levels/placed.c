/*
 * placed WAY: makes threads and processes in unusual ways while the calls of hot_leaf are counted in place. Prints the
 * program's own count of these calls. Ways:
 *   child      a child that makes no other calls, and ends by _exit
 *   daemon     a child that libc forks itself
 *   exec       a child that makes no other calls, and executes another program
 *   c11        a thread of thrd_create
 *   handler    a thread whose first call is in a signal handler, before its own code
 *   vfork      a child that shares the memory
 *   pause      calls in a pause, which do not count
 *   killed     a child that makes no other calls, and is killed
 *   bare_fork  a child of the bare system call
 *   bare_clone a thread that libc does not know: calls may be lost
 *   workers    children whose first calls are those of several threads
 *   unshared   such a child with namespaces of its own
 *   stayed     such a child after an exec that failed
 *   timer      a child whose first call is in a thread that libc makes
 *   sandboxed  a child that forbids itself nearly all system calls
 *   narrow     a child that forbids itself arch_prctl, and makes threads
 *   narrow_unseen  the same by a bare system call, which fails then
 *   unseen     the same by a bare system call: its calls are lost
 *   nofile     a child that may open no file: its calls are lost
 *   masked     a thread whose attributes block all signals
 *   strict     a child in seccomp's strict mode: its calls need not be recorded
 *   writable   a child that makes its code writable, makes threads, and makes it read-only again
 *   setuid     a child that is another user, if it may, and makes threads
 *   locked     a child that locks its memory, and makes threads
 *   based      a program that sets the base of gs, by arch_prctl
 *   based_bare the same by syscall
 */
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <dwell/dwell.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include "in_place.h"

#define PLAIN __attribute__((no_instrument_function))

enum { CALLS = 100000, STACK = 1 << 16 };

static unsigned long *total; /* shared with children */

/* Aligned, so that the call of its probe crosses no line of the cache. */
__attribute__((noinline, aligned(64))) void hot_leaf(void)
{
    __atomic_fetch_add(total, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void timed(void)
{
    hot_leaf();
}

PLAIN static void call(void)
{
    for (int i = 0; i < CALLS; i++)
        hot_leaf();
}

PLAIN static void wait_for(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0)
        ;
}

PLAIN static void child(void)
{
    const pid_t made = fork();
    if (made == 0) {
        call();
        _exit(0);
    }
    wait_for(made);
}

PLAIN static void as_daemon(void)
{
    const pid_t made = fork();
    if (made == 0) {
        if (daemon(1, 1) == 0) /* this child ends, and its child goes on */
            call();
        _exit(0);
    }
    wait_for(made);
    while (*(volatile unsigned long *)total < CALLS)
        usleep(1000);
    usleep(100000);
}

PLAIN static void exec_other(void)
{
    const pid_t made = fork();
    if (made == 0) {
        call();
        execl("/bin/true", "true", (char *)NULL);
    }
    wait_for(made);
}

PLAIN static int run_c11(void *data)
{
    (void)data;
    call();
    return 7;
}

PLAIN static void c11(void)
{
    thrd_t thread;
    int result = 0;
    thrd_create(&thread, run_c11, NULL);
    call();
    thrd_join(thread, &result);
    if (result != 7)
        exit(4);
}

PLAIN static void on_signal(int number)
{
    (void)number;
    call();
}

PLAIN static void *run_nothing(void *data)
{
    return data;
}

PLAIN static void handler(void)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_nothing, NULL);
        pthread_kill(thread, SIGUSR1); /* it may not have begun yet */
        pthread_join(thread, NULL);
    }
}

PLAIN static void with_vfork(void)
{
    const pid_t made = vfork();
    if (made == 0) {
        call();
        _exit(0);
    }
    wait_for(made);
}

PLAIN static void in_pause(void)
{
    const unsigned long before = *total;
    dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    call();
    dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    *total = before;
    call();
}

PLAIN static void killed(void)
{
    const unsigned long before = *total;
    const pid_t made = fork();
    if (made == 0) {
        for (;;)
            hot_leaf();
    }
    while (*(volatile unsigned long *)total < before + CALLS)
        usleep(1000);
    kill(made, SIGKILL);
    wait_for(made);
}

PLAIN static void bare_fork(void)
{
    const pid_t made = (pid_t)syscall(SYS_fork);
    if (made == 0) {
        call();
        timed();
        call();
        syscall(SYS_exit_group, 0);
    }
    wait_for(made);
}

PLAIN static int run_bare(void *data)
{
    (void)data;
    call();
    return 0;
}

PLAIN static void bare_clone(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const pid_t made = clone(run_bare, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    call();
    wait_for(made);
}

enum { WORKERS = 8 };

static pthread_barrier_t barrier;

PLAIN static void *work(void *data)
{
    pthread_barrier_wait(&barrier);
    call();
    return data;
}

PLAIN static void run_workers(void)
{
    pthread_t list[WORKERS];
    pthread_barrier_init(&barrier, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&list[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(list[i], NULL);
}

/* Ends with another status than zero if the child does. */
PLAIN static void fork_for(void (*prepare)(void), void (*run)(void))
{
    int status = 0;
    const pid_t made = fork();
    if (made == 0) {
        if (prepare)
            prepare();
        run();
        _exit(0);
    }
    while (waitpid(made, &status, 0) < 0)
        ;
    if (status)
        exit(5);
}

PLAIN static void workers(void)
{
    for (int i = 0; i < 10; i++)
        fork_for(NULL, run_workers);
}

/* A system may refuse it. */
PLAIN static void unshare_all(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        unshare(CLONE_FS);
}

PLAIN static void unshared(void)
{
    fork_for(unshare_all, run_workers);
}

PLAIN static void execute_nothing(void)
{
    execl("/proc/none", "none", (char *)NULL);
}

PLAIN static void stayed(void)
{
    fork_for(execute_nothing, run_workers);
}

static int rang;

PLAIN static void ring(union sigval value)
{
    (void)value;
    call();
    __atomic_store_n(&rang, 1, __ATOMIC_RELEASE);
}

PLAIN static void run_timer(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring };
    const struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        _exit(6);
    while (!__atomic_load_n(&rang, __ATOMIC_ACQUIRE))
        usleep(1000);
    call();
}

PLAIN static void with_timer(void)
{
    fork_for(NULL, run_timer);
}

static struct sock_filter few_calls[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static struct sock_filter few_calls_fail[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

#if defined(__x86_64__)
static struct sock_filter no_base[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
#else
#define no_base few_calls
#endif

#define PROGRAM_OF(code) (&(struct sock_fprog){ sizeof(code) / sizeof *(code), code })

PLAIN static void forbid(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PROGRAM_OF(few_calls)) != 0)
        _exit(6);
}

PLAIN static void sandboxed(void)
{
    fork_for(forbid, call);
}

PLAIN static void begin_unseen(const struct sock_fprog *filter)
{
    long result = 1;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#if defined(__x86_64__)
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_prctl), "D"(PR_SET_SECCOMP), "S"(SECCOMP_MODE_FILTER), "d"(filter)
                     : "rcx", "r11", "memory");
#endif
    if (result != 0)
        _exit(6);
}

PLAIN static void forbid_unseen(void)
{
    begin_unseen(PROGRAM_OF(few_calls_fail));
}

/* Its first call comes before the sandbox, as that of a thread that could not be set up in it. */
PLAIN static void forbid_base(void)
{
    call();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PROGRAM_OF(no_base)) != 0)
        _exit(6);
}

PLAIN static void forbid_base_unseen(void)
{
    call();
    no_base[2].k = SECCOMP_RET_ERRNO | 1;
    begin_unseen(PROGRAM_OF(no_base));
}

PLAIN static void narrow(void)
{
    fork_for(forbid_base, run_workers);
}

PLAIN static void narrow_unseen(void)
{
    fork_for(forbid_base_unseen, run_workers);
}

PLAIN static void unseen(void)
{
    fork_for(forbid_unseen, call);
}

PLAIN static void strict(void)
{
    const pid_t made = fork();
    if (made == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(6);
        call();
        syscall(SYS_exit, 0);
    }
    int status = 1;
    while (waitpid(made, &status, 0) < 0)
        ;
    if (status)
        exit(5);
}

PLAIN static void protect_code(int protection)
{
    char *page = (char *)((uintptr_t)hot_leaf & ~4095ul);
    if (mprotect(page, 2 * 4096, protection) != 0)
        _exit(6);
}

PLAIN static void run_writable(void)
{
    protect_code(PROT_READ | PROT_WRITE | PROT_EXEC);
    run_workers();
    protect_code(PROT_READ | PROT_EXEC);
    run_workers();
}

PLAIN static void writable(void)
{
    fork_for(NULL, run_writable);
}

PLAIN static void be_nobody(void)
{
    if (setuid(65534) == 0 && setuid(0) == 0)
        _exit(6);
}

PLAIN static void as_nobody(void)
{
    fork_for(be_nobody, run_workers);
}

PLAIN static void lock_memory(void)
{
    mlockall(MCL_CURRENT | MCL_FUTURE); /* a system may refuse it */
}

PLAIN static void locked(void)
{
    fork_for(lock_memory, run_workers);
}

PLAIN static void allow_no_file(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
}

PLAIN static void nofile(void)
{
    fork_for(allow_no_file, call);
}

PLAIN static void *run_masked(void *data)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number < SIGRTMIN; number++)
        if (number != SIGKILL && number != SIGSTOP && number < 32 && !sigismember(&mask, number))
            exit(7);
    call();
    return data;
}

PLAIN static void masked(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &all);
    if (pthread_create(&thread, &attributes, run_masked, NULL) != 0)
        exit(7);
    call();
    pthread_join(thread, NULL);
}

#if defined(__x86_64__)

int arch_prctl(int code, unsigned long address);

static bool bare;
static unsigned long own_base[8] = { 1, 2, 3 };

PLAIN static void base_call(int code, unsigned long address)
{
    if (bare ? syscall(SYS_arch_prctl, code, address) : arch_prctl(code, address))
        exit(8);
}

PLAIN static void check_base(const unsigned long *wanted)
{
    unsigned long base = 1, word = 0;
    base_call(ARCH_GET_GS, (unsigned long)&base);
    if (wanted)
        __asm__ volatile("movq %%gs:8, %0" : "=r"(word));
    if (base != (unsigned long)wanted || (wanted && word != wanted[1]))
        exit(9);
}

/* It begins before the base is set. */
PLAIN static void *run_beside(void *data)
{
    call();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    call();
    check_base(NULL);
    return data;
}

PLAIN static void *run_after(void *data)
{
    call();
    check_base(own_base);
    return data;
}

PLAIN static void based(void)
{
    pthread_t thread;
    check_base(NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run_beside, NULL);
    pthread_barrier_wait(&barrier);
    base_call(ARCH_SET_GS, (unsigned long)own_base);
    if (is_in_place(hot_leaf))
        exit(10);
    call();
    check_base(own_base);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, run_after, NULL);
    pthread_join(thread, NULL);
    timed();
    check_base(own_base);
    fork_for(NULL, call);
}

PLAIN static void based_bare(void)
{
    bare = true;
    based();
}

#else

static void (*const based)(void) = call;
static void (*const based_bare)(void) = call;

#endif

PLAIN int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        { "child", child },         { "daemon", as_daemon },
        { "exec", exec_other },     { "c11", c11 },
        { "handler", handler },     { "vfork", with_vfork },
        { "pause", in_pause },      { "killed", killed },
        { "bare_fork", bare_fork }, { "bare_clone", bare_clone },
        { "workers", workers },     { "unshared", unshared },
        { "stayed", stayed },       { "timer", with_timer },
        { "narrow", narrow },       { "narrow_unseen", narrow_unseen },
        { "sandboxed", sandboxed }, { "unseen", unseen },
        { "nofile", nofile },       { "masked", masked },
        { "strict", strict },       { "writable", writable },
        { "setuid", as_nobody },    { "locked", locked },
        { "based", based },         { "based_bare", based_bare },
    };
    total = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wait_for_place(hot_leaf, timed);
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    printf("calls hot_leaf %lu\n", *total);
    return 0;
}
