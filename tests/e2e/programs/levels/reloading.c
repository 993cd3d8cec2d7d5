/* reloading LIBRARY: prints its pid, then unloads and loads the library at each line that it reads, and calls it. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static __attribute__((noinline)) void unloaded(void)
{
    __asm__ volatile("");
}

QUIET int main(int argc, char **argv)
{
    char line[8];
    void *handle = NULL;
    printf("%d\n", getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (handle)
            dlclose(handle);
        unloaded(); /* the runtime looks at the modules */
        mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
        if (!handle)
            return 1;
        void *(*work)(int) = NULL;
        *(void **)&work = dlsym(handle, "work_in_library");
        work(10);
        puts("done");
        fflush(stdout);
    }
    if (handle)
        dlclose(handle);
    return 0;
}
