/* control CASE: switches its recording on and off, and prints what a report must then contain. */
#include <dwell/dwell.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

static long inside, outside, opened;

/* Recorded or not recorded, as the caller says. */
KEPT static void leaf(long *counter)
{
    ++*counter;
}

KEPT static void middle(long *counter, int times)
{
    for (int i = 0; i < times; i++)
        leaf(counter);
    __asm__ volatile("");
}

QUIET static void say(const char *name, long calls)
{
    printf("calls %s %ld\n", name, calls);
}

QUIET static void check(const char *what, int status, int wanted)
{
    if (status != wanted)
        printf("wrong: %s is %d, not %d\n", what, status, wanted);
}

/* Off and on within one function, for the thread, the process and the session. */
QUIET static void levels(void)
{
    static const enum dwell_level level[] = { DWELL_GLOBAL, DWELL_PROCESS, DWELL_THREAD };
    const uint32_t id[] = { 0, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid) };
    for (int i = 0; i < 3; i++) {
        middle(&inside, 10);
        check("pause", dwell_pause(level[i], id[i]), DWELL_OK);
        middle(&outside, 10);
        check("pause again", dwell_pause(level[i], DWELL_CURRENT), DWELL_OK);
        check("resume", dwell_resume(level[i], id[i]), DWELL_OK);
        middle(&outside, 10); /* pauses nest */
        check("stop", dwell_stop(level[i], id[i]), DWELL_OK);
        check("resume", dwell_resume(level[i], id[i]), DWELL_OK);
        middle(&outside, 10); /* not paused any more, but stopped */
        check("start", dwell_start(level[i], id[i]), DWELL_OK);
        middle(&inside, 10);
        check("resume", dwell_resume(level[i], id[i]), DWELL_OK);
        check("pause", dwell_pause(level[i], id[i]), DWELL_OK);
        middle(&inside, 10); /* below zero, and back: on all the time */
    }
    say("middle", 9);
    say("leaf", inside);
}

/* Recording begins in the middle of a stack, and ends at another depth. */
KEPT static void deep(int depth, int off, int on)
{
    if (depth == off)
        dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    if (depth == on)
        dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    if (depth < 40)
        deep(depth + 1, off, on);
    else
        leaf(&opened);
    __asm__ volatile("");
}

KEPT static void closer(int depth)
{
    if (depth < 30)
        closer(depth + 1);
    else
        dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    __asm__ volatile("");
}

QUIET static void stacks(void)
{
    deep(0, 10, 20); /* 10 more are open at the resume: 10 calls less */
    deep(0, 10, 35); /* 25 more: too many for one record */
    closer(0);       /* all of them end in the pause */
    dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    leaf(&inside);
    say("deep", 41 - 11 + 41 - 26 + 2);
    say("closer", 31);
    say("leaf", 3);
}

static sem_t asleep, awake;

static void *sleeper(void *unused)
{
    (void)unused;
    leaf(&inside);
    sem_post(&asleep);
    while (sem_wait(&awake) < 0)
        ;
    leaf(&inside);
    return NULL;
}

/* One thread sleeps through several changes; another thread switches a second one. */
QUIET static void others(void)
{
    pthread_t thread;
    sem_init(&asleep, 0, 0);
    sem_init(&awake, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, sleeper, NULL);
        sem_wait(&asleep);
        for (int j = 0; j < 100 * i + 5; j++) {
            dwell_pause(DWELL_PROCESS, DWELL_CURRENT);
            leaf(&outside);
            dwell_resume(DWELL_PROCESS, DWELL_CURRENT);
        }
        sem_post(&awake);
        pthread_join(thread, NULL);
    }
    say("sleeper", 2);
    say("leaf", inside);
}

QUIET static void marks(void)
{
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    middle(&inside, 1);
    check("mark", dwell_mark(1), DWELL_OK);
    const uint64_t then = dwell_time();
    middle(&inside, 1);
    check("mark 0", dwell_mark(0), DWELL_RESERVED);
    check("comment", dwell_mark_comment(2, "two; \"quoted\" \xc3\xa9"), DWELL_OK);
    check("long", dwell_mark_comment(3, text), DWELL_TRUNCATED);
    check("at", dwell_mark_at(then, 4, "then"), DWELL_OK);
    dwell_pause(DWELL_THREAD, DWELL_CURRENT);
    check("off", dwell_mark(5), DWELL_IS_OFF);
    dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    check("name", dwell_name(DWELL_THREAD, DWELL_CURRENT, "worker bee"), DWELL_OK);
    check("name again", dwell_name(DWELL_THREAD, DWELL_CURRENT, "other"), DWELL_NAMED);
    check("name digit", dwell_name(DWELL_PROCESS, DWELL_CURRENT, "1st"), DWELL_BAD_NAME);
    check("name empty", dwell_name(DWELL_PROCESS, DWELL_CURRENT, ""), DWELL_BAD_NAME);
    check("name long", dwell_name(DWELL_PROCESS, DWELL_CURRENT, "an_all_too_long_name_for_a_process"), DWELL_TRUNCATED);
    check("no level", dwell_pause((enum dwell_level)9, 0), DWELL_NO_LEVEL);
    check("no thread", dwell_pause(DWELL_THREAD, 1), DWELL_NO_ID);
    check("no process", dwell_pause(DWELL_PROCESS, 1), DWELL_NO_ID);
    check("name global", dwell_name(DWELL_GLOBAL, 0, "x"), DWELL_NO_LEVEL);
    say("middle", 2);
    say("leaf", 2);
}

