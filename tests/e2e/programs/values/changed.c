/*
 * Functions that need a parameter only changed: the compiler changes it in its register before it calls the probe.
 * Prints each parameter as "function|parameter|value".
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#define PLAIN __attribute__((no_instrument_function))
#define OPAQUE __attribute__((noinline, noipa))

static volatile uint64_t sink;
static struct {
    uint8_t bytes[48];
} slots[64];

OPAQUE PLAIN static void take(uint64_t value)
{
    sink += value;
}

OPAQUE static void swap_4(uint32_t n)
{
    take(__builtin_bswap32(n));
}

OPAQUE static void swap_8(uint64_t n)
{
    take(__builtin_bswap64(n));
}

OPAQUE static void swap_2(uint16_t n)
{
    take(__builtin_bswap16(n));
}

OPAQUE static void element(int n)
{
    take((uint64_t)(uintptr_t)(slots + 32) + (uint64_t)n * 64);
}

OPAQUE static void scaled(uint32_t n)
{
    take((uint64_t)n << 4);
}

OPAQUE static void one_less(uint32_t n)
{
    take(n - 1);
}

OPAQUE static void factor(uint32_t n)
{
    take(n * UINT32_C(0x9e3779b1));
}

OPAQUE static void opposite(long n)
{
    take((uint64_t)-n);
}

OPAQUE static void inverse(uint64_t n)
{
    take(~n);
}

OPAQUE static void distance(uint64_t other, uint64_t n)
{
    take(n - other);
    take(other);
}

OPAQUE static void distance_only(uint64_t other, uint64_t n)
{
    take(n - other);
}

OPAQUE static void doubled(uint32_t n)
{
    take(n << 1); /* its highest bit is lost */
}

OPAQUE static void bits(double n)
{
    uint64_t word;
    __builtin_memcpy(&word, &n, sizeof word);
    take(word);
}

/* Calls with a single value of `n` can get a copy of the function without it: -O3. */
__attribute__((noinline)) uint64_t copied(uint64_t unused, uint64_t n);
uint64_t copied(uint64_t unused, uint64_t n)
{
    (void)unused;
    take(n << 7);
    take((uint32_t)n - n);
    return 0;
}

#define CALL(function, type, format, value)                                                                            \
    do {                                                                                                               \
        const type n = (type)(value);                                                                                  \
        printf(#function "|n|%" format "\n", n);                                                                       \
        function(n);                                                                                                   \
    } while (0)

PLAIN int main(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 100; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint64_t value = state ^ state >> 33;
        CALL(swap_4, uint32_t, PRIu32, value);
        CALL(swap_8, uint64_t, PRIu64, value);
        CALL(swap_2, uint16_t, PRIu16, value);
        CALL(element, int, "d", value);
        CALL(scaled, uint32_t, PRIu32, value);
        CALL(one_less, uint32_t, PRIu32, value);
        CALL(factor, uint32_t, PRIu32, value);
        CALL(opposite, long, "ld", value);
        CALL(inverse, uint64_t, PRIu64, value);
        CALL(doubled, uint32_t, PRIu32, value);
        CALL(bits, double, ".17g", (int64_t)value / 1024);
        printf("distance|n|%" PRIu64 "\ndistance|other|%" PRIu64 "\n", value, value / 3);
        distance(value / 3, value);
        printf("distance_only|n|%" PRIu64 "\n", value);
        distance_only(value / 3, value);
        printf("copied|n|%" PRIu64 "\ncopied|unused|%" PRIu64 "\n", value, state);
        sink += copied(state, value);
    }
    return 0;
}
