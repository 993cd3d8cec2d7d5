/* killed COUNTERS THREADS: each thread calls leaf() for ever, and then counts the call in a file that it maps.
 * -DLIBRARY: a library that has leaf(), for a program with -DCALLS_LIBRARY. */
#ifdef LIBRARY
void leaf(void);
void leaf(void)
{
    __asm__ volatile("");
}
#else
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT = 8, SIZE = 4096 };

static volatile int64_t *counters;

#ifdef CALLS_LIBRARY
void leaf(void);
#else
__attribute__((noinline)) static void leaf(void)
{
    __asm__ volatile("");
}
#endif

static void *run(void *counter)
{
    volatile int64_t *mine = counter;
    for (;;) {
        leaf();
        *mine = *mine + 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, SIZE) < 0)
        return 1;
    counters = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t thread;
    for (int i = 1; i <= atoi(argv[2]); i++)
        pthread_create(&thread, NULL, run, (void *)&counters[i * SLOT]);
    counters[0] = getpid();
    pause();
    return 0;
}
#endif