/* A child inherits the process' state, and switches only itself. */
QUIET static void family(void)
{
    dwell_pause(DWELL_PROCESS, DWELL_CURRENT);
    if (fork() == 0) {
        leaf(&outside);
        dwell_resume(DWELL_PROCESS, DWELL_CURRENT);
        leaf(&inside);
        _exit(0);
    }
    int status;
    wait(&status);
    leaf(&outside);
    dwell_resume(DWELL_PROCESS, DWELL_CURRENT);
    leaf(&inside);
    say("leaf", 2);
}

/* For --paused. */
QUIET static void started(void)
{
    leaf(&outside);
    check("start", dwell_start(DWELL_PROCESS, DWELL_CURRENT), DWELL_OK);
    leaf(&inside);
    say("leaf", 1);
}

/* Many short pauses. */
QUIET static void often(void)
{
    for (int i = 0; i < 100000; i++) {
        leaf(&inside);
        dwell_pause(DWELL_THREAD, DWELL_CURRENT);
        leaf(&outside);
        dwell_resume(DWELL_THREAD, DWELL_CURRENT);
    }
    say("leaf", inside);
}

QUIET static void alone(void)
{
    check("there", dwell_is_there(), 0);
    check("pause", dwell_pause(DWELL_THREAD, DWELL_CURRENT), DWELL_NOT_RECORDED);
    check("mark", dwell_mark(1), DWELL_NOT_RECORDED);
    check("name", dwell_name(DWELL_THREAD, DWELL_CURRENT, "x"), DWELL_NOT_RECORDED);
    check("dump", dwell_dump("x"), DWELL_NOT_RECORDED);
    check("time", dwell_time() != 0, 0);
    dwell_fiber_switch(dwell_fiber_create(NULL, 0));
    dwell_fiber_destroy(NULL);
}

/* Of an older runtime, which has dwell_runtime_time and no other function. */
QUIET static void older(void)
{
    check("there", dwell_is_there(), 1);
    check("time", dwell_time() == 1, 1);
    check("pause", dwell_pause(DWELL_THREAD, DWELL_CURRENT), DWELL_NOT_RECORDED);
    check("mark", dwell_mark(1), DWELL_NOT_RECORDED);
    check("dump", dwell_dump("x"), DWELL_NOT_RECORDED);
    check("fiber", dwell_fiber_create(NULL, 0) != NULL, 0);
    dwell_fiber_switch(NULL);
    dwell_fiber_destroy(NULL);
}

enum { DUMPERS = 4, DUMPS = 50 };

static pthread_barrier_t dumpers;
static int dumped[DUMPERS];

QUIET static void *dumper(void *number)
{
    int *const status = number;
    for (int i = 0; i < DUMPS; i++) {
        pthread_barrier_wait(&dumpers);
        *status = dwell_dump("dumped.data");
        if (pthread_barrier_wait(&dumpers) != PTHREAD_BARRIER_SERIAL_THREAD)
            continue;
        int done = 0;
        for (int j = 0; j < DUMPERS; j++) {
            done += dumped[j] == DWELL_OK;
            check("a dump", dumped[j], dumped[j] ? DWELL_FAILED : DWELL_OK);
        }
        check("dumps that are done", done > 0, 1);
    }
    return NULL;
}

/* Several threads dump to one file at once. */
QUIET static void dumps(void)
{
    pthread_t threads[DUMPERS];
    middle(&inside, 20000); /* several chunks */
    pthread_barrier_init(&dumpers, NULL, DUMPERS);
    for (int i = 0; i < DUMPERS; i++)
        pthread_create(&threads[i], NULL, dumper, &dumped[i]);
    for (int i = 0; i < DUMPERS; i++)
        pthread_join(threads[i], NULL);
    say("leaf", 20000);
}

QUIET static void dump(void)
{
    middle(&inside, 5);
    check("dump", dwell_dump("dumped.data"), DWELL_OK);
    check("dump on others", dwell_dump("/dev/null"), DWELL_FAILED);
    middle(&inside, 5);
    say("leaf", 10);
}

QUIET int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "levels", levels }, { "stacks", stacks },   { "others", others }, { "marks", marks },
                  { "family", family }, { "started", started }, { "often", often },   { "alone", alone },
                  { "older", older },   { "dump", dump },       { "dumps", dumps } };
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        errno = 77;
        cases[i].run();
        check("errno", errno, 77);
        return 0;
    }
    return 2;
}
