/*
 * walking [LIBRARY OTHER]: forks while another thread walks the loader's list, and so holds a lock that nobody releases
 * in the child. With a LIBRARY, which its thread loads, the walk is that of the recording runtime, which the program
 * slows down; the child loads the OTHER one. Without, the program's own thread walks, and the child's calls fill
 * chunks. Prints the numbers of calls. A child that hangs ends by SIGALRM, and the program with status 1.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

enum { ROUNDS = 5, CALLS = 200000, LIMIT = 100 };

static atomic_int walking, forked;
static volatile long sink;

QUIET static void rest(void)
{
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

QUIET static void wait_for(atomic_int *what)
{
    while (!atomic_load(what))
        rest();
}

__attribute__((noinline)) static void step(long n)
{
    sink = n;
}

#ifndef STATIC
static _Thread_local bool slow;
static int (*slowed)(struct dl_phdr_info *, size_t, void *);

/* Half of the walk comes after the fork, unless the fork waits for the walk. */
QUIET static int visit_slowly(struct dl_phdr_info *info, size_t size, void *data)
{
    if (slow) {
        slow = false;
        atomic_store(&walking, 1);
        for (int i = 0; i < LIMIT && !atomic_load(&forked); i++)
            rest();
    }
    return slowed(info, size, data);
}

QUIET int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *) =
        (int (*)(int (*)(struct dl_phdr_info *, size_t, void *), void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    if (!slow)
        return real(visit, data);
    slowed = visit;
    return real(visit_slowly, data);
}

/* The probe after dlopen walks, if the thread has been recorded before. */
QUIET static void *load(void *library)
{
    step(0);
    void *handle = dlopen(library, RTLD_NOW);
    slow = true;
    step(0);
    atomic_store(&walking, 1); /* if the runtime did not walk */
    wait_for(&forked);
    dlclose(handle);
    return NULL;
}

QUIET static int load_in_child(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW);
    void *(*work)(int) = handle ? (void *(*)(int))dlsym(handle, "work_in_library") : NULL;
    return work && work(3) ? 0 : 2;
}
#endif

QUIET static int visit_and_wait(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    atomic_store(&walking, 1);
    wait_for(&forked);
    return 1;
}

QUIET static void *walk(void *nothing)
{
    dl_iterate_phdr(visit_and_wait, NULL);
    return nothing;
}

QUIET static int child(const char *library)
{
    (void)library;
    alarm(100);
    for (long i = 0; i < CALLS; i++)
        step(i);
#ifndef STATIC
    if (library)
        return load_in_child(library);
#endif
    return 0;
}

QUIET static int run(char *library, const char *other)
{
    pthread_t thread;
    int status;
    atomic_store(&walking, 0);
    atomic_store(&forked, 0);
#ifndef STATIC
    pthread_create(&thread, NULL, library ? load : walk, library);
#else
    pthread_create(&thread, NULL, walk, library);
#endif
    wait_for(&walking);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child(other));
    atomic_store(&forked, 1);
    pthread_join(thread, NULL);
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

QUIET int main(int argc, char **argv)
{
    step(0);
    for (int i = 0; i < ROUNDS; i++)
        if (run(argv[1], argc > 2 ? argv[2] : NULL) != 0)
            return 1;
    printf("calls step %d\n", 1 + ROUNDS * (CALLS + (argv[1] ? 2 : 0)));
    if (argc > 2)
        printf("calls work_in_library %d\ncalls inner_a %d\ncalls inner_b %d\n", ROUNDS, ROUNDS * 2, ROUNDS * 4);
    return 0;
}
