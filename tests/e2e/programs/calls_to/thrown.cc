/* Exceptions, stacks, cancelled threads, signals and a forked child, with calls into libraries below them. */
#include "callee.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
static volatile sig_atomic_t ticks;
static volatile int paused; /* by the thread that is cancelled: no sooner, or it may end before its call */
static void tick(int)
{
    ticks = ticks + 1;
}
static int thrower(int v)
{
    if (v % 3 == 0)
        throw v;
    return v;
}
static int through(int v)
{
    callee_throw(v);
    return v;
}
static int both(int v)
{
    return callee_catch(thrower, v);
}
static long frames(long n)
{
    void *at[64];
    return n * 0 + (backtrace(at, 64) > 4);
}
static void clean(void *p)
{
    *(int *)p = 7;
}
static void *waits(void *p)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr); /* other threads get the signals: so it calls callee_back once */
    pthread_cleanup_push(clean, p);
    for (;;)
        callee_back(
            [](long) -> long {
                paused = 1;
                pause();
                return 0;
            },
            1);
    pthread_cleanup_pop(0);
    return nullptr;
}
static int compare(const void *a, const void *b)
{
    if (*(const int *)a == 77)
        throw 5;
    return *(const int *)a - *(const int *)b;
}
int main()
{
    struct sigaction a = {};
    a.sa_handler = tick;
    sigaction(SIGALRM, &a, nullptr);
    itimerval t = { { 0, 200 }, { 0, 200 } };
    setitimer(ITIMER_REAL, &t, nullptr);
    long sum = 0;
    int caught = 0;
    for (int i = 0; i < 4000; i++) {
        try {
            sum += through(i);
        } catch (const std::runtime_error &e) {
            caught += std::stoi(e.what()) == i;
        }
        sum += both(i);
        int v[4] = { 3, i % 100 == 50 ? 77 : 1, 2, 0 };
        try {
            qsort(v, 4, sizeof *v, compare);
        } catch (int five) {
            caught += five;
        }
        sum += callee_back(frames, i);
        std::string s = std::to_string(i);
        std::vector<std::string> all(5, s);
        std::sort(all.begin(), all.end());
        sum += (long)all[0].size();
    }
    int cleaned = 0;
#ifndef WITHOUT_CANCEL
    pthread_t w;
    pthread_create(&w, nullptr, waits, &cleaned);
    while (!paused)
        usleep(1000);
    pthread_cancel(w);
    pthread_join(w, nullptr);
#endif
    fflush(stdout);
    int st = 0;
#ifndef WITHOUT_FORK
    pid_t p = fork();
    if (!p) {
        for (int i = 0; i < 100; i++)
            sum += callee_ints(i, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        _exit(sum % 100);
    }
    while (waitpid(p, &st, 0) < 0)
        ;
#endif
    printf("%ld %d %d %d\n", sum, caught, cleaned, WEXITSTATUS(st));
    return 0;
}
