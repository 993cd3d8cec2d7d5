/*
 * soak SEED ROUNDS [THREADS]: does at once everything that is hard for the runtime. Threads work, throw, jump, load and
 * unload libraries and fork, while the handlers of timers interrupt them. Children end in all ways, some by SIGKILL.
 *
 * The program counts every call by caller and callee, in memory that it shares with its children. At the end it prints
 * lines "edge CALLER CALLEE COUNT", which scripts/soak compares with the report. It also prints the resources that it
 * uses, early and at the end.
 */
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "soak.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

edge_counts *soak_edges;

/* With C linkage, names have no parameters that scripts/soak would have to remove. */
extern "C" {

static const char *self, *folder;
static std::atomic<long> victims;
static int threads_wanted = 64;
static long rounds;

/* ---- recorded functions ---- */

KEPT static void leaf(enum soak_function caller)
{
    COUNT(caller, LEAF);
    AFTER;
}

KEPT static void work(enum soak_function caller, int depth)
{
    COUNT(caller, WORK);
    if (depth > 0)
        work(WORK, depth - 1);
    leaf(WORK);
    AFTER;
}

KEPT static void thrower(enum soak_function caller, int depth)
{
    COUNT(caller, THROWER);
    if (depth == 0)
        throw std::runtime_error("thrown");
    thrower(THROWER, depth - 1);
    AFTER;
}

KEPT static void wide(enum soak_function caller)
{
    volatile char room[700];
    COUNT(caller, WIDE);
    room[0] = room[699] = 1;
    leaf(WIDE);
    AFTER;
}

KEPT static void catcher(enum soak_function caller, int depth)
{
    COUNT(caller, CATCHER);
    try {
        thrower(CATCHER, depth);
    } catch (std::exception &) {
        wide(CATCHER);
    }
    leaf(CATCHER);
    AFTER;
}

KEPT static void jumper(enum soak_function caller, jmp_buf *place, int depth)
{
    COUNT(caller, JUMPER);
    if (depth == 0)
        longjmp(*place, 1);
    jumper(JUMPER, place, depth - 1);
    AFTER;
}

KEPT static void landing(enum soak_function caller, int depth)
{
    jmp_buf place;
    COUNT(caller, LANDING);
    if (setjmp(place) == 0)
        jumper(LANDING, &place, depth);
    wide(LANDING);
    AFTER;
}

KEPT static void loader(enum soak_function caller, int which, int times)
{
    char path[4096];
    COUNT(caller, LOADER);
    snprintf(path, sizeof path, "%s/libsoak-%c.so", folder, which ? 'b' : 'a');
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        printf("wrong: %s\n", dlerror());
        return;
    }
    soak_plugin *plugin = (soak_plugin *)dlsym(handle, "soak_plugin_run");
    for (int i = 0; i < times; i++)
        plugin(soak_edges);
    dlclose(handle);
    AFTER;
}

KEPT static void victim(enum soak_function caller)
{
    COUNT(caller, VICTIM);
    AFTER;
}

KEPT static void child(enum soak_function caller, int how)
{
    COUNT(caller, CHILD);
    work(CHILD, 3);
    landing(CHILD, 2); /* no exception: another thread may have held the loader's lock, which libc leaves locked */
    AFTER;
    if (how == 3) /* until the parent kills it; the alarm ends it otherwise */
        for (alarm(20);;)
            victim(CHILD);
}

