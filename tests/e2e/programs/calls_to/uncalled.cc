/* Calls functions of each kind that --calls-to leaves alone, and prints what they did. -DLIBRARY: the library, which
 * has thread-local variables and a function with two versions. */
#ifdef LIBRARY

extern "C" {
extern __thread long uncalled_kept;
__thread long uncalled_kept;
long uncalled_next(void);
long uncalled_chosen(long n);
}

long uncalled_next(void)
{
    return ++uncalled_kept;
}

__attribute__((no_instrument_function)) static long chosen_one(long n)
{
    return n + 1;
}

typedef long chosen_type(long);

/* The loader calls it before the library has its addresses. */
extern "C" __attribute__((no_instrument_function, used)) chosen_type *uncalled_resolve(void)
{
    return chosen_one;
}

long uncalled_chosen(long n) __attribute__((ifunc("uncalled_resolve")));

#else

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define NO_PROBES __attribute__((noinline, no_instrument_function))

extern "C" {
extern __thread long uncalled_kept;
long uncalled_next(void);
long uncalled_chosen(long n);
}

enum { ROUNDS = 10 };

/* ---- what returns twice ---- */

static int jumps()
{
    jmp_buf plain;
    sigjmp_buf with_mask;
    volatile int sum = 0;
    for (volatile int i = 1; i <= ROUNDS; i++) {
        const int first = setjmp(plain);
        sum = sum + first;
        if (!first)
            longjmp(plain, i);
        const int second = sigsetjmp(with_mask, 1);
        sum = sum + second;
        if (!second)
            siglongjmp(with_mask, 100 * i);
        const int third = _setjmp(plain);
        sum = sum + third;
        if (!third)
            _longjmp(plain, 10000 * i);
    }
    return sum;
}

static int ended(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int children()
{
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = vfork();
        if (child == 0)
            _exit(i);
        sum += ended(child);
        child = fork();
        if (child == 0)
            _exit(10 * i);
        sum += ended(child);
    }
    return sum;
}

static int contexts()
{
    ucontext_t here;
    volatile int times = 0;
    getcontext(&here);
    times = times + 1;
    if (times < ROUNDS)
        setcontext(&here);
    return times;
}

/* ---- what changes the stack ---- */

static ucontext_t outside, inside;
static int switched;

static void switching()
{
    for (;;) {
        switched++;
        swapcontext(&inside, &outside);
    }
}

static int stacks()
{
    static char stack[1 << 16];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = nullptr;
    makecontext(&inside, switching, 0);
    for (int i = 0; i < ROUNDS; i++)
        swapcontext(&outside, &inside);
    return switched;
}

NO_PROBES static int cloned(void *number)
{
    return *(int *)number;
}

static int clones()
{
    static char stack[1 << 16];
    int number = 7, status = 0;
    const pid_t child = clone(cloned, stack + sizeof stack, CLONE_VM, &number);
    waitpid(child, &status, __WALL);
    return WEXITSTATUS(status) + (syscall(SYS_getpid) == getpid());
}

/* ---- what looks at its caller ---- */

extern "C" int uncalled_here(void)
{
    return 0;
}

static int note_module(struct dl_phdr_info *info, size_t, void *count)
{
    ++*(int *)count;
    return info->dlpi_addr == 0 && info->dlpi_phnum == 0;
}

extern char __executable_start, etext;

static bool in_program(const void *at)
{
    return (const char *)at >= &__executable_start && (const char *)at < &etext;
}

