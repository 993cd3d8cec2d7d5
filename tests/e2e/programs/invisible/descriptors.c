/* Watches its lowest free descriptor all the time, while threads begin and end, and in children. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAVES = 100, THREADS = 4, STEPS = 20000 };

static volatile int over;
static int expected;
static long looks, others;

__attribute__((noinline)) static void step(void)
{
    __asm__ volatile("");
}

static void *run(void *unused)
{
    for (int i = 0; i < STEPS; i++)
        step();
    return unused;
}

__attribute__((no_instrument_function)) static void look(void)
{
    int fd = dup(0);
    if (fd != expected)
        others++;
    looks++;
    close(fd);
}

__attribute__((no_instrument_function)) static void *watch(void *unused)
{
    while (!over)
        look();
    return unused;
}

static void in_a_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run(NULL);
        look();
        _exit(others != 0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("a child ends with %d\n", status);
}

int main(void)
{
    pthread_t watcher, threads[THREADS];
    expected = dup(0);
    close(expected);
    pthread_create(&watcher, NULL, watch, NULL);
    for (int i = 0; i < WAVES; i++) {
        for (int j = 0; j < THREADS; j++)
            pthread_create(&threads[j], NULL, run, NULL);
        for (int j = 0; j < THREADS; j++)
            pthread_join(threads[j], NULL);
    }
    over = 1;
    pthread_join(watcher, NULL);
    for (int i = 0; i < 4; i++)
        in_a_child();
    printf("descriptor %d, another %ld times, looked at %s\n", expected, others,
           looks > WAVES ? "often" : "too seldom");
    return 0;
}
