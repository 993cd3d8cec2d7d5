/* causes WHAT: waits whose objects, numbers and causes are known. Each wait begins well before what ends it. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, WAIT_MS = 20, MS = 1000000 };

#define UNSEEN __attribute__((no_instrument_function))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int turn;

/* The state of a process' first thread, such as S. By bare system calls, which are not rows. */
UNSEEN static char state_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY),
               length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[length > 0 ? length : 0] = 0;
    const char *end = strrchr(text, ')');
    return end ? end[2] : 0;
}

UNSEEN static void pass(long ms)
{
    struct timespec time = { 0, ms * MS };
    syscall(SYS_nanosleep, &time, NULL);
}

/* Returns a while after the other thread, or the parent, has begun to wait. */
UNSEEN static void rest(void)
{
    const pid_t other = syscall(SYS_gettid) == getpid() ? getppid() : getpid();
    while (state_of(other) != 'S')
        pass(1);
    pass(WAIT_MS);
}

/* Waits without the system until it is the caller's turn. */
UNSEEN static void await(int number)
{
    while (turn < number)
        __asm__ volatile("" ::: "memory");
}

static void hold_lock(int round)
{
    turn = 2 * round + 1;
    rest();
}

static void *lock_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        hold_lock(i);
        pthread_mutex_unlock(&mutex);
        await(2 * i + 2);
    }
    return unused;
}

static void want_lock(int round)
{
    await(2 * round + 1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    turn = 2 * round + 2;
}

static void *write_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_wrlock(&rwlock);
        hold_lock(i);
        pthread_rwlock_unlock(&rwlock);
        await(2 * i + 2);
    }
    return unused;
}

static void want_to_read(int round)
{
    await(2 * round + 1);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    turn = 2 * round + 2;
}

static void give_signal(void)
{
    pthread_mutex_lock(&mutex);
    turn++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static void *signal_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        give_signal();
    }
    return unused;
}

static void await_signal(int round)
{
    pthread_mutex_lock(&mutex);
    while (turn <= round)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void *post_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        sem_post(&ready);
    }
    return unused;
}

static void await_post(int round)
{
    (void)round;
    sem_wait(&ready);
}

static void *arrive_late(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void arrive_early(int round)
{
    (void)round;
    pthread_barrier_wait(&barrier);
}

static void *end_late(void *unused)
{
    rest();
    return unused;
}

/* Runs `other` on a thread of its own, and `own` for each round. */
static void run_both(void *(*other)(void *), void (*own)(int))
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_setname_np(thread, "other");
    for (int i = 0; own && i < ROUNDS; i++)
        own(i);
    pthread_join(thread, NULL);
}

static void child_work(void)
{
    rest();
}

static void await_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        child_work();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void sleep_often(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec time = { 0, 10 * MS };
        nanosleep(&time, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    if (strcmp(what, "mutex") == 0)
        run_both(lock_often, want_lock);
    else if (strcmp(what, "rwlock") == 0)
        run_both(write_often, want_to_read);
    else if (strcmp(what, "condition") == 0)
        run_both(signal_often, await_signal);
    else if (strcmp(what, "semaphore") == 0)
        run_both(post_often, await_post);
    else if (strcmp(what, "barrier") == 0)
        run_both(arrive_late, arrive_early);
    else if (strcmp(what, "join") == 0)
        run_both(end_late, NULL);
    else if (strcmp(what, "child") == 0)
        await_child();
    else if (strcmp(what, "sleep") == 0)
        sleep_often();
    else
        return 1;
    return 0;
}
