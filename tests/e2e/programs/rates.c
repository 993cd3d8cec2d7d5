/*
 * rates FILE: works until each of these has a sample of the later rate in the session: a thread from the start, the
 * main thread, a thread that is made then, and a child. The last two have none of the first rate. FILE is the session's
 * file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwell/format.h"

enum { LIMIT = 200 /* seconds */ };

static int file;

/* Samples of a thread in the session: whether there are some of the later rate, and of the first one, whose period is
 * shorter. Those of windows in time, as threads have that switch often, stand for a longer period. */
struct rates {
    int later, first;
};

static struct rates rates_find(uint32_t tid)
{
    struct dwell_file_header head;
    struct dwell_chunk_header chunk;
    struct rates found = { 0, 0 };
    if (pread(file, &head, sizeof head, 0) != sizeof head)
        return found;
    for (uint64_t at = DWELL_UNIT; at < head.cursor; at += chunk.magic == DWELL_CHUNK_MAGIC ? chunk.size : DWELL_UNIT) {
        if (pread(file, &chunk, sizeof chunk, (off_t)at) != sizeof chunk)
            break;
        if (chunk.magic != DWELL_CHUNK_MAGIC || chunk.kind != DWELL_CHUNK_SAMPLES || chunk.depth != tid)
            continue;
        found.later |= chunk.upper[1] == head.sample_period;
        found.first |= chunk.upper[1] < head.sample_period;
    }
    return found;
}

__attribute__((noinline)) static void work(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 20000000);
}

/* Ends the process if there are no samples of the later rate, or, unless it is `old`, any of the first one. */
static void *wait_for_later(void *old)
{
    const uint32_t tid = (uint32_t)syscall(SYS_gettid);
    const time_t begin = time(NULL);
    struct rates found = { 0, 0 };
    while (!found.later && time(NULL) - begin < LIMIT) {
        work();
        found = rates_find(tid);
    }
    if (found.later && (old || !found.first))
        return NULL;
    fprintf(stderr, "thread %u: later rate %d, first %d\n", tid, found.later, found.first);
    _exit(1);
}

int main(int argc, char **argv)
{
    pthread_t from_start, late;
    int status = 1;
    file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || pthread_create(&from_start, NULL, wait_for_later, argv))
        return 1;
    wait_for_later(argv);
    if (pthread_create(&late, NULL, wait_for_later, NULL))
        return 1;
    const pid_t child = fork();
    if (!child) {
        wait_for_later(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    pthread_join(late, NULL);
    pthread_join(from_start, NULL);
    return status != 0;
}
