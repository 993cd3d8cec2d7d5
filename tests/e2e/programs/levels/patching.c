/*
 * patching WAY: changes the protection of its own code, and writes to it, while calls of hot_leaf are made. Prints the
 * program's own count of these calls. Ways:
 *   kept      its code is writable from then on
 *   taken     code is writable for each patch alone
 *   taken_bare the same by syscall
 *   hidden    code that nobody runs can be neither read nor run for a moment
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define PAGED __attribute__((noinline, aligned(4096)))

enum { PAGE = 4096, PATCHES = 20000, CALLS = 20 };

static volatile unsigned long calls, others;

PAGED void hot_leaf(void)
{
    calls++;
}

/* In a page of its own, which this program writes to. */
PAGED int patched(void)
{
    others++;
    return 1;
}

/* In a page of its own, too. */
PAGED void hot_hidden(void)
{
    others++;
}

PAGED PLAIN static void call(void)
{
    for (int i = 0; i < CALLS; i++)
        hot_leaf();
}

static int bare;

PLAIN static void protect(void (*begin)(void), int protection)
{
    const size_t size = protection == PROT_NONE ? PAGE : 3 * PAGE;
    void *at = (void *)begin;
    if (bare ? syscall(SYS_mprotect, at, size, protection) : mprotect(at, size, protection))
        exit(4);
}

/* Its code lies between hot_leaf and hot_hidden, in memory as in the source. */
PLAIN static void patch(void)
{
    volatile char *at = (volatile char *)hot_leaf + PAGE + PAGE - 1; /* behind the code of `patched` */
    *at = (char)(*at + 1);
}

/* Lets levels change. */
PLAIN static void wait_a_moment(int i)
{
    if (i % 100 == 0)
        usleep(2000);
}

PLAIN static void keep(void)
{
    protect(hot_leaf, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; i < PATCHES; i++) {
        wait_a_moment(i);
        patch();
        call();
    }
}

PLAIN static void take(void)
{
    for (int i = 0; i < PATCHES; i++) {
        protect(hot_leaf, PROT_READ | PROT_WRITE | PROT_EXEC);
        wait_a_moment(i);
        patch();
        call();
        protect(hot_leaf, PROT_READ | PROT_EXEC);
        call();
    }
}

PLAIN static void take_bare(void)
{
    bare = 1;
    take();
}

PLAIN static void hide(void)
{
    for (int i = 0; i < PATCHES; i++) {
        hot_hidden();
        protect(hot_hidden, PROT_NONE);
        wait_a_moment(i);
        call();
        protect(hot_hidden, PROT_READ | PROT_EXEC);
    }
}

PLAIN int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = { { "kept", keep }, { "taken", take }, { "taken_bare", take_bare }, { "hidden", hide } };
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    patched();
    printf("calls hot_leaf %lu\n", calls);
    return 0;
}
