/*
 * asleep MILLISECONDS [within]: a thread sleeps while the recording is paused and resumed, and for at least so long
 * afterwards. It fell asleep before the pause, or within it.
 */
#include <dwell/dwell.h>

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function, noinline))

static sem_t first, second;
static pid_t sleeper;

/* Its waits are calls without probes, and no rows. */
__attribute__((noinline)) static void nap(void)
{
    sem_wait(&first);
    sem_wait(&second);
}

static void *sleep_twice(void *nothing)
{
    __atomic_store_n(&sleeper, gettid(), __ATOMIC_RELEASE);
    nap();
    return nothing;
}

HIDDEN static void pass(long milliseconds)
{
    struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    while (nanosleep(&left, &left) < 0)
        ;
}

HIDDEN static char state_of(pid_t tid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *name_end = got > 0 ? strrchr(text, ')') : NULL;
    close(fd);
    return name_end ? name_end[2] : '?';
}

/* Waits until the thread sleeps in nap, for that semaphore: it sees the one before as taken. */
HIDDEN static void await_sleep(sem_t *taken)
{
    int value = 1;
    pid_t tid = 0;
    while (!(tid = __atomic_load_n(&sleeper, __ATOMIC_ACQUIRE)))
        pass(1);
    while (taken && value)
        if (sem_getvalue(taken, &value) == 0 && value)
            pass(1);
    pass(20); /* on its way there it may wait for other things */
    while (state_of(tid) != 'S')
        pass(1);
}

HIDDEN int main(int argc, char **argv)
{
    const long milliseconds = argc > 1 ? atol(argv[1]) : 200;
    pthread_t thread;
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 0);
    if (pthread_create(&thread, NULL, sleep_twice, NULL) != 0)
        return 1;
    if (argc <= 2)
        sem_post(&first);
    await_sleep(argc <= 2 ? &first : NULL);
    dwell_pause(DWELL_PROCESS, DWELL_CURRENT);
    if (argc > 2) {
        sem_post(&first);
        await_sleep(&first);
    }
    pass(milliseconds / 4);
    dwell_resume(DWELL_PROCESS, DWELL_CURRENT);
    pass(milliseconds);
    sem_post(&second);
    return pthread_join(thread, NULL);
}
