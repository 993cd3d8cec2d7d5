/* real [ROUNDS [SMALL]]: calls zlib, libcrypto, qsort with callbacks, malloc and free, and as C++ also libstdc++, in 4
 * threads of 50 rounds; in each round, SMALL times some calls that take little time. Prints a sum of the results.
 * counter.c and callgrind count the calls. */
#ifdef __cplusplus
#include <map>
#include <string>
#endif
#include <openssl/sha.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { THREADS = 4 };

static int rounds = 50, small_calls;

struct part {
    unsigned long sum, calls;
};

static __thread struct part *mine;

static int compare(const void *a, const void *b)
{
    mine->calls++;
    return *(const int *)a - *(const int *)b;
}

static unsigned long sorted(int round)
{
    int *values = (int *)malloc(64 * sizeof *values);
    for (int i = 0; i < 64; i++)
        values[i] = (i * 37 + round) % 64;
    qsort(values, 64, sizeof *values, compare);
    const unsigned long sum = values[3] + 5 * values[60];
    free(values);
    return sum;
}

static unsigned long compressed(int round)
{
    unsigned char from[600], to[1200], again[600];
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * i / 7 + round);
    uLongf length = sizeof to, back = sizeof again;
    compress2(to, &length, from, sizeof from, 6);
    uncompress(again, &back, to, length);
    return crc32(adler32(1, to, length), again, back);
}

static unsigned long hashed(int round)
{
    unsigned char digest[SHA256_DIGEST_LENGTH], text[100];
    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i + round);
    SHA256(text, sizeof text, digest);
    return digest[0] | digest[31] << 8;
}

static unsigned long mapped(int round)
{
#ifdef __cplusplus
    std::map<std::string, int> map;
    for (int i = 0; i < 8; i++)
        map[std::string("a long name that is on the heap ") + std::to_string(i * round)] += i;
    unsigned long sum = 0;
    for (const auto &entry : map)
        sum = sum * 31 + entry.second + entry.first.size();
    return sum;
#else
    char *copy = strdup(round % 2 ? "odd" : "even");
    const unsigned long sum = (unsigned long)copy[round % 4];
    free(copy);
    return sum;
#endif
}

static unsigned long many(int round)
{
    unsigned long sum = 0;
    for (int i = 0; i < small_calls; i++) {
        unsigned char *bytes = (unsigned char *)malloc(8);
        bytes[0] = (unsigned char)(i + round);
        sum += crc32(adler32(1, bytes, 1), bytes, 1);
        free(bytes);
    }
    return sum;
}

static void *thread(void *to)
{
    mine = (struct part *)to;
    for (int round = 0; round < rounds; round++)
        mine->sum += sorted(round) + compressed(round) + hashed(round) + mapped(round) + many(round);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    small_calls = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t threads[THREADS];
    struct part parts[THREADS] = { { 0, 0 } };
    unsigned long sum = 0, calls = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &parts[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].sum;
        calls += parts[i].calls;
    }
    printf("%lu %lu\n", sum, calls);
}
