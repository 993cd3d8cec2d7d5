/* Code that is in no file takes most of the time: the kernel's clock (argument "clock"), or code that the program makes
 * ("made"). Beside it, a short function is called, which a budget counts. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { CALLS = 2000000 };

static __attribute__((noinline)) long counted(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}

static __attribute__((noinline)) long ask_clock(void)
{
    struct timespec time;
    long sum = 0;
    for (int i = 0; i < CALLS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &time);
        sum += counted(time.tv_nsec);
    }
    return sum;
}

#if defined(__x86_64__)
/* xor eax, eax; 1: add eax, edi; dec edi; jnz 1b; ret */
static const unsigned char code[] = { 0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3 };

static __attribute__((noinline)) long run_made(int (*made)(int))
{
    long sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += counted(made(60));
    return sum;
}

static long make_code(void)
{
    void *at = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*made)(int);
    if (at == MAP_FAILED)
        return 0;
    memcpy(at, code, sizeof code);
    mprotect(at, sizeof code, PROT_READ | PROT_EXEC);
    memcpy(&made, &at, sizeof made);
    return run_made(made);
}
#else
static long make_code(void)
{
    return 0;
}
#endif

int main(int count, char **arguments)
{
    const long sum = count > 1 && strcmp(arguments[1], "made") == 0 ? make_code() : ask_clock();
    printf("%d\n", sum != 0);
    return 0;
}
