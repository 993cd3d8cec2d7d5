/* openmp-host LIBRARY: loads a library that needs one for OpenMP, of which the program knows nothing, and calls it.
 * Before that, there is no library for OpenMP: a region then has one thread. */
#include <dlfcn.h>
#include <stdlib.h>

typedef void region(void (*run)(void *), void *data, unsigned threads, unsigned flags);

enum { COUNT = 100, WORK_MS = 200 };

static void count_run(void *data)
{
    ++*(int *)data;
}

int main(int argc, char **argv)
{
    int runs = 0;
    region *parallel = (region *)dlsym(RTLD_DEFAULT, "GOMP_parallel");
    if (parallel)
        parallel(count_run, &runs, 4, 0);
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*add)(int) = library ? (int (*)(int))dlsym(library, "add_in_team") : NULL,
        (*work)(int) = library ? (int (*)(int))dlsym(library, "work_in_team") : NULL;
    if (!add || !work || runs > 1)
        return 1;
    for (int i = 0; i < COUNT; i++)
        if (add(COUNT) != COUNT * (COUNT - 1) / 2)
            return 2;
    return work(WORK_MS) > 0 ? 0 : 3;
}
