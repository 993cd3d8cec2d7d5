// toggling THREADS MILLISECONDS KINDS [LIBRARY]: threads run functions while another thread changes the levels of some
// of them as fast as possible. The runtime is in the program. KINDS has a letter for each kind of trouble: s signals,
// j longjmp, e exceptions, f forks, d a library that comes and goes, c no level but timed and counted, k a kill after
// that time. Prints the numbers of calls, with c of all functions, else of those with one level. STATIC programs have
// no dlopen.
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#ifndef STATIC
#include <dlfcn.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "../signals/thread_timer.h"
uint32_t levels_set(uint64_t function, unsigned level);
bool levels_settle(void);
uint64_t sys_block_signals(void);
void sys_restore_signals(uint64_t mask);
}

#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))
#define FIXED(F) F(fixed_run) F(fixed_step) F(fixed_leaf) F(fixed_middle) F(fixed_handle) F(fixed_jump) F(fixed_catch)
#define TOGGLED(F)                                                                                                     \
    F(toggled_leaf)                                                                                                    \
    F(toggled_last) F(toggled_inlined) F(toggled_deep) F(toggled_middle) F(toggled_jumper) F(toggled_thrower)

enum {
#define NUMBER(name) NUMBER_##name,
    FIXED(NUMBER) TOGGLED(NUMBER) NUMBER_work_in_library,
    COUNT
};

static std::atomic<unsigned long> *calls; // shared with forked children
static std::atomic<bool> ended;
static std::atomic<long> changes;
static std::atomic<void *> in_library;
static const char *kinds, *library;
static long most; // runs of a thread: on a busy machine, 50 changes take long, and a ring must hold all calls
static volatile long sink;

#define CALLED(name) calls[NUMBER_##name].fetch_add(1, std::memory_order_relaxed)

extern "C" {
KEPT long fixed_leaf(long n)
{
    CALLED(fixed_leaf);
    return n + 1;
}

KEPT long toggled_leaf(long n)
{
    CALLED(toggled_leaf);
    return n * 3;
}

KEPT void toggled_last(long n)
{
    CALLED(toggled_last);
    sink = n;
}

inline __attribute__((always_inline)) long toggled_inlined(long n)
{
    CALLED(toggled_inlined);
    return n & 1 ? fixed_leaf(n) : toggled_leaf(n);
}

KEPT long fixed_middle(long n)
{
    CALLED(fixed_middle);
    toggled_last(n);
    return toggled_inlined(n) + fixed_leaf(n) + toggled_inlined(n + 1);
}

KEPT long toggled_deep(long n)
{
    CALLED(toggled_deep);
    long sum = n > 0 ? toggled_deep(n - 1) + toggled_leaf(n) : fixed_middle(n);
    return sum + (n % 3 == 0 ? fixed_leaf(n) : 0);
}

KEPT long toggled_middle(long n)
{
    CALLED(toggled_middle);
    return toggled_deep(n) + fixed_leaf(n) + toggled_inlined(n);
}

KEPT long fixed_step(long n)
{
    CALLED(fixed_step);
    return toggled_middle(n % 5) + toggled_leaf(n) + fixed_middle(n);
}

KEPT void fixed_handle(int number)
{
    CALLED(fixed_handle);
    sink = toggled_middle(2);
    next_signal(number);
}

static thread_local jmp_buf target;
static volatile bool jumps = true;

KEPT void toggled_jumper(long n)
{
    CALLED(toggled_jumper);
    if (n > 0) {
        toggled_jumper(n - 1);
        sink = n;
        return;
    }
    fixed_leaf(n);
    if (jumps)
        longjmp(target, 1);
}

KEPT void fixed_jump(void)
{
    CALLED(fixed_jump);
    if (setjmp(target) == 0)
        toggled_jumper(3);
    fixed_leaf(1);
}

KEPT void toggled_thrower(long n)
{
    CALLED(toggled_thrower);
    if (n > 0) {
        toggled_thrower(n - 1);
        sink = n;
        return;
    }
    fixed_leaf(n);
    throw n;
}

KEPT void fixed_catch(void)
{
    CALLED(fixed_catch);
    try {
        toggled_thrower(3);
    } catch (long) {
        fixed_leaf(2);
    }
}

KEPT void fixed_run(long n)
{
    CALLED(fixed_run);
    for (long i = 0; i < 20; i++)
        sink = fixed_step(n + i);
    if (strchr(kinds, 'j'))
        fixed_jump();
    if (strchr(kinds, 'e'))
        fixed_catch();
}
}

