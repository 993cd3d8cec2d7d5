// Takes the place of LevelDB's checksum for bench/whatif: a loop of a known length comes before each one. SPIN is the
// number of its rounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" uint32_t real_checksum(uint32_t, const char *, size_t) __asm__("__real__ZN7leveldb6crc32c6ExtendEjPKcm");
extern "C" uint32_t checksum(uint32_t, const char *, size_t) __asm__("__wrap__ZN7leveldb6crc32c6ExtendEjPKcm");

static long spin_rounds()
{
    const char *text = getenv("SPIN");
    return text ? atol(text) : 0;
}

static const long rounds = spin_rounds();

extern "C" __attribute__((noinline)) void spin()
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("");
}

uint32_t checksum(uint32_t before, const char *data, size_t size)
{
    spin();
    return real_checksum(before, data, size);
}
