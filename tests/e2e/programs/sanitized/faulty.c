/* faulty [leak|use|race]: makes a mistake that a sanitizer reports. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))

static int shared[100]; /* a single race may stay unseen if both happen at the same moment */

KEPT static void leak(void)
{
    volatile char *lost = malloc(100);
    lost[0] = 1;
    lost = NULL;
}

KEPT static int use(void)
{
    volatile char *freed = malloc(4);
    free((void *)freed);
    return freed[1];
}

static void *race(void *unused)
{
    for (int i = 0; i < 100; i++)
        shared[i]++;
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "leak") == 0)
        leak();
    if (strcmp(what, "use") == 0)
        use();
    if (strcmp(what, "race") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, race, NULL);
        race(NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
