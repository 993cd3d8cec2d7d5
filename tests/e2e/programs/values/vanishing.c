/* vanishing [ROUNDS]: calls `look` with the address of a page that comes and goes, again and again: with the program's
 * own action for the signals of faults, in a thread that blocks all signals, in a handler that blocks them, and in a
 * child. Each round is ten calls: three times 1, twice 2, once 3, and four times nothing that can be read. Then it goes
 * on while another thread maps the page with 4 and unmaps it so many times. Prints its own faults and those calls. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

enum { PAGE_BYTES = 4096 };

static char *place;
static volatile int own_faults;
static sigjmp_buf back;

__attribute__((noinline, noclone)) static void look(const long *at)
{
    __asm__ volatile("" : : "r"(at) : "memory");
}

QUIET static void need(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

QUIET static void map(int protection, long value)
{
    void *at = mmap(place, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    need(at == place, "mmap");
    *(volatile long *)place = value;
    need(mprotect(place, PAGE_BYTES, protection) == 0, "mprotect");
}

QUIET static void look_at_place(int times)
{
    for (int i = 0; i < times; i++)
        look((const long *)(const void *)place);
}

QUIET static void look_at_file(long value)
{
    char name[] = "vanishing-XXXXXX";
    const int fd = mkstemp(name);
    need(fd >= 0 && unlink(name) == 0 && write(fd, &value, sizeof value) == (ssize_t)sizeof value, "file");
    need(mmap(place, PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == place, "mmap");
    look_at_place(1);
    need(ftruncate(fd, 0) == 0, "ftruncate");
    look_at_place(1);
    close(fd);
}

QUIET static void *run_round(void *unused)
{
    map(PROT_READ, 1);
    look_at_place(2);
    munmap(place, PAGE_BYTES);
    look_at_place(2);
    map(PROT_READ | PROT_WRITE, 1);
    look_at_place(1);
    map(PROT_NONE, 1);
    look_at_place(1);
    map(PROT_READ, 2);
    look_at_place(2);
    look_at_file(3);
    return unused;
}

QUIET static void jump(int number)
{
    own_faults++;
    siglongjmp(back, number);
}

QUIET static void run_in_handler(int number)
{
    (void)number;
    run_round(NULL);
}

QUIET static void fault(void)
{
    map(PROT_NONE, 1);
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)place = 1;
}

static volatile int rounds_left;

QUIET static void *unmap(void *unused)
{
    for (; rounds_left > 0; rounds_left--) {
        map(PROT_READ, 4);
        munmap(place, PAGE_BYTES);
    }
    return unused;
}

QUIET static int race(int rounds)
{
    pthread_t thread;
    int calls = 0;
    rounds_left = rounds;
    need(pthread_create(&thread, NULL, unmap, NULL) == 0, "pthread_create");
    for (; rounds_left > 0; calls++)
        look_at_place(1);
    pthread_join(thread, NULL);
    return calls;
}

QUIET int main(int argc, char **argv)
{
    struct sigaction all = { .sa_handler = run_in_handler };
    pthread_t thread;
    int status;
    sigset_t every;
    place = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(place != MAP_FAILED, "mmap");
    run_round(NULL);
    signal(SIGSEGV, jump);
    signal(SIGBUS, jump);
    run_round(NULL);
    fault();
    need(own_faults == 1, "handler");
    run_round(NULL);
    sigfillset(&all.sa_mask);
    sigfillset(&every);
    need(sigaction(SIGUSR1, &all, NULL) == 0 && raise(SIGUSR1) == 0, "sigaction");
    need(sigprocmask(SIG_BLOCK, &every, NULL) == 0, "sigprocmask");
    run_round(NULL);
    need(pthread_create(&thread, NULL, run_round, NULL) == 0 && pthread_join(thread, NULL) == 0, "pthread_create");
    const pid_t child = fork();
    if (child == 0) {
        run_round(NULL);
        _exit(0);
    }
    need(waitpid(child, &status, 0) == child && status == 0, "child");
    printf("%d %d\n", own_faults, argc > 1 ? race(atoi(argv[1])) : 0);
    return 0;
}
