/* ROUNDS calls of early, and then as many of late, each with MORE calls of step. With a third argument, so many threads
 * do so. At the end, it prints whether at least 16 MiB of a file dwell.data are mapped. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 16 };

#define KEPT __attribute__((noinline, noclone))

static unsigned rounds, more;
static volatile unsigned sink;

KEPT void step(void)
{
    sink++;
}

KEPT void early(void)
{
    for (unsigned i = 0; i < more; i++)
        step();
}

KEPT void late(void)
{
    for (unsigned i = 0; i < more; i++)
        step();
}

KEPT void *run(void *unused)
{
    for (unsigned i = 0; i < rounds; i++)
        early();
    for (unsigned i = 0; i < rounds; i++)
        late();
    return unused;
}

static unsigned long mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[8192];
    unsigned long begin, end, sum = 0;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && strstr(line, "/dwell.data"))
            sum += end - begin;
    if (maps)
        fclose(maps);
    return sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    if (argc < 3)
        return 2;
    rounds = (unsigned)atoi(argv[1]);
    more = (unsigned)atoi(argv[2]);
    const unsigned count = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (count > MOST_THREADS)
        return 2;
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts(mapped() < 16ul << 20 ? "little is mapped" : "much is mapped");
    return 0;
}
