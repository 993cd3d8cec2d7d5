/*
 * Calls a function a thousand times, of which some take two milliseconds more: slow_argument HOW
 *   planted  those with n = 100000
 *   random   others of as many, whatever n is
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline, noclone)) static void handle(long n, const char *kind, int slow)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        sink += (uint64_t)n + strlen(kind);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (slow && (now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 2000000);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = { "GET", "SET", "DEL" };
    const int planted = argc > 1 && strcmp(argv[1], "planted") == 0;
    for (int i = 0; i < 1000; i++) {
        const long n = random_below(40) ? (long)random_below(10) : 100000;
        const char *kind = kinds[random_below(3)];
        const int other = random_below(40) == 0;
        handle(n, kind, planted ? n == 100000 : other);
    }
    return 0;
}
