/* Calls with texts of any bytes: the n-th of them n times. With an argument, calls of which each twentieth is slow, and
 * has a text that is not UTF-8. */
#include <stddef.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

static volatile size_t sink;

NOT_INLINED static void take(const char *text, int n)
{
    const struct timespec pause = { 0, 3000000 };
    sink += (size_t)text;
    if (n)
        nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {
        "a\xff", "a\xfe", "a\\xff", "a\xc3\xa9",    "a\xef\xbf\xbd",
        "a\nb",  "a\\x",  "\\x01",  "\xed\xa0\x80", "a\x5cx5cxff",
    };
    (void)argv;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && argc == 1; i++)
        for (size_t j = 0; j <= i; j++)
            take(texts[i], 0);
    for (int i = 0; i < 600 && argc > 1; i++)
        take(i % 20 ? "b\xff" : "b\xfe", i % 20 == 0);
    return 0;
}
