// toggling THREADS MILLISECONDS KINDS [LIBRARY]: threads run functions while another thread changes the levels of some
// of them as fast as possible. The runtime is in the program. KINDS has a letter for each kind of trouble: s signals,
// j longjmp, e exceptions, f forks, d a library that comes and goes. Prints the numbers of calls of the
// others.
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
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
#define FUNCTIONS(F)                                                                                                   \
    F(fixed_run) F(fixed_step) F(fixed_leaf) F(fixed_middle) F(fixed_handle) F(fixed_jump) F(fixed_catch)

enum {
#define NUMBER(name) NUMBER_##name,
    FUNCTIONS(NUMBER) COUNT
};

static std::atomic<unsigned long> calls[COUNT];
static std::atomic<bool> ended;
static std::atomic<void *> in_library;
static const char *kinds, *library;
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
    return n * 3;
}

KEPT void toggled_last(long n)
{
    sink = n;
}

static inline __attribute__((always_inline)) long toggled_inlined(long n)
{
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
    long sum = n > 0 ? toggled_deep(n - 1) + toggled_leaf(n) : fixed_middle(n);
    return sum + (n % 3 == 0 ? fixed_leaf(n) : 0);
}

KEPT long toggled_middle(long n)
{
    return toggled_deep(n) + fixed_leaf(n) + toggled_inlined(n);
}

KEPT long fixed_step(long n)
{
    CALLED(fixed_step);
    return toggled_middle(n % 5) + toggled_leaf(n) + fixed_middle(n);
}

KEPT void fixed_handle(int)
{
    CALLED(fixed_handle);
    sink = toggled_middle(2);
}

static thread_local jmp_buf target;

KEPT void toggled_jumper(long n)
{
    if (n > 0) {
        toggled_jumper(n - 1);
        sink = n;
        return;
    }
    fixed_leaf(n);
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
    (void *)toggled_leaf,   (void *)toggled_last,   (void *)toggled_deep,
    (void *)toggled_middle, (void *)toggled_jumper, (void *)toggled_thrower,
};

QUIET static void *toggle(void *)
{
    enum { OUT = 2 };
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    uint64_t random = 1;
    long changes = 0;
    for (; !ended; changes++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mask = sys_block_signals();
        for (unsigned i = 0; i < sizeof toggled / sizeof *toggled; i++)
            levels_set((uint64_t)toggled[i],
                       (random >> (33 + i) & 1) * (1 + (random >> (43 + i) & 1))); // timed, counted, out
        if (void *function = in_library)
            levels_set((uint64_t)function, random >> 60 & 1 ? OUT : 0);
        levels_settle();
        sys_restore_signals(mask);
        if (changes % 16 == 0)
            usleep(random >> 50 & 2047);
    }
    const uint64_t mask = sys_block_signals();
    for (unsigned i = 0; i < sizeof toggled / sizeof *toggled; i++)
        levels_set((uint64_t)toggled[i], 0);
    levels_settle();
    sys_restore_signals(mask);
    return (void *)changes;
}

QUIET static void *work(void *)
{
    const timer_t timer = start_timer(SIGUSR1, strchr(kinds, 's') ? 50000 : 0);
    for (long n = 0; !ended; n++)
        fixed_run(n);
    timer_delete(timer);
    return NULL;
}

QUIET static void load(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        exit(3);
    void *(*work_in_library)(int) = (void *(*)(int))dlsym(handle, "work_in_library");
    in_library = (void *)work_in_library;
    for (int i = 0; i < 50; i++)
        work_in_library(i % 4);
    dlclose(handle);
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

QUIET int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const int threads = atoi(argv[1]);
    kinds = argv[3];
    library = argc > 4 ? argv[4] : "";
    signal(SIGUSR1, fixed_handle);
    pthread_t *ids = new pthread_t[threads + 2];
    pthread_create(&ids[threads], NULL, toggle, NULL);
    pthread_create(&ids[threads + 1], NULL, disturb, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    usleep(1000 * atoi(argv[2]));
    ended = true;
    void *changes;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_join(ids[threads + 1], NULL);
    pthread_join(ids[threads], &changes);
    printf("changes %ld\n", (long)changes);
#define PRINT(name) printf("calls " #name " %lu\n", calls[NUMBER_##name].load());
    if (!strchr(kinds, 'f')) {
        FUNCTIONS(PRINT)
    }
    return 0;
}
