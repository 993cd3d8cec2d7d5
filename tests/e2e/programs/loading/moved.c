/* moved CALLS OTHER: renames its own file to "elsewhere", loads ./libloading-b.so by this name, and leaves the folder.
 * Before and after another library comes and goes, it calls its own function and the library's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

__attribute__((noinline)) static void hot(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) static void hot_at_last(void)
{
    __asm__ volatile("");
}

QUIET static void *load(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW);
    if (!handle) {
        fputs(dlerror(), stderr);
        exit(1);
    }
    return handle;
}

QUIET int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 1;
    if (rename(argv[0], "elsewhere") < 0)
        return 1;
    void *(*work)(int) = (void *(*)(int))dlsym(load("./libloading-b.so"), "work_in_library");
    if (chdir("/") < 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < calls; j++)
            hot();
        work(calls);
        dlclose(load(argv[2]));
    }
    for (int j = 0; j < calls; j++)
        hot_at_last();
    printf("calls hot %d\ncalls hot_at_last %d\ncalls inner_b %d\n", 2 * calls, calls, 2 * calls + 2);
    return 0;
}
