/* late LIBRARY: not instrumented. Calls a function of an instrumented library that it loads. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    union {
        void *found;
        void *(*call)(int);
    } work = { NULL };
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library)
        work.found = dlsym(library, "work_in_library");
    if (!work.found)
        return 2;
    for (int i = 0; i < 1000; i++)
        work.call(2);
    dlclose(library);
    printf("calls work_in_library 1000\ncalls inner_a 2002\n");
    return 0;
}
