/* The cost of counting is the difference of two loops, as for the probes (runtime/record/calibrate.c): they call a
 * small function like those of real programs, which decodes a number. One has the instruction that counts, the other an
 * instruction of its length that does nothing, so that both have the same layout. */
#include "recorder/count_cost.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "clock.h"

#if defined(__x86_64__)

enum { ITEMS = 64, LOOPS = 16, ROUNDS = 101, MOST = 2000 /* picoseconds */ };

struct item {
    const struct item *next;
    const uint8_t *bytes;
    uint32_t kind, size;
};

static uint64_t count_cost_counter;

#define COUNTS __asm__ volatile("incq %0" : "+m"(count_cost_counter)::"cc")
#define DOES_NOTHING __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0") /* 7 bytes */

#define WORK(NAME, BEGIN)                                                                                              \
    static __attribute__((noinline, aligned(64))) uint32_t NAME##_leaf(const struct item *item)                        \
    {                                                                                                                  \
        BEGIN;                                                                                                         \
        uint32_t value = 0;                                                                                            \
        const uint8_t *at = item->bytes;                                                                               \
        do                                                                                                             \
            value = value << 7 | (*at & 127);                                                                          \
        while (*at++ & 128);                                                                                           \
        return value;                                                                                                  \
    }                                                                                                                  \
    static __attribute__((noinline, aligned(64))) uint32_t NAME##_loop(const struct item *item)                        \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int i = 0; i < ITEMS * LOOPS; i++, item = item->next)                                                     \
            if (item->kind <= item->size)                                                                              \
                sum += NAME##_leaf(item);                                                                              \
        return sum;                                                                                                    \
    }

WORK(plain, DOES_NOTHING)
WORK(counted, COUNTS)

static int64_t count_cost_time(uint32_t (*loop)(const struct item *), const struct item *items)
{
    const uint64_t begin = clock_monotonic();
    loop(items);
    return (int64_t)(clock_monotonic() - begin);
}

static int count_cost_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return ORDER(x, y);
}

/* The median, as other work on the machine makes some rounds longer. */
uint16_t count_cost_measure(void)
{
    static const uint8_t numbers[] = { 5, 0x83, 7, 42, 0x91, 0x82, 1, 99 };
    static const uint8_t begins[] = { 0, 1, 3, 7, 0, 4, 3, 7 }; /* of one byte, two, one, one ... */
    struct item items[ITEMS];
    int64_t differences[ROUNDS];
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = (struct item){ &items[(i * 37 + 11) % ITEMS], numbers + begins[i * 5 % 8], 1 + i % 3, 8 + i % 5 };
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t plain = count_cost_time(plain_loop, items);
        differences[i] = count_cost_time(counted_loop, items) - plain;
    }
    qsort(differences, ROUNDS, sizeof *differences, count_cost_compare);
    const int64_t cost = differences[ROUNDS / 2] * 1000 / (ITEMS * LOOPS);
    return (uint16_t)(cost < 0 ? 0 : cost > MOST ? MOST : cost);
}

#else

uint16_t count_cost_measure(void)
{
    return 0;
}

#endif
