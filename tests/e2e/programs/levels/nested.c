/* nested [f]: functions become counted, and timed again, while calls of them are open. The runtime is in the program.
 * With f, it forks below these calls, and the child returns from them as well. Prints the number of calls of each
 * function, and how many of them were made when it was timed. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "level_table.h"

#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

uint32_t levels_set(uint64_t function, enum level level);
bool levels_settle(void);
uint64_t sys_block_signals(void);
void sys_restore_signals(uint64_t mask);

enum { DEEP, LAST, WIDE, PLAIN, FUNCTIONS };
enum { PATIENCE = 5000 /* milliseconds */ };

static struct {
    unsigned long calls[FUNCTIONS], timed[FUNCTIONS];
    bool all_timed;
} * truth; /* shared with a forked child */

typedef void part(void);
static part *inside; /* of the next innermost call */
static volatile long sink;
static jmp_buf target;

QUIET static void note(int function)
{
    truth->calls[function]++;
    truth->timed[function] += truth->all_timed || function == PLAIN;
}

QUIET static void go_inside(void)
{
    part *next = inside;
    inside = NULL;
    if (next)
        next();
}

KEPT static void plain(void)
{
    note(PLAIN);
    sink++;
}

/* Its exit is a call. */
KEPT static long deep(long n)
{
    note(DEEP);
    if (n == 0)
        go_inside();
    const long below = n > 0 ? deep(n - 1) : 0;
    plain();
    return below + n;
}

/* Its exit is a jump. */
KEPT static void last(long n)
{
    note(LAST);
    if (n == 0)
        go_inside();
    else
        last(n - 1);
    sink = n;
}

/* Its stack pointer is lower at the exit. */
KEPT static long wide(long n)
{
    note(WIDE);
    char *bytes = alloca((size_t)(n + 1) * 64);
    memset(bytes, 0, (size_t)(n + 1) * 64);
    sink = bytes[n];
    if (n == 0)
        go_inside();
    else
        sink = wide(n - 1);
    return sink + bytes[n];
}

QUIET static const uint64_t *leveled(void)
{
    static uint64_t functions[3];
    functions[0] = (uint64_t)deep;
    functions[1] = (uint64_t)last;
    functions[2] = (uint64_t)wide;
    return functions;
}

QUIET static bool is_changing(enum level level)
{
    for (int i = 0; i < 3; i++) {
        const struct level_slot *slot = level_table_find(levels_table, leveled()[i]);
        if ((*(const volatile uint32_t *)&slot->state & ~(uint32_t)LEVEL_NESTED) != level)
            return true;
    }
    return false;
}

/* The helper thread completes the change, if it can while calls are open. */
QUIET static void change(enum level level)
{
    const uint64_t mask = sys_block_signals();
    for (int i = 0; i < 3; i++)
        levels_set(leveled()[i], level);
    levels_settle();
    sys_restore_signals(mask);
    for (int i = 0; i < PATIENCE && is_changing(level); i++)
        usleep(1000);
    truth->all_timed = level == LEVEL_TIMED;
}

QUIET static void run(void)
{
    sink = deep(5);
    last(6);
    sink = wide(7);
}

QUIET static void handle(int number)
{
    (void)number;
    run();
}

QUIET static void *run_in_thread(void *data)
{
    run();
    return data;
}

QUIET static void jump_back(void)
{
    longjmp(target, 1);
}

QUIET static void leave(void)
{
    for (int i = 0; i < 3; i++) {
        inside = jump_back;
        if (setjmp(target) != 0)
            continue;
        if (i == 0)
            deep(3);
        else if (i == 1)
            last(3);
        else
            wide(3);
    }
}

QUIET static void fork_below(void)
{
    const pid_t child = fork();
    run();
    if (child != 0)
        waitpid(child, NULL, 0);
}

static bool forks;

QUIET static void innermost(void)
{
    pthread_t thread;
    static char stack[1 << 16];
    const stack_t handlers = { .ss_sp = stack, .ss_size = sizeof stack };
    const struct sigaction here = { .sa_handler = handle }, there = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    sigaltstack(&handlers, NULL);
    sigaction(SIGUSR1, &here, NULL);
    sigaction(SIGUSR2, &there, NULL);
    change(LEVEL_COUNTED);
    run();
    leave();
    raise(SIGUSR1);
    raise(SIGUSR2);
    pthread_create(&thread, NULL, run_in_thread, NULL);
    pthread_join(thread, NULL);
    change(LEVEL_TIMED);
    run();
    raise(SIGUSR1);
    change(LEVEL_COUNTED);
    run();
    if (forks)
        fork_below();
    run();
}

QUIET static void begin_wide(void)
{
    inside = innermost;
    sink = wide(2);
    run();
}

QUIET static void begin_last(void)
{
    inside = begin_wide;
    last(2);
    run();
}

QUIET int main(int argc, char **argv)
{
    static const char *const names[] = { "deep", "last", "wide", "plain" };
    forks = argc > 1 && strcmp(argv[1], "f") == 0;
    truth = mmap(NULL, sizeof *truth, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    truth->all_timed = true;
    inside = begin_last;
    const pid_t first = getpid();
    sink = deep(2);
    run();
    if (getpid() != first)
        return 0;
    change(LEVEL_TIMED);
    run();
    for (int i = 0; i < FUNCTIONS; i++)
        printf("calls %s %lu\ntimed %s %lu\n", names[i], truth->calls[i], names[i], truth->timed[i]);
    return 0;
}
