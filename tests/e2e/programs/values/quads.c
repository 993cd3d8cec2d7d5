/* Calls functions with numbers of 113 bits and with unions. Prints nothing. */
#include <stdint.h>

#define OUTER __attribute__((noinline, noclone))

union word {
    int32_t number;
    float real;
    struct {
        uint8_t first, second;
    } bytes;
    const char *text;
};

static volatile double sink;

OUTER static __float128 quad(__float128 q, const __float128 *at)
{
    sink += (double)q + (double)*at;
    return q * 2;
}

OUTER static void by_value(union word w)
{
    sink += w.real;
}

OUTER static void by_address(const union word *w)
{
    sink += w->real;
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        const __float128 third = (__float128)i + (__float128)1 / 3;
        const union word w = { .real = (float)i + 0.5F };
        sink += (double)quad(third, &third);
        by_value(w);
        by_address(&w);
    }
    return 0;
}
