/*
 * ends WAY MILLISECONDS WAIT [PROGRAM]: makes a child that ends in that way, waits until it has ended, sleeps for that
 * time, and reaps it by that function. PROGRAM is what the child executes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, noinline))

enum { THREADS = 2 };

static pthread_barrier_t barrier;

__attribute__((noinline)) static void step(void)
{
    __asm__ volatile("");
}

__attribute__((noreturn)) static void *waiter(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
}

static void *leaver(void *unused)
{
    syscall(SYS_exit, 0);
    return unused;
}

QUIET static void start_threads(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, waiter, NULL);
    pthread_barrier_wait(&barrier);
}

QUIET __attribute__((noreturn)) static void exit_by_instruction(void)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" ::"a"(SYS_exit_group), "D"(7) : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = SYS_exit_group;
    register long x0 __asm__("x0") = 7;
    __asm__ volatile("svc 0" ::"r"(x8), "r"(x0) : "memory");
#endif
    __builtin_unreachable();
}

/* Returns if the child is to end as usual. */
static void end_by(const char *way, char *program)
{
    char *arguments[] = { program, NULL }, *none[] = { NULL };
    if (strstr(way, "threads"))
        start_threads();
    if (strncmp(way, "exec", 4) == 0)
        execv(program, arguments);
    if (strcmp(way, "raw-exec") == 0)
        syscall(SYS_execve, program, arguments, none);
    if (strcmp(way, "instruction") == 0)
        exit_by_instruction();
    if (strcmp(way, "exit_group") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(way, "last-thread") == 0)
        syscall(SYS_exit, 7);
    step();
    if (strncmp(way, "kill", 4) == 0 || strcmp(way, "exec-fails-kill") == 0)
        kill(getpid(), SIGKILL);
}

static void until_ended(pid_t child)
{
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
}

static void afterwards(int milliseconds)
{
    usleep((useconds_t)milliseconds * 1000);
}

static void reap(pid_t child, const char *by)
{
    siginfo_t info;
    struct rusage usage;
    int status;
    if (strcmp(by, "wait") == 0)
        wait(NULL);
    else if (strcmp(by, "wait3") == 0)
        wait3(&status, 0, &usage);
    else if (strcmp(by, "wait4") == 0)
        wait4(child, NULL, 0, &usage);
    else if (strcmp(by, "waitid") == 0)
        waitid(P_PID, (id_t)child, &info, WEXITED);
    else
        waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 99;
    if (strcmp(argv[1], "leaving-thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, leaver, NULL);
        pthread_join(thread, NULL);
        afterwards(atoi(argv[2]));
        return 0;
    }
    if (strcmp(argv[1], "alone") == 0)
        syscall(SYS_exit, 7);
    const pid_t child = fork();
    if (child == 0) {
        end_by(argv[1], argv[4]);
        exit(3);
    }
    until_ended(child);
    afterwards(atoi(argv[2]));
    reap(child, argv[3]);
    return 0;
}
