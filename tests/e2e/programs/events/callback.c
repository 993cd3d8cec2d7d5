/* callback SCENARIO: prints each call of a control callback, and the results of a few calls, a line each. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwell/event.h"

static struct dwell_event_class shop =
    DWELL_EVENT_CLASS("shop", 0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void work_of_callback(void)
{
    dwell_event_write(&shop, 10, 0, 0, "in callback", 11);
}

static void on_control(struct dwell_event_class *c, uint32_t request, uint8_t level, uint32_t flags, void *context)
{
    pthread_mutex_lock(&lock);
    work_of_callback(); /* before the line, which may make the tests end the program */
    printf("%s %s %u %u %d%s\n", request == WMI_ENABLE_EVENTS ? "enable" : "disable", c->name, level, flags,
           dwell_event_level(c), context == &shop ? "" : " wrong context");
    fflush(stdout);
    calls++;
    pthread_cond_signal(&called);
    pthread_mutex_unlock(&lock);
}

static struct dwell_event_control control = { .event_class = &shop, .callback = on_control, .context = &shop };

static void wait_for_calls(int wanted)
{
    pthread_mutex_lock(&lock);
    while (calls < wanted)
        pthread_cond_wait(&called, &lock);
    pthread_mutex_unlock(&lock);
}

/* The callback's thread prints after this one. */
static void add(const char *more)
{
    pthread_mutex_lock(&lock);
    printf("add %d\n%s", dwell_event_add_control(&control), more);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    printf("register %d\n", dwell_event_register(&shop));
    add("");
}

/* Lines of commands, answered by the callback. */
static int served(void)
{
    char line[32], pid[32];
    printf("register %d\n", dwell_event_register(&shop));
    snprintf(pid, sizeof pid, "%d\n", getpid());
    add(pid);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n") != 0)
        wait_for_calls(atoi(line));
    return 0;
}

/* The program's own switches, with the lock held that the callback takes: none of them waits for it. */
static int own(void)
{
    begin();
    wait_for_calls(1);
    pthread_mutex_lock(&lock);
    dwell_stop(DWELL_PROCESS, DWELL_CURRENT);
    pthread_mutex_unlock(&lock);
    wait_for_calls(2);
    dwell_start(DWELL_PROCESS, DWELL_CURRENT);
    wait_for_calls(3);
    printf("again %d\n", dwell_event_add_control(&control));
    printf("remove %d\n", dwell_event_remove_control(&control));
    printf("remove %d\n", dwell_event_remove_control(&control));
    dwell_stop(DWELL_PROCESS, DWELL_CURRENT);
    dwell_start(DWELL_PROCESS, DWELL_CURRENT);
    usleep(50000);
    add("");
    wait_for_calls(4);
    printf("unregister %d\n", dwell_event_unregister(&shop));
    printf("add %d\n", dwell_event_add_control(&control));
    return 0;
}

static int family(void)
{
    begin();
    wait_for_calls(1);
    if (fork() == 0) {
        dwell_stop(DWELL_PROCESS, DWELL_CURRENT);
        printf("child %d\n", calls);
        dwell_event_register(&shop); /* makes the thread */
        wait_for_calls(2);
        printf("child's end\n");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return 0;
}

/* A callback that removes its own control. */
static void on_control_once(struct dwell_event_class *c, uint32_t request, uint8_t level, uint32_t flags, void *context)
{
    pthread_mutex_lock(&lock);
    printf("remove %d\n", dwell_event_remove_control(context));
    pthread_mutex_unlock(&lock);
    on_control(c, request, level, flags, &shop);
}

static int self(void)
{
    control.callback = on_control_once;
    control.context = &control;
    begin();
    wait_for_calls(1);
    return 0;
}

/* The process ends with its last thread. The one of the callbacks must not be it. */
static int last(void)
{
    begin();
    wait_for_calls(1);
    printf("remove %d\n", dwell_event_remove_control(&control));
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "served") == 0)
        return served();
    if (strcmp(name, "own") == 0)
        return own();
    if (strcmp(name, "family") == 0)
        return family();
    if (strcmp(name, "self") == 0)
        return self();
    if (strcmp(name, "last") == 0)
        return last();
    return 2;
}