static void *const toggled[] = {
    (void *)toggled_leaf,   (void *)toggled_last,   (void *)toggled_inlined, (void *)toggled_deep,
    (void *)toggled_middle, (void *)toggled_jumper, (void *)toggled_thrower,
};

enum { TIMED, COUNTED, OUT };

QUIET static unsigned level_of(uint64_t bits)
{
    return bits & 1 ? COUNTED : bits & 2 && !strchr(kinds, 'c') ? OUT : TIMED;
}

QUIET static void *toggle(void *)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    uint64_t random = 1;
    for (; !ended; changes++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mask = sys_block_signals();
        for (unsigned i = 0; i < sizeof toggled / sizeof *toggled; i++)
            levels_set((uint64_t)toggled[i], level_of(random >> (33 + 2 * i)));
        if (void *function = in_library)
            levels_set((uint64_t)function, level_of(random >> 60));
        levels_settle();
        sys_restore_signals(mask);
        if (changes % 16 == 0)
            usleep(random >> 50 & 2047);
    }
    const uint64_t mask = sys_block_signals();
    for (unsigned i = 0; i < sizeof toggled / sizeof *toggled; i++)
        levels_set((uint64_t)toggled[i], TIMED);
    levels_settle();
    sys_restore_signals(mask);
    return NULL;
}

QUIET static void *work(void *)
{
    const timer_t timer = start_timer(SIGUSR1, strchr(kinds, 's') ? 50000 : 0);
    for (long n = 0; !ended && n < most; n++)
        fixed_run(n);
    while (!ended)
        usleep(1000);
    timer_delete(timer);
    return NULL;
}

QUIET static void load(void)
{
#ifndef STATIC
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        exit(3);
    void *(*work_in_library)(int) = (void *(*)(int))dlsym(handle, "work_in_library");
    in_library = (void *)work_in_library;
    for (int i = 0; i < 50; i++)
        work_in_library(i % 4);
    calls[NUMBER_work_in_library] += 50;
    dlclose(handle);
#endif
}

QUIET static void make_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            sink = toggled_middle(4);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

QUIET static void *disturb(void *)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!ended) {
        if (strchr(kinds, 'd'))
            load();
        if (strchr(kinds, 'f'))
            make_child();
        usleep(200);
    }
    return NULL;
}

QUIET static void run(int threads, long milliseconds)
{
    pthread_t *ids = new pthread_t[threads + 2];
    most = (strchr(kinds, 'k') ? 100000000 : 100000) / threads;
    pthread_create(&ids[threads], NULL, toggle, NULL);
    pthread_create(&ids[threads + 1], NULL, disturb, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    do
        usleep(1000 * milliseconds);
    while (changes < 50);
    ended = true;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_join(ids[threads + 1], NULL);
    pthread_join(ids[threads], NULL);
    printf("changes %ld\n", changes.load());
}

QUIET static void run_and_kill(int threads, long milliseconds)
{
    const pid_t child = fork();
    if (child == 0)
        run(threads, 3600000);
    usleep(1000 * milliseconds);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

QUIET int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    kinds = argv[3];
    library = argc > 4 ? argv[4] : "";
    calls = (std::atomic<unsigned long> *)mmap(NULL, COUNT * sizeof *calls, PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGUSR1, fixed_handle);
    (strchr(kinds, 'k') ? run_and_kill : run)(atoi(argv[1]), atol(argv[2]));
#define PRINT(name) printf("calls " #name " %lu\n", calls[NUMBER_##name].load());
    FIXED(PRINT)
    if (strchr(kinds, 'c')) {
        TOGGLED(PRINT)
    }
    if (strchr(kinds, 'c') && strchr(kinds, 'd'))
        PRINT(work_in_library)
    return 0;
}
