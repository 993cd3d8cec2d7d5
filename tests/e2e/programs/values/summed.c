/* Calls handle() from threads, with few different values, and prints them as "thread|kind|n|name|negative|part". With a
 * signal handler that calls it, too. What a child does after a fork is printed as well. `many N` calls it with N
 * different numbers, and `skewed N` half of the times with zero. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { GET = -1, SET = 7, DELETE = 1000000 };

static const enum kind kinds[] = { GET, SET, DELETE };
static const char *const names[] = { "", "orders",
                                     "a text that is longer than eight words of eight bytes, so that it is cut" };
static const double parts[] = { 0.5, -1e300 };
static volatile unsigned sum;

__attribute__((noinline)) void leaf(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum += i;
}

__attribute__((noinline)) void handle(enum kind kind, unsigned n, const char *name, short negative, double part)
{
    leaf(n);
    if (part < 0)
        leaf(10);
    sum += (unsigned)name[0] + (unsigned)negative + (unsigned)kind;
}

/* Recursive calls have the values of their outermost one. */
__attribute__((noinline)) int climb(int steps)
{
    leaf(1);
    return steps < 2 ? 1 : climb(steps - 1) + climb(steps - 2);
}

__attribute__((noinline)) void other(unsigned long n)
{
    sum += (unsigned)n;
}

struct call {
    enum kind kind;
    unsigned n;
    const char *name;
    short negative;
    double part;
};

/* The same numbers for each run. */
static struct call number(unsigned thread, unsigned i)
{
    const unsigned mixed = (thread * 7919 + i) * 2654435761u >> 8;
    return (struct call){ kinds[mixed % 3], mixed / 3 % 4, names[mixed / 12 % 3], (short)-(mixed / 36 % 2),
                          parts[mixed / 72 % 2] };
}

static unsigned calls;

static void *work(void *thread)
{
    const unsigned own = (unsigned)(size_t)thread;
    for (unsigned i = 0; i < calls; i++) {
        const struct call c = number(own, i);
        handle(c.kind, c.n, c.name, c.negative, c.part);
    }
    return NULL;
}

static void print(unsigned thread)
{
    for (unsigned i = 0; i < calls; i++) {
        const struct call c = number(thread, i);
        printf("%d|%u|%.64s|%d|%g\n", c.kind, c.n, c.name, c.negative, c.part);
    }
}

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
    (void)signal;
    handle(SET, 99, "handler", 5, 2);
    handled++;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    calls = (unsigned)atoi(argv[2]);
    if (strcmp(argv[1], "many") == 0) {
        for (unsigned long round = 0; round < 3; round++)
            for (unsigned long i = 0; i < calls; i++)
                other(i * i);
        return 0;
    }
    if (strcmp(argv[1], "skewed") == 0) {
        for (unsigned long i = 0; i < calls; i++)
            other(0);
        for (unsigned long i = 1; i <= calls; i++)
            other(i);
        return 0;
    }
    if (strcmp(argv[1], "climb") == 0) {
        climb((int)calls);
        climb((int)calls);
        climb(3);
        return 0;
    }
    if (strcmp(argv[1], "wait") == 0) {
        char line[8];
        work((void *)1);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 1;
        work((void *)1);
        return 0;
    }
    const int signals = strcmp(argv[1], "signals") == 0;
    if (signals) {
        signal(SIGALRM, on_signal);
        setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 300 }, { 0, 300 } }, NULL);
    }
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    const pid_t child = fork();
    if (child == 0) {
        work((void *)4);
        setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
        _exit(0);
    }
    while (waitpid(child, NULL, 0) < 0)
        ;
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    for (unsigned i = 1; i <= 4; i++)
        print(i);
    fflush(stdout);
    if (strcmp(argv[1], "kill") == 0)
        raise(SIGKILL);
    return 0;
}
