/*
 * Frames that end without returning: cancelled threads (with cleanup handlers), pthread_exit and exit deep in a stack,
 * and functions that do not return. Also frames of unusual sizes: alloca, variable arrays, tail calls.
 */
#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))
#define AFTER __asm__ volatile("")

static sem_t ready;
static volatile char sink;

KEPT static void leaf(void)
{
    AFTER;
}

KEPT static void cleanup(void *unused)
{
    (void)unused;
    leaf();
    AFTER;
}

/* ---- cancelled ---- */

/* If a cancelled C function has no unwind information, libc jumps itself. Only frames as large as this one show that
 * others were left (docs/runtime.md, known limits). */
KEPT static void wait_for_ever(void)
{
    volatile char room[300];
    room[0] = room[299] = 1;
    sem_post(&ready);
    for (;;)
        pthread_testcancel();
}

KEPT static void spin_for_ever(void)
{
    int before;
    volatile char room[300];
    room[0] = room[299] = 1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    sem_post(&ready);
    for (;;)
        AFTER;
}

KEPT static void dive(int depth, void (*bottom)(void))
{
    pthread_cleanup_push(cleanup, NULL);
    if (depth > 0)
        dive(depth - 1, bottom);
    else
        bottom();
    AFTER;
    pthread_cleanup_pop(0);
}

static void *deferred(void *unused)
{
    dive(2, wait_for_ever);
    return unused;
}

static void *asynchronous(void *unused)
{
    dive(2, spin_for_ever);
    return unused;
}

/* ---- ended ---- */

KEPT static __attribute__((noreturn)) void end_thread(void)
{
    leaf();
    pthread_exit(NULL);
}

KEPT static void end_thread_below(int depth)
{
    if (depth > 0)
        end_thread_below(depth - 1);
    else
        end_thread();
    AFTER;
}

static void *ended(void *unused)
{
    end_thread_below(3);
    return unused;
}

/* ---- unusual frames ---- */

KEPT static void grow(size_t size)
{
    char *room = alloca(size);
    memset(room, 1, size);
    leaf();
    sink = room[size / 2];
    leaf();
}

KEPT static void vary(size_t size)
{
    for (size_t i = 1; i < 4; i++) {
        char room[size * i];
        memset(room, 1, sizeof room);
        leaf();
        sink = room[size / 2];
    }
    leaf();
}

static void ping(int count);

KEPT static void pong(int count)
{
    if (count > 0)
        ping(count - 1); /* the last call */
}

KEPT static void ping(int count)
{
    if (count > 0)
        pong(count - 1);
}

static void (*volatile next)(void) = leaf;

KEPT static void hand_over(void)
{
    next();
}

/* ---- jumps ---- */

static jmp_buf place;
static sigjmp_buf signal_place;

KEPT static void small(int which)
{
    if (which == 0)
        longjmp(place, 1);
    else
        siglongjmp(signal_place, 1);
}

/* Its frame is larger than the one that was left, and covers its place. */
KEPT static void wide(void)
{
    volatile char room[600];
    room[0] = room[599] = 1;
    leaf();
    AFTER;
}

KEPT static void jump(void)
{
    if (setjmp(place) == 0)
        small(0);
    wide();
    if (sigsetjmp(signal_place, 1) == 0)
        small(1);
    wide();
    AFTER;
}

/* ---- the end ---- */

KEPT static void at_the_end(void)
{
    leaf();
    AFTER;
}

KEPT static __attribute__((noreturn)) void finish(void)
{
    leaf();
    exit(7);
}

KEPT static void finish_below(int depth)
{
    if (depth > 0)
        finish_below(depth - 1);
    else
        finish();
    AFTER;
}

QUIET static void run(void *(*start)(void *), int cancel)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, start, NULL);
    if (cancel) {
        while (sem_wait(&ready) < 0)
            ;
        pthread_cancel(thread);
    }
    pthread_join(thread, &result);
}

int main(void)
{
    sem_init(&ready, 0, 0);
    for (int i = 0; i < 5; i++) {
        run(deferred, 1);
        run(asynchronous, 1);
        run(ended, 0);
        grow(100);
        grow(10000);
        vary(50);
        ping(4);
        jump();
        hand_over();
    }
    atexit(at_the_end);
    finish_below(3);
}