static int callers()
{
    Dl_info info;
    void *stack[64];
    int good = 0, modules = 0;
    void *self = dlopen(nullptr, RTLD_NOW), *other = dlopen("libm.so.6", RTLD_NOW);
    good += self != nullptr && other != nullptr;
    good += dlsym(RTLD_NEXT, "uncalled_next") == dlsym(RTLD_DEFAULT, "uncalled_next");
    good += dlvsym(RTLD_NEXT, "qsort", "GLIBC_2.2.5") != nullptr || dlsym(RTLD_NEXT, "qsort") != nullptr;
    good += dlsym(RTLD_NEXT, "uncalled_nowhere") == nullptr && dlerror() != nullptr;
    good += dladdr((void *)uncalled_chosen, &info) && strstr(info.dli_fname, "uncalled") != nullptr;
    dl_iterate_phdr(note_module, &modules);
    good += modules > 3;
    const int depth = backtrace(stack, 64);
    good += depth > 2 && in_program(stack[0]) && in_program(stack[1]);
    char **names = backtrace_symbols(stack, depth);
    good += names != nullptr;
    free(names);
    good += dlclose(other) == 0 && dlclose(self) == 0;
    return good;
}

/* ---- exceptions ---- */

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *found)
{
    *(int *)found += in_program((const void *)_Unwind_GetIP(context));
    return _URC_NO_REASON;
}

static int exceptions()
{
    int sum = 0, frames = 0;
    for (int i = 0; i < ROUNDS; i++) {
        std::exception_ptr kept;
        try {
            try {
                throw std::runtime_error("once");
            } catch (const std::exception &e) {
                sum += (int)strlen(e.what());
                throw;
            }
        } catch (...) {
            kept = std::current_exception();
        }
        try {
            std::rethrow_exception(kept);
        } catch (const std::runtime_error &e) {
            sum += 100 * (int)strlen(e.what());
        }
    }
    _Unwind_Backtrace(note_frame, &frames);
    return sum + (frames >= 2);
}

/* ---- what does not return ---- */

static void ends_well()
{
    _exit(21);
}

NO_PROBES static void end(int how)
{
    switch (how) {
    case 0:
        atexit(ends_well);
        exit(1);
    case 1:
        at_quick_exit(ends_well);
        quick_exit(1);
    case 2:
        _Exit(21);
    case 3:
        execl("/bin/sh", "sh", "-c", "exit 21", nullptr);
        break;
    case 4: {
        char name[] = "sh", option[] = "-c", command[] = "exit 21";
        char *const arguments[] = { name, option, command, nullptr };
        execvp("sh", arguments);
        break;
    }
    case 5:
        std::set_terminate(ends_well);
        std::terminate();
    default:
        abort();
    }
}

static void *leaving(void *number)
{
    pthread_exit((char *)number + 1);
}

static int endings()
{
    int sum = 0;
    for (int how = 0; how < 7; how++) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            end(how);
        sum += ended(child);
    }
    pthread_t thread;
    void *result = nullptr;
    pthread_create(&thread, nullptr, leaving, (void *)41);
    pthread_join(thread, &result);
    return sum + (int)(long)result;
}

/* ---- signals, which return by code of libc's that nothing calls ---- */

static volatile sig_atomic_t handled;

static void handle(int)
{
    handled = handled + 1;
}

static int signals()
{
    struct sigaction action = {};
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, nullptr);
    for (int i = 0; i < ROUNDS; i++)
        raise(SIGUSR1);
    return handled;
}

/* ---- variables of threads, and functions with versions ---- */

static void *of_thread(void *sum)
{
    for (int i = 0; i < ROUNDS; i++)
        *(long *)sum += uncalled_next() + uncalled_chosen(0);
    *(long *)sum += 1000 * uncalled_kept;
    return nullptr;
}

static long variables()
{
    pthread_t thread;
    long sum = 0;
    pthread_create(&thread, nullptr, of_thread, &sum);
    pthread_join(thread, nullptr);
    of_thread(&sum);
    return sum;
}

int main()
{
    printf("twice %d %d %d\n", jumps(), children(), contexts());
    printf("stacks %d %d\n", stacks(), clones());
    printf("callers %d\n", callers());
    printf("exceptions %d\n", exceptions());
    printf("endings %d\n", endings());
    printf("signals %d\n", signals());
    printf("variables %ld\n", variables());
    return 0;
}
#endif
