/* shown [ROUNDS]: calls functions of libraries in two threads: zlib's crc32 200 times each, once of 50 with 100 times
 * as many bytes; and qsort 200 times, which calls back. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SLOW = 50, BYTES = 16000, SLOWER = 100, NUMBERS = 100 };

static int rounds = 200;
static unsigned char bytes[BYTES * SLOWER];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long all;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int sorted(int round)
{
    int list[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        list[i] = (i * 37 + round) % NUMBERS;
    qsort(list, NUMBERS, sizeof *list, compare);
    return list[0];
}

static unsigned long summed(int round)
{
    return crc32(0, bytes, round % SLOW == SLOW - 1 ? BYTES * SLOWER : BYTES);
}

static void *work(void *nothing)
{
    for (int i = 0; i < rounds; i++) {
        const unsigned long sum = summed(i) + (unsigned long)sorted(i);
        pthread_mutex_lock(&lock);
        all += sum;
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1)
        rounds = atoi(argv[1]);
    memset(bytes, 3, sizeof bytes);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return all == 0;
}
