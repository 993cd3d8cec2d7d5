/* paths WHAT: programs whose critical path is known by construction. Each work_* spins for its CPU time. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, WORKERS = 3, MS = 1000000 };

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))

/* Uses the CPU, by the thread's own clock, so that other programs do not matter. */
UNSEEN static void spin(long us)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* Each environment variable of these names changes a length, in microseconds. */
UNSEEN static long length(const char *name, long usual)
{
    const char *text = getenv(name);
    return text ? atol(text) : usual;
}

static void work_slow(void) APART;
static void work_fast(void) APART;
static void work_last(void) APART;

static long slow_us, fast_us, last_us;

static void work_slow(void)
{
    spin(slow_us);
}

static void work_fast(void)
{
    spin(fast_us);
}

static void work_last(void)
{
    spin(last_us);
}

UNSEEN static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0)
        abort();
    return thread;
}

/* ---- a queue with a condition variable ---- */

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int count;
};

static struct queue queues[WORKERS];

static void queue_put(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count++;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_signal(&q->filled);
}

static void queue_take(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);
    q->count--;
    pthread_mutex_unlock(&q->lock);
}

/* ---- three stages: the second is slow ---- */

static void *stage_two(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        queue_take(&queues[0]);
        work_slow();
        queue_put(&queues[1]);
    }
    return NULL;
}

static void *stage_three(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        queue_take(&queues[1]);
        work_last();
    }
    return NULL;
}

static void pipeline(void)
{
    const pthread_t two = start(stage_two, NULL), three = start(stage_three, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        work_fast();
        queue_put(&queues[0]);
    }
    pthread_join(two, NULL);
    pthread_join(three, NULL);
}

/* ---- a producer that a consumer waits for ---- */

static void *consume(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        queue_take(&queues[0]);
        work_fast();
    }
    return NULL;
}

static void producer(void)
{
    const pthread_t consumer = start(consume, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        work_slow();
        queue_put(&queues[0]);
    }
    pthread_join(consumer, NULL);
}

/* ---- threads that all need one lock ---- */

static pthread_mutex_t convoy_lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&convoy_lock);
        work_slow();
        pthread_mutex_unlock(&convoy_lock);
        work_fast();
    }
    return NULL;
}

static void convoy(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        threads[i] = start(hold_lock, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- a barrier ---- */

static pthread_barrier_t barrier;

static void *arrive_early(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        work_fast();
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *arrive_late(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        work_slow();
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barriers(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    const pthread_t early = start(arrive_early, NULL), late = start(arrive_late, NULL);
    pthread_join(early, NULL);
    pthread_join(late, NULL);
}

/* ---- a pool of threads, and futures ---- */

struct future {
    sem_t done;
    long us;
};

static struct future futures[ROUNDS];
static int next_future;

static void work_on_future(struct future *f) APART;

static void work_on_future(struct future *f)
{
    spin(f->us);
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        queue_take(&queues[0]);
        const int number = __atomic_fetch_add(&next_future, 1, __ATOMIC_RELAXED);
        if (number >= ROUNDS)
            return NULL;
        work_on_future(&futures[number]);
        sem_post(&futures[number].done);
    }
}

static void await_future(struct future *f)
{
    sem_wait(&f->done);
}

/* One job is long: all wait for it. */
static void pool(void)
{
    const pthread_t one = start(serve, NULL), other = start(serve, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        sem_init(&futures[i].done, 0, 0);
        futures[i].us = i ? fast_us : 5 * slow_us;
    }
    for (int i = 0; i < ROUNDS + 2; i++)
        queue_put(&queues[0]);
    for (int i = 0; i < ROUNDS; i++)
        await_future(&futures[i]);
    work_last();
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

/* ---- a reader-writer lock ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t written;

static void *write_data(void *unused)
{
    (void)unused;
    pthread_rwlock_wrlock(&rwlock);
    sem_post(&written);
    sem_post(&written);
    work_slow();
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}

static void *read_data(void *unused)
{
    (void)unused;
    sem_wait(&written);
    pthread_rwlock_rdlock(&rwlock);
    work_fast();
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}

static void readers(void)
{
    sem_init(&written, 0, 0);
    const pthread_t writer = start(write_data, NULL), one = start(read_data, NULL), other = start(read_data, NULL);
    pthread_join(writer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

/* ---- a child ---- */

static void child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        work_slow();
        exit(0);
    }
    work_fast();
    waitpid(pid, NULL, 0);
    work_last();
}

/* ---- a child that begins late ---- */

/* In the child, inside fork. */
UNSEEN static void begin_late(void)
{
    usleep(30000);
}

static void late_child(void)
{
    pthread_atfork(NULL, NULL, begin_late);
    child();
}

/* ---- a child by pipes ---- */

static void send_byte(int pipe)
{
    if (write(pipe, "x", 1) != 1)
        abort();
}

static void await_byte(int pipe)
{
    char byte;
    if (read(pipe, &byte, 1) != 1)
        abort();
}

/* Each byte makes the child work, and the answer makes the parent work. */
static void pipes(void)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        abort();
    const pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < ROUNDS; i++) {
            await_byte(to[0]);
            work_slow();
            send_byte(from[1]);
        }
        exit(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        send_byte(to[1]);
        await_byte(from[0]);
        work_fast();
    }
    waitpid(pid, NULL, 0);
    work_last();
}

/* ---- a child of a thread ---- */

static void *make_child(void *unused)
{
    (void)unused;
    work_fast();
    child();
    return NULL;
}

static void forker(void)
{
    pthread_join(start(make_child, NULL), NULL);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = { { "pipeline", pipeline }, { "producer", producer }, { "convoy", convoy }, { "barrier", barriers },
                  { "pool", pool },         { "rwlock", readers },    { "child", child },   { "pipes", pipes },
                  { "forker", forker },     { "late", late_child } };
    slow_us = length("SLOW_US", 20000);
    fast_us = length("FAST_US", 5000);
    last_us = length("LAST_US", 2000);
    for (int i = 0; i < WORKERS; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].filled, NULL);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (count == 2 && strcmp(arguments[1], parts[i].name) == 0) {
            parts[i].run();
            return 0;
        }
    fprintf(stderr, "usage: paths WHAT\n");
    return 2;
}
