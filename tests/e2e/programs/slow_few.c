/* THREADS threads, each with CALLS calls of handle, of which each EACH'th sleeps for 200 ms. Between two of them, MORE
 * calls of step fill the rings. With a fifth argument, the first thread does what it names:
 *   nest: the slow calls are of handle below handle;
 *   fork: the thread's calls are those of a child;
 *   orphan: it kills its parent, the recorder, at first;
 *   kill: the program kills itself when all threads have ended;
 *   both: it kills the recorder as well, just before;
 *   long: the slow calls make MORE calls of step while they last;
 *   phases: before call N, it makes the file atN, with its PID, and waits for the file goN. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 200, MOST_THREADS = 64 };

#define KEPT __attribute__((noinline, noclone))

static unsigned calls, each, more;
static const char *how = "";
static volatile unsigned sink;

KEPT void step(void)
{
    sink++;
}

KEPT void steps(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        step();
}

KEPT void nap(void)
{
    const struct timespec time = { 0, NAP_MS * 1000000L };
    nanosleep(&time, NULL);
}

KEPT void handle(bool slow, bool again)
{
    step();
    if (slow && again)
        handle(slow, false);
    else if (slow)
        nap();
    if (slow && strcmp(how, "long") == 0)
        steps(more);
}

static void wait_for_go(unsigned phase)
{
    char name[32];
    const struct timespec time = { 0, 1000000 };
    FILE *out = fopen("at.part", "w");
    if (!out)
        abort();
    fprintf(out, "%d\n", (int)getpid());
    fclose(out);
    snprintf(name, sizeof name, "at%u", phase);
    rename("at.part", name);
    snprintf(name, sizeof name, "go%u", phase);
    while (access(name, F_OK) != 0)
        nanosleep(&time, NULL);
}

KEPT void work(void)
{
    for (unsigned i = 1; i <= calls; i++) {
        if (strcmp(how, "phases") == 0)
            wait_for_go(i);
        handle(i % each == 0, strcmp(how, "nest") == 0);
        steps(more);
    }
}

KEPT void *run(void *unused)
{
    (void)unused;
    work();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    if (argc < 5 || atoi(argv[1]) > MOST_THREADS)
        return 2;
    const unsigned count = (unsigned)atoi(argv[1]);
    calls = (unsigned)atoi(argv[2]);
    each = (unsigned)atoi(argv[3]);
    more = (unsigned)atoi(argv[4]);
    how = argc > 5 ? argv[5] : "";
    if (strcmp(how, "orphan") == 0)
        kill(getppid(), SIGKILL);
    for (unsigned i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    const pid_t child = strcmp(how, "fork") == 0 ? fork() : 0;
    if (child == 0)
        work();
    if (child == 0 && strcmp(how, "fork") == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    for (unsigned i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    if (strcmp(how, "both") == 0)
        kill(getppid(), SIGKILL);
    if (strcmp(how, "kill") == 0 || strcmp(how, "both") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
