/*
 * chunks WAY DIRECTORY [KIB]: what it takes to give a program a chunk of a session file, in microseconds of CPU time
 * for a page of 4 KiB. It makes 64 MiB of chunks (of 256 KiB, or KIB) in a file that it removes, one after the other.
 * Ways:
 *
 *     touched    zeros are written, the chunk is mapped, the program's stores fault the pages in
 *     populated  the same, but the pages are faulted in before: what the runtime does
 *     moved      the same, but the chunk begins two pages later in the file, where smaller chunks were before it
 *     crossing   the same as populated, but in memory a border of 2 MiB goes through the chunk
 *     reserved   space is taken by fallocate, then as populated
 *     holes      the file is made long, then as populated
 *     copied     a buffer that is used again is written to the file, and nothing is mapped
 *
 *     space 0.88 map 0.29 store 0.06 unmap 0.08 faults 0.02
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PAGE = 4096, LINE = 64, PAGES = 16384, BORDER = 2 << 20, LARGEST = 8 << 20, MOVED = 2 * PAGE };

enum step { SPACE, MAP, STORE, UNMAP, STEPS };

static const char *const step_names[STEPS] = { "space", "map", "store", "unmap" };

static char buffer[LARGEST];

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void check(int done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "chunks: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* An address with a border of 2 MiB behind its first half. */
static char *crossing_place(size_t size)
{
    char *free = mmap(NULL, size + (size_t)2 * BORDER, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(free != MAP_FAILED, "mmap");
    munmap(free, size + (size_t)2 * BORDER);
    const uintptr_t border = ((uintptr_t)free + size + BORDER - 1) / BORDER * BORDER;
    return (char *)(border - size / 2);
}

static char *map(const char *way, int fd, off_t offset, size_t size)
{
    const int crosses = strcmp(way, "crossing") == 0;
    char *at = mmap(crosses ? crossing_place(size) : NULL, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | (crosses ? MAP_FIXED : 0), fd, offset);
    check(at != MAP_FAILED, "mmap");
    if (strcmp(way, "touched") != 0)
        check(madvise(at, size, MADV_POPULATE_WRITE) == 0, "madvise");
    return at;
}

static void take_space(const char *way, int fd, off_t offset, size_t size)
{
    if (strcmp(way, "holes") == 0)
        check(ftruncate(fd, offset + (off_t)size) == 0, "ftruncate");
    else if (strcmp(way, "reserved") == 0)
        check(fallocate(fd, 0, offset, (off_t)size) == 0, "fallocate");
    else
        check(pwrite(fd, buffer, size, offset) == (ssize_t)size, "pwrite");
}

static void end_step(double *times, enum step step, double *since)
{
    const double now = cpu_time();
    times[step] += now - *since;
    *since = now;
}

static void make_chunk(const char *way, int fd, off_t offset, size_t size, double *times)
{
    double since = cpu_time();
    take_space(way, fd, offset, size);
    end_step(times, SPACE, &since);
    if (strcmp(way, "copied") == 0)
        return;
    char *at = map(way, fd, offset, size);
    end_step(times, MAP, &since);
    for (size_t i = 0; i < size; i += LINE)
        *(volatile uint64_t *)(at + i) = 1;
    end_step(times, STORE, &since);
    munmap(at, size);
    end_step(times, UNMAP, &since);
}

int main(int argc, char **argv)
{
    const size_t size = argc > 3 ? strtoul(argv[3], NULL, 10) << 10 : 256 << 10;
    char path[4096];
    if (argc < 3 || size < PAGE || size > LARGEST || size % PAGE != 0) {
        fprintf(stderr, "usage: chunks WAY DIRECTORY [KIB]\n");
        return 2;
    }
    const char *way = argv[1];
    snprintf(path, sizeof path, "%s/chunks.%d", argv[2], (int)getpid());
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    check(fd >= 0, path);
    unlink(path);
    memset(buffer, strcmp(way, "copied") == 0, sizeof buffer); /* present in memory */
    const off_t begin = strcmp(way, "moved") == 0 ? MOVED : 0;
    double times[STEPS] = { 0 };
    const long before = faults();
    for (off_t offset = 0; offset < (off_t)PAGES * PAGE; offset += (off_t)size)
        make_chunk(way, fd, begin + offset, size, times);
    for (int i = 0; i < STEPS; i++)
        printf("%s %.2f ", step_names[i], times[i] / PAGES);
    printf("faults %.2f\n", (double)(faults() - before) / PAGES);
    return 0;
}
