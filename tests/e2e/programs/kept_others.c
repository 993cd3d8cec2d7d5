/* kept_others CALLS MORE: so many calls of handle, each of which waits 200 ms for a lock that another process holds in
 * hold. When the call has ended, that one makes MORE calls of step, which fill its ring. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 200 };

#define KEPT __attribute__((noinline, noclone))

static volatile unsigned sink;

KEPT static void step(void)
{
    sink++;
}

KEPT static void steps(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        step();
}

KEPT static void hold(pthread_mutex_t *lock, int ready)
{
    const struct timespec time = { 0, NAP_MS * 1000000L };
    pthread_mutex_lock(lock);
    if (write(ready, "", 1) != 1)
        abort();
    nanosleep(&time, NULL);
    pthread_mutex_unlock(lock);
}

/* Until nobody asks any more. */
KEPT static void serve(pthread_mutex_t *lock, int asked, int ready, unsigned more)
{
    char byte;
    while (read(asked, &byte, 1) == 1) {
        hold(lock, ready);
        if (read(asked, &byte, 1) == 1) /* the call has ended */
            steps(more);
    }
}

KEPT static void handle(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

static pthread_mutex_t *make_lock(void)
{
    pthread_mutexattr_t shared;
    pthread_mutex_t *lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lock == MAP_FAILED)
        abort();
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(lock, &shared);
    return lock;
}

int main(int argc, char **argv)
{
    int asks[2], readies[2];
    char byte;
    if (argc < 3 || pipe(asks) < 0 || pipe(readies) < 0)
        return 2;
    pthread_mutex_t *lock = make_lock();
    const pid_t child = fork();
    if (child == 0) {
        close(asks[1]);
        serve(lock, asks[0], readies[1], (unsigned)atoi(argv[2]));
        _exit(0);
    }
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (write(asks[1], "", 1) != 1 || read(readies[0], &byte, 1) != 1)
            return 1;
        handle(lock);
        if (write(asks[1], "", 1) != 1)
            return 1;
    }
    close(asks[1]);
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
