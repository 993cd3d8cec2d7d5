/*
 * Calls functions whose values are recorded, and prints the values in the caller: valued how [rounds]
 *   calls    many calls of all kinds of parameters
 *   results  calls that return something; those within them write to the file `twice`
 *   threads  the same from four threads, which print nothing: thread t makes `rounds` calls with n = t
 *   fork     `rounds` calls with n = 1, then as many with n = 2 in a forked child
 *   bad      addresses that cannot be read
 *   stack    such addresses above a stack of the program's own
 *   long     long texts
 *   state    what a probe must not change
 *   signals  calls in a handler that interrupts calls
 *   enums    calls with enumerations, whose names are printed
 */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

enum kind { KIND_LOW = -3, KIND_HIGH = 70000 };

struct request {
    struct request *next;
    long length;
    unsigned bits : 5;
    char name[24];
};

enum colour { RED, GREEN = 200, CRIMSON = 0 };
enum change { CHANGE_DOWN = -1, CHANGE_NONE, CHANGE_UP };
enum access { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_BOTH = 3, ACCESS_RUN = 16 };
enum large { LARGE_FIRST = 1, LARGE_LAST = 0xfffffffffffffff0 };

static volatile uint64_t sink;

NOT_INLINED static int work(long n, const char *text, const struct request *request, enum kind kind, bool good,
                            unsigned char byte)
{
    sink += (uint64_t)n + strlen(text) + (uint64_t)request->length + (uint64_t)kind + good + byte;
    return (int)(sink % 7);
}

NOT_INLINED static int few(int n)
{
    sink += (uint64_t)n;
    return n + (int)(sink % 3);
}

NOT_INLINED static void point(const long *number, const char *text)
{
    sink += (uint64_t)number;
    sink += (uint64_t)text;
}

struct choice {
    enum change change : 4;
};

NOT_INLINED static void choose(enum colour colour, enum change change, enum access access, const enum large *large,
                               const struct choice *choice)
{
    sink += (uint64_t)colour + (uint64_t)change + (uint64_t)access + (uint64_t)*large + (uint64_t)choice->change;
}

/* ---- calls ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static void calls(long rounds)
{
    static const char *const texts[] = { "", "GET", "a name with spaces, and \"quotes\"",
                                         "0123456789012345678901234567890123456789012345678901234567890123",
                                         "01234567890123456789012345678901234567890123456789012345678901234" };
    for (long i = 0; i < rounds; i++) {
        struct request last = { .length = (long)random_below(9) - 4 };
        struct request request = { .next = &last, .length = 1L << random_below(40), .bits = random_below(32) };
        const long n = (long)random_below(50) - 25;
        const unsigned text = (unsigned)random_below(5);
        const enum kind kind = random_below(2) ? KIND_LOW : KIND_HIGH;
        const bool good = random_below(2);
        const unsigned char byte = (unsigned char)random_below(256);
        snprintf(request.name, sizeof request.name, "name %u", (unsigned)random_below(7));
        work(n, texts[text], &request, kind, good, byte);
        printf("%ld|%.64s%s|%ld|%ld|%u|%s|%d|%s|%u\n", n, texts[text], text == 4 ? "..." : "", request.length,
               last.length, request.bits, request.name, (int)kind, good ? "true" : "false", byte);
    }
}

/* ---- enumerations ---- */

static void enums(long rounds)
{
    static const struct {
        enum colour colour;
        enum change change;
        enum access access;
        enum large large;
        const char *names;
    } all[] = {
        { RED, CHANGE_DOWN, ACCESS_NONE, LARGE_LAST, "RED|CHANGE_DOWN|ACCESS_NONE|LARGE_LAST" },
        { GREEN, CHANGE_UP, ACCESS_BOTH, LARGE_FIRST, "GREEN|CHANGE_UP|ACCESS_BOTH|LARGE_FIRST" },
        { (enum colour)7, (enum change)(-5), (enum access)18, (enum large)5, "7|-5|ACCESS_WRITE+ACCESS_RUN|5" },
        { GREEN, CHANGE_NONE, (enum access)20, LARGE_FIRST, "GREEN|CHANGE_NONE|20|LARGE_FIRST" },
    };
    for (long i = 0; i < rounds; i++) {
        const long which = i % 4;
        const struct choice choice = { .change = which % 2 ? CHANGE_UP : CHANGE_DOWN };
        choose(all[which].colour, all[which].change, all[which].access, &all[which].large, &choice);
        printf("%s|%s\n", all[which].names, which % 2 ? "CHANGE_UP" : "CHANGE_DOWN");
    }
}

/* ---- results ---- */

/* Each call but the last one makes another one. */
NOT_INLINED static long twice(long n)
{
    long below = 0;
    if (n > 0)
        below = twice(n - 1);
    sink += (uint64_t)n;
    return n + below;
}

NOT_INLINED static int scaled(long n)
{
    sink += (uint64_t)n;
    const long below = twice(n & 3);
    return (int)(n * 3 - below);
}

static void results(long rounds)
{
    FILE *out = fopen("twice", "w");
    for (long i = 0; i < rounds && out; i++) {
        const long n = (long)random_below(40) - 20;
        printf("%ld|%d\n", n, scaled(n));
        for (long j = n & 3; j >= 0; j--)
            fprintf(out, "%ld\n", j * (j + 1) / 2);
    }
    if (out)
        fclose(out);
}

/* ---- threads and processes ---- */

