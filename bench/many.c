/*
 * many forks|threads|alive COUNT: what short processes and threads cost. Each makes ten calls. `forks`, `threads`: one
 * after another; prints the CPU time of each in microseconds, that of all threads of its process included. `alive`: all
 * threads at once; prints the memory of each in bytes, which no file holds, and that of the session's pages.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int sum;
static pthread_barrier_t barrier;

__attribute__((noinline)) static void leaf(int i)
{
    sum += i;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < 10; i++)
        leaf(i);
}

PLAIN static void *run(void *data)
{
    work();
    return data;
}

PLAIN static void *run_alive(void *data)
{
    work();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return data;
}

PLAIN static double microseconds(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e6 + (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_usec;
}

PLAIN static double cpu_time(void)
{
    return microseconds(RUSAGE_SELF) + microseconds(RUSAGE_CHILDREN);
}

/* In bytes. */
PLAIN static double memory(const char *kind)
{
    char line[256];
    double sum_of_kind = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, kind, strlen(kind)) == 0)
            sum_of_kind += atof(line + strlen(kind)) * 1024;
    if (file)
        fclose(file);
    return sum_of_kind;
}

PLAIN static void fork_all(int count)
{
    for (int i = 0; i < count; i++) {
        const pid_t child = fork();
        if (child == 0) {
            work();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

PLAIN static void run_all(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
    }
}

PLAIN static void keep_alive(int count)
{
    pthread_t *list = calloc((size_t)count, sizeof *list);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    const double before = memory("Anonymous:"), before_all = memory("Rss:");
    for (int i = 0; i < count; i++)
        pthread_create(&list[i], &attributes, run_alive, NULL);
    pthread_barrier_wait(&barrier);
    const double own = memory("Anonymous:") - before;
    printf("%.0f %.0f\n", own / count, (memory("Rss:") - before_all - own) / count);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < count; i++)
        pthread_join(list[i], NULL);
    free(list);
}

PLAIN int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    work();
    const double before = cpu_time();
    if (strcmp(what, "alive") == 0) {
        keep_alive(count);
        return 0;
    }
    if (strcmp(what, "forks") == 0)
        fork_all(count);
    else if (strcmp(what, "threads") == 0)
        run_all(count);
    printf("%.1f\n", (cpu_time() - before) / (count ? count : 1));
    return 0;
}
