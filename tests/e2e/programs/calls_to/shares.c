/* Spends its time in a function of a library, and in one of its own that takes about as long. */
#include <string.h>
#include <zlib.h>

enum { ROUNDS = 8000, BYTES = 100000, STEPS = 30000 };

static unsigned char bytes[BYTES];

__attribute__((noinline)) static unsigned long stepped(unsigned long sum)
{
    for (int i = 0; i < STEPS; i++)
        __asm__ volatile("" : "+r"(sum));
    return sum;
}

int main(void)
{
    unsigned long sum = 0;
    memset(bytes, 3, sizeof bytes);
    for (int i = 0; i < ROUNDS; i++)
        sum += stepped(crc32(sum, bytes, BYTES));
    return sum == 1;
}