static long thread_rounds;

static void *thread_calls(void *number)
{
    for (long i = 0; i < thread_rounds; i++)
        few((int)(intptr_t)number);
    return NULL;
}

static void threads(long rounds)
{
    pthread_t all[4];
    thread_rounds = rounds;
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, thread_calls, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

static void forks(long rounds)
{
    thread_rounds = rounds;
    thread_calls((void *)1);
    const pid_t child = fork();
    if (child == 0) {
        thread_calls((void *)2);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- addresses ---- */

static volatile sig_atomic_t faults;

static void on_fault(int number)
{
    (void)number;
    faults = faults + 1;
    _exit(3);
}

static void bad(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *empty = tmpfile();
    char *behind = mmap(NULL, page, PROT_READ, MAP_SHARED, fileno(empty), 0);
    struct sigaction action = { .sa_handler = on_fault };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    mprotect(pages + page, page, PROT_NONE);
    munmap(pages + 3 * page, page);
    memcpy(pages + page - 4, "end", 4);
    memset(pages + 3 * page - 4, 'x', 4);
    long good = 42;
    point(&good, pages + page - 4);                                /* readable up to the page's end */
    point((const long *)(pages + page - 4), pages + 3 * page - 4); /* half, and a text without an end */
    point(NULL, NULL);
    point((const long *)8, (const char *)8);
    point((const long *)(pages + page), pages + page);
    point((const long *)(pages + 3 * page), pages + 3 * page);
    point((const long *)behind, behind);
    point((const long *)UINT64_MAX, (const char *)UINT64_MAX);
    point((const long *)0x8000000000000000u, (const char *)0x8000000000000000u);
    printf("faults %d\n", (int)faults);
}

static void (*volatile on_other_stack)(void);

/* Calls on_other_stack with that stack pointer. Nobody is told of the stack. */
__attribute__((no_instrument_function)) static void switch_stack(char *top)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %%rbx\n movq %0, %%rsp\n callq *%1\n movq %%rbx, %%rsp\n"
                     :
                     : "r"(top), "r"(on_other_stack)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
    (void)top;
#endif
}

static char *above;

static void point_above(void)
{
    for (size_t at = 16; at < 32768; at += 4096)
        point((const long *)(above + at), above + at);
}

static void own_stack(void)
{
    const size_t size = 64 << 10;
    char *stack = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = { .sa_handler = on_fault };
    sigaction(SIGSEGV, &action, NULL);
    above = stack + size;
    mprotect(above, size, PROT_NONE);
    on_other_stack = point_above;
    switch_stack(above);
    printf("faults %d\n", (int)faults);
}

/* ---- long texts ---- */

NOT_INLINED static void long_texts(const char *a, const char *b, const char *c, int n)
{
    sink += strlen(a) + strlen(b) + strlen(c) + (uint64_t)n;
}

/* Texts of 1 to 1,500 bytes. */
static void with_long_texts(void)
{
    char text[1501] = "";
    for (int length = 1; length <= 1500; length *= 2) {
        memset(text, 'a' + length % 7, (size_t)length);
        long_texts(text, text, text, length);
    }
    memset(text, 'z', 1500);
    long_texts(text, text, text, 1500);
}

/* ---- state ---- */

NOT_INLINED static long many(long a, long b, long c, long d, long e, long f, long g, double h, double i, float j)
{
    const int error = errno, rounding = fegetround();
    sink += (uint64_t)(a + b + c);
    return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + (long)(h * 4) + (long)(i * 8) + (long)(j * 16) +
           error + rounding;
}

static void state(long rounds)
{
    long wrong = 0;
    fesetround(FE_UPWARD);
    for (long i = 0; i < rounds; i++) {
        errno = (int)(i % 100);
        const long want = i + 2 * (i + 1) + 3 * (i + 2) + 5 * (i + 3) + 7 * (i + 4) + 11 * (i + 5) + 13 * (i + 6) +
                          2 * i + 2 * i + 8 * i + i % 100 + FE_UPWARD;
        wrong += many(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, (double)i / 2, (double)i / 4, (float)i / 2) != want;
        wrong += errno != i % 100;
        wrong += fegetround() != FE_UPWARD;
    }
    printf("wrong %ld\n", wrong);
}

/* ---- signals ---- */

static volatile long handled;

static void on_alarm(int number)
{
    (void)number;
    for (int i = 0; i < 100; i++)
        few(1000);
    handled = handled + 100;
}

static void in_signals(long rounds)
{
    const struct itimerval timer = { { 0, 500 }, { 0, 500 } }, none = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (long i = 0; i < rounds; i++)
        few((int)(i % 10));
    while (!handled)
        few(10);
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%ld\n", handled);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (strcmp(how, "calls") == 0)
        calls(rounds);
    else if (strcmp(how, "results") == 0)
        results(rounds);
    else if (strcmp(how, "threads") == 0)
        threads(rounds);
    else if (strcmp(how, "fork") == 0)
        forks(rounds);
    else if (strcmp(how, "bad") == 0)
        bad();
    else if (strcmp(how, "stack") == 0)
        own_stack();
    else if (strcmp(how, "long") == 0)
        with_long_texts();
    else if (strcmp(how, "state") == 0)
        state(rounds);
    else if (strcmp(how, "signals") == 0)
        in_signals(rounds);
    else if (strcmp(how, "enums") == 0)
        enums(rounds);
    return 0;
}
