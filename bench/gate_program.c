/* A program for bench/gate: gate_program KIND. Each kind does the same work in each run. What differs is how much the
 * threads wait for each other. SLOWER is how many percent more `parse` does. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifndef SLOWER
#define SLOWER 0
#endif

enum { THREADS = 4, REQUESTS = 60000, ROUNDS = 4000, PARSE = 20000, RENDER = 12000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long total;
static unsigned queued;
static __thread volatile unsigned long sink;

/* The sum stays in a register. In memory, a step takes as long as the processor needs to forward a store to a load, and
 * that differs by half from run to run. */
static inline __attribute__((always_inline, no_instrument_function)) void work(unsigned steps, unsigned long factor)
{
    unsigned long sum = sink;
    for (unsigned i = 0; i < steps; i++) {
        sum = sum * factor + i;
        __asm__ volatile("" : "+r"(sum));
    }
    sink = sum;
}

static void parse(void)
{
    work(PARSE * (100 + SLOWER) / 100, 31);
}

static void render(void)
{
    work(RENDER, 33);
}

static void add(unsigned long amount)
{
    pthread_mutex_lock(&mutex);
    total += amount;
    pthread_mutex_unlock(&mutex);
}

static void *adds(void *unused)
{
    for (unsigned i = 0; i < REQUESTS / THREADS; i++)
        add(i);
    return unused;
}

static void *works(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        parse();
        render();
        add(sink & 1);
    }
    return unused;
}

static int queue_is_empty(void)
{
    return !queued;
}

static void take(void)
{
    pthread_mutex_lock(&mutex);
    while (queue_is_empty())
        pthread_cond_wait(&changed, &mutex);
    queued--;
    pthread_mutex_unlock(&mutex);
}

static void *takes(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        take();
        render();
    }
    return unused;
}

static void *puts_requests(void *unused)
{
    for (unsigned i = 0; i < THREADS * ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        queued++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *does_nothing(void *unused)
{
    return unused;
}

static void run(unsigned count, void *(*start)(void *), void *(*first)(void *))
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, start, NULL);
    first(NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
    const char *kind = count == 2 ? arguments[1] : "";
    if (strcmp(kind, "adds") == 0)
        run(THREADS, adds, does_nothing);
    else if (strcmp(kind, "threads") == 0)
        run(THREADS, works, does_nothing);
    else if (strcmp(kind, "queue") == 0)
        run(THREADS, takes, puts_requests);
    else if (strcmp(kind, "single") == 0)
        run(0, works, works);
    else
        return fprintf(stderr, "usage: gate_program adds|threads|queue|single\n"), 2;
    return 0;
}
