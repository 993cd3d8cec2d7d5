/* Reasons that lie outside of the calls, which wait. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slow_calls.h"

enum { PIPE_BYTES = 4096, FILE_BYTES = 1 << 20 };

/* ---- a lock that another thread holds ---- */

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

KEPT void evict(void)
{
    pthread_mutex_lock(&cache_lock);
    flags->held = true;
    nap(NAP_MS);
    pthread_mutex_unlock(&cache_lock);
}

KEPT void clean(void)
{
    hold_when_wanted(evict);
}

KEPT void look_up(bool slow)
{
    (void)slow;
    pthread_mutex_lock(&cache_lock);
    compute(1);
    pthread_mutex_unlock(&cache_lock);
}

/* ---- a lock that another process holds ---- */

static pthread_mutex_t *shared_lock;

__attribute__((constructor)) static void make_shared_lock(void)
{
    pthread_mutexattr_t attributes;
    shared_lock = mmap(NULL, sizeof *shared_lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_lock == MAP_FAILED)
        abort();
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(shared_lock, &attributes);
}

KEPT void evict_shared(void)
{
    pthread_mutex_lock(shared_lock);
    flags->held = true;
    nap(NAP_MS);
    pthread_mutex_unlock(shared_lock);
}

KEPT void clean_shared(void)
{
    hold_when_wanted(evict_shared);
}

KEPT void look_up_shared(bool slow)
{
    (void)slow;
    pthread_mutex_lock(shared_lock);
    compute(1);
    pthread_mutex_unlock(shared_lock);
}

/* ---- a lock for readers that a writer holds ---- */

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

KEPT void rebuild(void)
{
    pthread_rwlock_wrlock(&table_lock);
    flags->held = true;
    nap(NAP_MS);
    pthread_rwlock_unlock(&table_lock);
}

KEPT void write_table(void)
{
    hold_when_wanted(rebuild);
}

KEPT void read_table(bool slow)
{
    (void)slow;
    pthread_rwlock_rdlock(&table_lock);
    compute(1);
    pthread_rwlock_unlock(&table_lock);
}

/* ---- an answer that comes late, as it is slow or as another question is before it ---- */

static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t question = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static unsigned waiting, slow_ones, others; /* questions; all under box_lock */
static bool has_answer;

KEPT void answer(bool slowly)
{
    if (slowly)
        nap(NAP_MS);
    pthread_mutex_lock(&box_lock);
    has_answer = true;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&box_lock);
}

KEPT void answer_other(void)
{
    nap(NAP_MS);
}

KEPT void serve(void)
{
    while (!flags->finished) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_mutex_lock(&box_lock);
        while (!waiting && !flags->finished && pthread_cond_timedwait(&question, &box_lock, &until) == 0)
            continue;
        const bool any = waiting, slowly = slow_ones, other = others;
        waiting = slow_ones = others = 0;
        pthread_mutex_unlock(&box_lock);
        if (other)
            answer_other();
        if (any)
            answer(slowly);
    }
}

static void ask_question(bool slow)
{
    pthread_mutex_lock(&box_lock);
    waiting = 1;
    slow_ones = slow;
    has_answer = false;
    pthread_cond_signal(&question);
    while (!has_answer)
        pthread_cond_wait(&answered, &box_lock);
    pthread_mutex_unlock(&box_lock);
}

KEPT void ask(bool slow)
{
    ask_question(slow);
}

KEPT void queue_up(bool slow)
{
    (void)slow;
    ask_question(false);
}

static void queue_other(void)
{
    pthread_mutex_lock(&box_lock);
    others = 1;
    pthread_mutex_unlock(&box_lock);
}

/* ---- a barrier at which one thread is late ---- */

static pthread_barrier_t barrier;
static sem_t rounds;
static volatile bool late;

__attribute__((constructor)) static void make_barrier(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&rounds, 0, 0);
}

KEPT void arrive(bool slow)
{
    if (slow)
        nap(NAP_MS);
    pthread_barrier_wait(&barrier);
}

KEPT void take_part(void)
{
    for (unsigned i = 0; i < CALLS; i++) {
        while (sem_wait(&rounds) != 0)
            continue;
        arrive(late);
    }
}

KEPT void meet(bool slow)
{
    late = slow;
    sem_post(&rounds);
    pthread_barrier_wait(&barrier);
}

/* ---- a pipe that is full ---- */

static int ends[2];

__attribute__((constructor)) static void make_pipe(void)
{
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
        abort();
}

KEPT void drain(void)
{
    char bytes[PIPE_BYTES];
    flags->held = true;
    nap(NAP_MS);
    for (int i = 0; i < 2; i++)
        if (read(ends[0], bytes, sizeof bytes) < 0)
            abort();
}

KEPT void collect(void)
{
    hold_when_wanted(drain);
}

static void fill_pipe(void)
{
    static const char bytes[PIPE_BYTES];
    wait_until_held();
    if (write(ends[1], bytes, sizeof bytes) < 0)
        abort();
}

KEPT void report(bool slow)
{
    static const char bytes[PIPE_BYTES];
    if (slow && write(ends[1], bytes, sizeof bytes) < 0)
        abort();
}

/* ---- files, time and children ---- */

KEPT void save(bool slow)
{
    static const char bytes[FILE_BYTES];
    static int file = -1;
    if (file < 0)
        file = open("slow_calls.saved", O_RDWR | O_CREAT, 0600);
    if (pwrite(file, bytes, sizeof bytes, 0) < 0 || (slow && fsync(file) != 0))
        abort();
}

KEPT void doze(bool slow)
{
    if (slow)
        nap(NAP_MS);
}

/* Nobody answers. */
KEPT void resolve(bool slow)
{
    static int s = -1;
    if (s < 0)
        s = socket(AF_INET, SOCK_DGRAM, 0);
    struct pollfd descriptor = { .fd = s, .events = POLLIN };
    poll(&descriptor, 1, slow ? NAP_MS : 0);
}

KEPT void await_timer(bool slow)
{
    static int timer = -1;
    uint64_t times;
    if (timer < 0)
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const struct itimerspec when = { .it_value = { 0, slow ? NAP_MS * 1000000L : 1 } };
    if (timerfd_settime(timer, 0, &when, NULL) != 0 || read(timer, &times, sizeof times) < 0)
        abort();
}

KEPT void run_child(bool slow)
{
    static char *arguments[] = { "sleep", "0.1", NULL };
    pid_t child;
    int status;
    if (!slow)
        return;
    if (posix_spawn(&child, "/bin/sleep", NULL, NULL, arguments, NULL) != 0)
        abort();
    waitpid(child, &status, 0);
}

const struct slow_cause slow_waits[] = {
    { .name = "lock", .work = look_up, .other = clean, .prepare = wait_until_held },
    { .name = "process", .work = look_up_shared, .other = clean_shared, .forks = true, .prepare = wait_until_held },
    { .name = "writer", .work = read_table, .other = write_table, .prepare = wait_until_held },
    { .name = "late", .work = ask, .other = serve },
    { .name = "queue", .work = queue_up, .other = serve, .prepare = queue_other },
    { .name = "barrier", .work = meet, .other = take_part },
    { .name = "pipe", .work = report, .other = collect, .prepare = fill_pipe },
    { .name = "fsync", .work = save },
    { .name = "sleep", .work = doze },
    { .name = "resolve", .work = resolve },
    { .name = "timer", .work = await_timer },
    { .name = "child", .work = run_child },
    { .name = NULL },
};
