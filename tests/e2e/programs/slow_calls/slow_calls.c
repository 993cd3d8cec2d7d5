/* 200 calls of handle, of which each 20th is slow for the reason that the argument names. All others take far less. */
#include "slow_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 20000 };

struct slow_flags *flags;
static const struct slow_cause *cause;
static volatile unsigned sink;

KEPT void compute(unsigned rounds)
{
    for (unsigned i = 0; i < rounds * ROUND; i++)
        sink += i;
}

KEPT void nap(unsigned ms)
{
    const struct timespec time = { 0, ms * 1000000L };
    nanosleep(&time, NULL);
}

void wait_until_held(void)
{
    flags->held = false;
    flags->wanted = true;
    while (!flags->held)
        usleep(100);
}

void hold_when_wanted(void (*hold)(void))
{
    while (!flags->finished) {
        if (flags->wanted) {
            flags->wanted = false;
            hold();
        }
        nap(1);
    }
}

KEPT void handle(bool slow)
{
    compute(1);
    cause->work(slow);
}

static void *run(void *unused)
{
    (void)unused;
    cause->other();
    return NULL;
}

static void call(unsigned number)
{
    const bool slow = number % EACH == EACH / 2;
    if (slow && cause->prepare)
        cause->prepare();
    handle(slow);
}

/* The calls from the number that it points to, up to the next slow one. */
static void *call_some(void *number)
{
    const unsigned first = *(unsigned *)number;
    for (unsigned i = first; i == first || (i < CALLS && i % EACH != EACH / 2); i++)
        call(i);
    return NULL;
}

static void call_in_threads(void)
{
    for (unsigned i = EACH / 2; i < CALLS; i += EACH) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_some, &i) != 0)
            abort();
        pthread_join(thread, NULL);
    }
}

static const struct slow_cause *find_cause(const struct slow_cause *list, const char *name)
{
    while (list->name && strcmp(list->name, name) != 0)
        list++;
    return list->name ? list : NULL;
}

static void run_all(void)
{
    pthread_t thread;
    pid_t child = -1;
    if (cause->other && cause->forks && (child = fork()) == 0) {
        cause->other();
        exit(0);
    }
    const bool has_thread = cause->other && !cause->forks && pthread_create(&thread, NULL, run, NULL) == 0;
    if (cause->begin)
        cause->begin();
    if (cause->in_threads)
        call_in_threads();
    for (unsigned i = 0; i < CALLS && !cause->in_threads; i++)
        call(i);
    flags->finished = true;
    if (has_thread)
        pthread_join(thread, NULL);
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    flags = mmap(NULL, sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc != 2 || flags == MAP_FAILED)
        return 2;
    cause = find_cause(slow_waits, argv[1]);
    if (!cause)
        cause = find_cause(slow_work, argv[1]);
    if (!cause)
        return 2;
    run_all();
    return 0;
}