KEPT static void forker(enum soak_function caller, int how)
{
    COUNT(caller, FORKER);
    pid_t pid = fork();
    if (pid == 0) {
        child(FORKER, how);
        if (how == 0)
            _exit(0);
        if (how == 1)
            syscall(SYS_exit_group, 0);
        execl(self, self, "executed", (char *)nullptr);
        _exit(1);
    }
    if (how == 3) {
        struct timespec millisecond = { 0, 1000000 };
        nanosleep(&millisecond, nullptr);
        kill(pid, SIGKILL);
        victims++;
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        ;
    if (how != 3 && status != 0)
        printf("wrong: a child ended with %x\n", status);
    AFTER;
}

static void handler(int number)
{
    (void)number;
    COUNT(ANY, HANDLER);
    leaf(HANDLER);
}

/* ---- functions that are not recorded ---- */

QUIET static unsigned next(unsigned *state, unsigned below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % below;
}

QUIET static timer_t start_timer()
{
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    const struct itimerspec spec = { { 0, 3000000 }, { 0, 3000000 } };
    timer_settime(timer, 0, &spec, nullptr);
    return timer;
}

struct task {
    unsigned seed;
    bool alternate;
};

KEPT static void turn(enum soak_function caller, unsigned *state)
{
    COUNT(caller, TURN);
    const unsigned what = next(state, 1000);
    if (what < 600)
        work(TURN, (int)next(state, 12));
    else if (what < 800)
        catcher(TURN, (int)next(state, 5));
    else if (what < 980)
        landing(TURN, (int)next(state, 5));
    else if (what < 996)
        loader(TURN, (int)next(state, 2), (int)next(state, 10));
    else
        forker(TURN, (int)next(state, 4));
    AFTER;
}

static void *run(void *argument)
{
    struct task *task = (struct task *)argument;
    COUNT(NOBODY, RUN);
    stack_t stack = {};
    stack.ss_sp = malloc(65536);
    stack.ss_size = 65536;
    if (task->alternate)
        sigaltstack(&stack, nullptr);
    timer_t timer = start_timer();
    for (long i = 0; i < rounds; i++)
        turn(RUN, &task->seed);
    timer_delete(timer);
    stack.ss_flags = SS_DISABLE;
    if (task->alternate)
        sigaltstack(&stack, nullptr);
    free(stack.ss_sp);
    return nullptr;
}

QUIET static long lines_of(const char *path)
{
    FILE *in = fopen(path, "r");
    long lines = 0;
    for (int c; in && (c = getc(in)) != EOF;)
        lines += c == '\n';
    if (in)
        fclose(in);
    return lines;
}

QUIET static long entries_of(const char *path)
{
    DIR *names = opendir(path);
    long count = 0;
    while (names && readdir(names))
        count++;
    if (names)
        closedir(names);
    return count;
}

/* A joined thread is a task for a moment longer, and the runtime's helper may have a file open. What stays is a leak.
 */
QUIET static long entries_that_stay(const char *path, long *before)
{
    long count = entries_of(path);
    for (int i = 0; i < 1000 && *before && count > *before; i++) {
        usleep(1000);
        count = entries_of(path);
    }
    return *before = count;
}

QUIET static void print_use(const char *when)
{
    static long files, tasks;
    long pages = 0, all = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in && fscanf(in, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (in)
        fclose(in);
    printf("use %s %ld %ld %ld %ld\n", when, lines_of("/proc/self/maps"), entries_that_stay("/proc/self/fd", &files),
           entries_that_stay("/proc/self/task", &tasks), pages * 4);
}

/* Runs a wave of threads. The run consists of eight waves. */
KEPT static void wave(enum soak_function caller, unsigned seed)
{
    pthread_t threads[256];
    struct task tasks[256];
    COUNT(caller, WAVE);
    for (int i = 0; i < threads_wanted; i++) {
        tasks[i] = { seed * 1000 + (unsigned)i, i % 2 == 0 };
        pthread_create(&threads[i], nullptr, run, &tasks[i]);
    }
    for (int i = 0; i < threads_wanted; i++)
        pthread_join(threads[i], nullptr);
    AFTER;
}

QUIET static void print_edges()
{
    static const char *const names[] = SOAK_NAMES;
    for (int i = 0; i < FUNCTIONS; i++)
        for (int j = 0; j < FUNCTIONS; j++)
            if ((*soak_edges)[i][j])
                printf("edge %s %s %ld\n", names[i], names[j], (long)(*soak_edges)[i][j]);
    printf("victims %ld\n", (long)victims);
}
}

QUIET int main(int argc, char **argv)
{
    if (argc == 2)
        return 0; /* executed by a child, which only starts and ends */
    static char own[4096], place[4096];
    if (argc < 3 || readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        return 2;
    self = own;
    strcpy(place, own);
    *strrchr(place, '/') = '\0';
    folder = place;
    rounds = atol(argv[2]);
    if (argc > 3)
        threads_wanted = atoi(argv[3]);
    soak_edges =
        (edge_counts *)mmap(nullptr, sizeof *soak_edges, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    for (unsigned i = 0; i < 8; i++) {
        wave(NOBODY, (unsigned)atoi(argv[1]) * 8 + i);
        print_use(i == 1 ? "early" : i == 7 ? "late" : "between");
    }
    print_edges();
    return 0;
}
