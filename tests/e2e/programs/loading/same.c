/* same A B TIMES [fork|beside]: loads two libraries in turn, and prints how often the second was at the first one's
 * address. With `fork`, a fork's handler unloads the first one and loads the second one, when nothing may ask the
 * loader. With `beside`, it waits until another thread has done so. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static char **names;
static void *handle;
static void *places[2];
static int next;
static sem_t forking, replaced;

QUIET static void load_next(void)
{
    handle = dlopen(names[next], RTLD_NOW);
    if (!handle) {
        fputs(dlerror(), stderr);
        exit(1);
    }
    void *(*work)(int) = (void *(*)(int))dlsym(handle, "work_in_library");
    places[next] = work(next + 1);
    next = !next;
}

QUIET static void replace(void)
{
    dlclose(handle);
    load_next();
}

QUIET static void let_replace(void)
{
    sem_post(&forking);
    sem_wait(&replaced);
}

QUIET static void *replace_in_fork(void *nothing)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return nothing;
}

QUIET static void replace_beside_fork(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, replace_in_fork, NULL);
    sem_wait(&forking);
    replace();
    sem_post(&replaced);
    pthread_join(thread, NULL);
}

QUIET int main(int argc, char **argv)
{
    const long times = argc > 3 ? atol(argv[3]) : 1;
    const bool beside = argc > 4 && strcmp(argv[4], "beside") == 0;
    int same = 0;
    names = argv + 1;
    sem_init(&forking, 0, 0);
    sem_init(&replaced, 0, 0);
    if (argc > 4)
        pthread_atfork(beside ? let_replace : replace, NULL, NULL);
    for (int i = 0; i < times; i++) {
        load_next();
        if (beside)
            replace_beside_fork();
        else if (argc > 4)
            replace_in_fork(NULL);
        else
            replace();
        dlclose(handle);
        same += places[0] == places[1];
    }
    printf(
        "same %d\ncalls inner_a %ld\ncalls inner_b %ld\ncalls begin_a %ld\ncalls begin_b %ld\ncalls end_a %ld\ncalls end_b %ld\n",
        same, times * 3, times * 4, times, times, times, times);
    return 0;
}
