/* opener LIBRARY THREADS ROUNDS [MODE]: each thread loads the library, calls it and unloads it, so many times. MODE is
 * lazy, now, deep or apart, which is a namespace of its own. Prints the sum of what the library returned, and whether
 * the library is still loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *library;
static int rounds, mode = RTLD_LAZY, apart;

static long once(void)
{
    void *handle = apart ? dlmopen(LM_ID_NEWLM, library, mode) : dlopen(library, mode);
    long (*run)(const char *) = NULL;
    if (!handle)
        exit(3);
    *(void **)&run = dlsym(handle, "opened_run");
    const long result = run(library);
    dlclose(handle);
    return result;
}

static void *thread(void *sum)
{
    for (int i = 0; i < rounds; i++)
        *(long *)sum += once();
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    long sums[MOST] = { 0 }, all = 0;
    const int count = argc > 3 ? atoi(argv[2]) : 0;
    library = argv[1];
    rounds = count ? atoi(argv[3]) : 0;
    apart = argc > 4 && strcmp(argv[4], "apart") == 0;
    if (argc > 4)
        mode = strcmp(argv[4], "now") == 0    ? RTLD_NOW
               : strcmp(argv[4], "deep") == 0 ? RTLD_LAZY | RTLD_DEEPBIND
                                              : RTLD_LAZY;
    for (int i = 0; i < count && i < MOST; i++)
        pthread_create(&threads[i], NULL, thread, &sums[i]);
    for (int i = 0; i < count && i < MOST; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count && i < MOST; i++)
        all += sums[i];
    printf("%ld %s\n", all, dlopen(library, mode | RTLD_NOLOAD) ? "stays" : "is gone");
    return 0;
}
