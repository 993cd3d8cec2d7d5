/*
 * across THREADS ROUNDS [LIBRARY]: threads call functions whose probe calls lie across cache lines, in the program or
 * in a library that is loaded and unloaded. Each time the functions are to be counted, timed and counted again: the
 * program prints `want LEVEL` until the code says that they are. Then each thread calls them ROUNDS times more, and so
 * does a forked child. Prints how many calls lead to stubs that count when the functions are counted, and the number of
 * calls. Exits with status 3 if a level does not come.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "across.h"

#define PLAIN __attribute__((no_instrument_function))

enum { MOST = 64, LIVES = 2, WAITS = 60000 /* milliseconds */ };

static across_function **functions;
static unsigned long *rounds_done; /* shared with children */
static unsigned long rounds;
static int threads, come; /* the level that is waited for has come */

PLAIN static void call_all(void)
{
    for (int i = 0; i < ACROSS_COUNT; i++)
        functions[i]();
    __atomic_fetch_add(rounds_done, 1, __ATOMIC_RELAXED);
}

/* Whether the call leads to a stub that counts: its first instruction reads the thread's directory of counters. */
PLAIN static bool is_counted(across_function *function)
{
    static const unsigned char reads[] = { 0x64, 0x48, 0x8b, 0x04, 0x25 };
    const unsigned char *call = (const unsigned char *)(uintptr_t)function + ACROSS_CALL;
    int32_t displacement;
    memcpy(&displacement, call + 1, sizeof displacement);
    return *call == 0xe8 && memcmp(call + 5 + displacement, reads, sizeof reads) == 0;
}

/* Whether it leads to the linker's stub for the probe. */
PLAIN static bool is_timed(across_function *function)
{
    static const unsigned char landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }, jump[] = { 0xff, 0x25 };
    const unsigned char *call = (const unsigned char *)(uintptr_t)function + ACROSS_CALL, *target;
    int32_t displacement;
    memcpy(&displacement, call + 1, sizeof displacement);
    target = call + 5 + displacement;
    if (memcmp(target, landing, sizeof landing) == 0)
        target += sizeof landing;
    int32_t slot; /* a stub of the runtime has what it jumps to right behind it */
    memcpy(&slot, target + sizeof jump, sizeof slot);
    return *call == 0xe8 && memcmp(target, jump, sizeof jump) == 0 && slot > 16;
}

PLAIN static int number(bool (*is)(across_function *function))
{
    int found = 0;
    for (int i = 0; i < ACROSS_COUNT; i++)
        found += is(functions[i]);
    return found;
}

PLAIN static void *run(void *data)
{
    while (!__atomic_load_n(&come, __ATOMIC_ACQUIRE))
        call_all();
    for (unsigned long i = 0; i < rounds; i++)
        call_all();
    return data;
}

PLAIN static void run_in_child(void)
{
    const pid_t made = fork();
    if (made == 0) {
        for (unsigned long i = 0; i < rounds; i++)
            call_all();
        _exit(0);
    }
    while (waitpid(made, NULL, 0) < 0)
        ;
}

PLAIN static void wait_for(const char *level, int (*wanted)(void))
{
    pthread_t list[MOST];
    come = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&list[i], NULL, run, NULL);
    for (int i = 0; !wanted(); i++) {
        if (i == WAITS)
            exit(3);
        if (i % 100 == 0)
            printf("want %s\n", level), fflush(stdout);
        usleep(1000);
    }
    __atomic_store_n(&come, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < threads; i++)
        pthread_join(list[i], NULL);
    run_in_child();
    printf("%s: %d lead to stubs that count, %d to the probe\n", level, number(is_counted), number(is_timed));
    fflush(stdout);
}

/* The others are checked. */
PLAIN static int are_counted(void)
{
    return number(is_counted) == 64 && !number(is_timed);
}

PLAIN static int are_timed(void)
{
    return number(is_timed) == ACROSS_COUNT;
}

PLAIN static void live(void)
{
    wait_for("counted", are_counted);
    wait_for("timed", are_timed);
    wait_for("counted", are_counted);
}

PLAIN int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    threads = atoi(argv[1]);
    rounds = strtoul(argv[2], NULL, 10);
    rounds_done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc == 3) {
        functions = across_functions;
        live();
    }
    for (int i = 0; argc > 3 && i < LIVES; i++) {
        void *library = dlopen(argv[3], RTLD_NOW);
        functions = library ? dlsym(library, "across_functions") : NULL;
        if (!functions)
            return puts(dlerror()), 2;
        live();
        dlclose(library);
    }
    for (int i = 0; i < ACROSS_COUNT; i++)
        printf("calls hot_%d %lu\n", i, *rounds_done);
    return 0;
}
