/* own_base WAY: sets the base of gs itself while the calls of hot_leaf are counted, by the instruction wrgsbase or by a
 * system call of its own ("call"). Prints the program's own count of these calls. Does without where there is no such
 * instruction. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

enum { CALLS = 100000, HAS_GS = 2 };

static unsigned long total;
static unsigned long own[2] = { 11, 12 };

__attribute__((noinline)) void hot_leaf(void)
{
    __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void timed(void)
{
    hot_leaf();
}

#if defined(__x86_64__)

PLAIN static void set_base(bool call)
{
    long result = 0;
    if (call)
        __asm__ volatile("movl $0x1001, %%edi\n\tsyscall"
                         : "=a"(result)
                         : "a"(158), "S"(own)
                         : "rdi", "rcx", "r11", "memory");
    else if (getauxval(AT_HWCAP2) & HAS_GS)
        __asm__ volatile("wrgsbase %0" : : "r"(own) : "memory");
}

PLAIN static bool base_stays(bool call)
{
    unsigned long word = own[1];
    if (call || getauxval(AT_HWCAP2) & HAS_GS)
        __asm__ volatile("movq %%gs:8, %0" : "=r"(word));
    return word == own[1];
}

#else

PLAIN static void set_base(bool call)
{
    (void)call;
}

PLAIN static bool base_stays(bool call)
{
    (void)call;
    return true;
}

#endif

PLAIN int main(int count, char **words)
{
    const bool call = count > 1 && strcmp(words[1], "call") == 0;
    for (int i = 0; i < 100; i++) { /* time to be counted in place */
        usleep(1000);
        timed();
    }
    set_base(call);
    for (int i = 0; i < CALLS; i++)
        hot_leaf();
    timed();
    if (!base_stays(call))
        return 2;
    printf("calls hot_leaf %lu\n", total);
    return 0;
}
