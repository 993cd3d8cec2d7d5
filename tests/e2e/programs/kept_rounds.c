/* ROUNDS calls of early, and then as many of late, each with MORE calls of step. With a third argument, so many threads
 * do so. At the end, it prints whether at least 16 MiB of a file dwell.data are mapped; with a fourth argument, the
 * most memory that it and its parent, the recorder, have had, in MiB. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The most resident memory of a process, in MiB. */
static long most_memory(const char *process)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &kib) != 1)
        continue;
    if (status)
        fclose(status);
    return kib / 1024;
}

static void print_memory(void)
{
    char parent[16];
    snprintf(parent, sizeof parent, "%d", (int)getppid());
    printf("%ld %ld\n", most_memory("self"), most_memory(parent));
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
    if (argc > 4)
        print_memory();
    puts(mapped() < 16ul << 20 ? "little is mapped" : "much is mapped");
    return 0;
}
