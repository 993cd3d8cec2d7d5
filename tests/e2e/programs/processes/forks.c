/* forks WAY: a child made in that way, which makes calls and ends, with calls before and after it in the parent. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ledger.h"

enum { BEFORE = 5, CHILD = 7, AFTER = 3, DEPTH = 4, THREADS = 4, ROUNDS = 20 };

static const char *way;

QUIET static pid_t make_child(void)
{
    if (strcmp(way, "_Fork") == 0)
        return _Fork();
    if (strcmp(way, "raw-fork") == 0)
#ifdef SYS_fork
        return (pid_t)syscall(SYS_fork);
#else
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (strcmp(way, "raw-clone") == 0)
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return fork();
}

static void steps(int count)
{
    calls++;
    while (count-- > 0)
        step();
}

QUIET static void reap(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        ;
    if (status != 0)
        abort();
}

QUIET static void child_lives(pid_t parent)
{
    ledger_begin(parent, 0);
    steps(CHILD);
    ledger_write();
    _exit(0);
}

static void once(void)
{
    calls++;
    pid_t parent = getpid(), child = make_child();
    if (child == 0)
        child_lives(parent);
    reap(child);
}

/* The child forks, and its child does. */
static void generations(int left)
{
    calls++;
    pid_t parent = getpid(), child = make_child();
    if (child == 0) {
        ledger_begin(parent, 0);
        steps(left);
        if (left > 0)
            generations(left - 1);
        ledger_write();
        _exit(0);
    }
    reap(child);
}

static void handler(int number)
{
    (void)number;
    once();
    calls++; /* its own */
}

static void in_a_handler(void)
{
    calls++;
    struct sigaction action = { .sa_handler = handler };
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
}

/* ---- other threads run meanwhile ---- */

static volatile int over;
static volatile long thread_calls[THREADS];

static void leaf(volatile long *mine)
{
    ++*mine;
}

static void *run(void *argument)
{
    volatile long *mine = argument;
    ++*mine;
    while (!over)
        leaf(mine);
    return NULL;
}

static void among_threads(void)
{
    calls++;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)&thread_calls[i]);
    for (int i = 0; i < ROUNDS; i++)
        once();
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        calls += thread_calls[i];
}

/* Each of them forks, and each child has only the thread that forked. */
static void *fork_often(void *argument)
{
    volatile long *mine = argument;
    ++*mine;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t parent = getpid(), child = make_child();
        if (child == 0)
            child_lives(parent);
        reap(child);
        leaf(mine);
    }
    return NULL;
}

static void by_threads(void)
{
    calls++;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, fork_often, (void *)&thread_calls[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        calls += thread_calls[i];
}

/* ---- handlers that libc runs in the child before fork returns there ---- */

static void after_fork(void)
{
    calls = 1; /* its own */
    step();
}

static void with_a_handler(void)
{
    calls++;
    pthread_atfork(NULL, NULL, after_fork);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        ledger_begin(parent, calls);
        steps(CHILD);
        ledger_write();
        _exit(0);
    }
    reap(child);
}

/* ---- clone, with a stack for the child ---- */

static char child_stack[256 << 10] __attribute__((aligned(16)));

QUIET static int cloned(void *parent)
{
    child_lives(*(pid_t *)parent);
    return 0;
}

static void by_clone(void)
{
    calls++;
    pid_t parent = getpid();
    reap(clone(cloned, child_stack + sizeof child_stack, SIGCHLD, &parent));
}

QUIET static int cloned_with_memory(void *unused)
{
    (void)unused;
    step();
    deeper(DEPTH);
    _exit(0);
}

static void by_clone_with_memory(void)
{
    calls++;
    pid_t child = clone(cloned_with_memory, child_stack + sizeof child_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    step();
    reap(child);
}

/* ---- vfork: the child shares the parent's memory, and its calls count for the parent ---- */

static volatile int stays;

QUIET static void end_of_vforked(const char *program)
{
    if (stays)
        return;
    if (program)
        execl(program, program, "6", (char *)NULL);
    _exit(program ? 1 : 0);
}

__attribute__((noinline)) static void leave_deep(int depth, const char *program)
{
    calls++;
    if (depth > 0)
        leave_deep(depth - 1, program);
    else
        end_of_vforked(program);
    __asm__ volatile("");
}

static void vforked(const char *program)
{
    calls++;
    pid_t child = vfork();
    if (child == 0) {
        step();
        deeper(DEPTH);
        leave_deep(DEPTH, program);
    }
    step();
    reap(child);
}

/* ---- a daemon ---- */

static void daemon_works(void)
{
    calls++;
    for (int i = 0; i < CHILD; i++)
        step();
}

/* The middle process ends at once. The program waits for the pipe that the daemon keeps open to the end. */
static void daemonize(void)
{
    calls++;
    int pipes[2];
    if (pipe(pipes) < 0)
        abort();
    pid_t parent = getpid(), middle = fork();
    if (middle == 0) {
        parent = getpid();
        ledger_begin(parent, 0);
        if (setsid() < 0)
            abort();
        if (fork() > 0)
            _exit(0); /* quiet: it has recorded nothing */
        ledger_begin(parent, 0);
        dup2(pipes[1], 100);
        for (int fd = 0; fd < 1024; fd++)
            if (fd != 100)
                close(fd);
        if (chdir("/") < 0)
            abort();
        while (getppid() == parent)
            usleep(1000);
        daemon_works();
        ledger_write();
        _exit(0);
    }
    (void)parent;
    close(pipes[1]);
    reap(middle);
    char byte;
    if (read(pipes[0], &byte, 1) != 0)
        abort();
}

QUIET static void act(const char *program)
{
    if (strcmp(way, "vfork") == 0)
        vforked(NULL);
    else if (strcmp(way, "vfork-exec") == 0)
        vforked(program);
    else if (strcmp(way, "generations") == 0)
        generations(4);
    else if (strcmp(way, "handler") == 0)
        in_a_handler();
    else if (strcmp(way, "threads") == 0)
        among_threads();
    else if (strcmp(way, "by-threads") == 0)
        by_threads();
    else if (strcmp(way, "atfork") == 0)
        with_a_handler();
    else if (strcmp(way, "clone") == 0)
        by_clone();
    else if (strcmp(way, "clone-vfork") == 0)
        by_clone_with_memory();
    else if (strcmp(way, "daemon") == 0)
        daemonize();
    else
        once();
}

int main(int argc, char **argv)
{
    ledger_begin(getppid(), 1);
    way = argc > 1 ? argv[1] : "fork";
    steps(BEFORE);
    act(argc > 2 ? argv[2] : NULL);
    steps(AFTER);
    ledger_write();
    return 0;
}
