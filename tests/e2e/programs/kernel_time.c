/* A function without probes spends its time in the kernel; another one takes little time beside it. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define WITHOUT_PROBES __attribute__((no_instrument_function, noinline))

enum { BYTES = 4 << 20, TIMES = 400 };

WITHOUT_PROBES static void fetch(int zero, char *to)
{
    for (int i = 0; i < TIMES; i++)
        if (read(zero, to, BYTES) != BYTES)
            abort();
}

WITHOUT_PROBES static unsigned add(const char *from)
{
    unsigned sum = 0;
    for (int i = 0; i < BYTES; i++)
        sum += (unsigned char)from[i];
    return sum;
}

int main(void)
{
    const int zero = open("/dev/zero", O_RDONLY);
    char *to = calloc(1, BYTES);
    if (zero < 0 || !to)
        abort();
    fetch(zero, to);
    const unsigned sum = add(to);
    free(to);
    close(zero);
    return sum != 0;
}
