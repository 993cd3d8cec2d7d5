/*
 * own_text [wait]: adds up the bytes of its own code, calls short functions, and adds them up again. Prints "same" or
 * "changed". `wait`: calls until the code has changed, or for a minute.
 */
#include <stdio.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))

enum { CALLS = 3000000, PATIENCE = 60 };

extern const unsigned char __executable_start[], etext[];

static volatile unsigned long sum;

__attribute__((noinline)) void add(unsigned long by)
{
    sum += by;
}

PLAIN static unsigned long own_text(void)
{
    unsigned long bytes = 0;
    for (const unsigned char *at = __executable_start; at < etext; at++)
        bytes = bytes * 31 + *at;
    return bytes;
}

PLAIN int main(int argc, char **argv)
{
    (void)argv;
    const unsigned long before = own_text();
    const time_t begin = time(NULL);
    do
        for (unsigned long i = 0; i < CALLS; i++)
            add(i);
    while (argc > 1 && own_text() == before && time(NULL) - begin < PATIENCE);
    puts(own_text() == before ? "same" : "changed");
    return 0;
}
