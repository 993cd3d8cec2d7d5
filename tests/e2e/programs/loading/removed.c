/*
 * removed HOW LIBRARY [OTHER]: loads a library, and at once removes its file (HOW is "removed") or puts the file OTHER
 * in its place ("replaced"); "program": puts OTHER in place of its own file, before it loads the library. Calls
 * three functions of the library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void call(void *(*work)(int))
{
    work(3);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "program") == 0 && rename(argv[3], argv[0]) < 0)
        return 1;
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (!library)
        return 1;
    if (strcmp(argv[1], "removed") == 0 && unlink(argv[2]) < 0)
        return 1;
    if (argc > 3 && strcmp(argv[1], "replaced") == 0 && rename(argv[3], argv[2]) < 0)
        return 1;
    call((void *(*)(int))dlsym(library, "work_in_library"));
    return 0;
}
