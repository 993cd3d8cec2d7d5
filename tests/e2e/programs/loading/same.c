/* same A B TIMES: loads two libraries in turn, and prints how often the second was at the first one's address. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))

QUIET int main(int argc, char **argv)
{
    long times = argc > 3 ? atol(argv[3]) : 1;
    int same = 0;
    for (int i = 0; i < times; i++) {
        void *places[2];
        for (int which = 0; which < 2; which++) {
            void *handle = dlopen(argv[1 + which], RTLD_NOW);
            if (!handle) {
                fputs(dlerror(), stderr);
                return 1;
            }
            void *(*work)(int) = (void *(*)(int))dlsym(handle, "work_in_library");
            places[which] = work(which + 1);
            dlclose(handle);
        }
        same += places[0] == places[1];
    }
    printf(
        "same %d\ncalls inner_a %ld\ncalls inner_b %ld\ncalls begin_a %ld\ncalls begin_b %ld\ncalls end_a %ld\ncalls end_b %ld\n",
        same, times * 3, times * 4, times, times, times, times);
    return 0;
}
