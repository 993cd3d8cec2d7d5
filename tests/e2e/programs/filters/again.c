/* again TURNS: `begin_of_work`, `work` and `end_of_work`, again and again. */
#include <stdlib.h>

#define KEPT __attribute__((noinline))

static volatile long sum;

KEPT static void begin_of_work(void)
{
    sum++;
}

KEPT static void work(void)
{
    sum += 2;
}

KEPT static void end_of_work(void)
{
    sum--;
}

int main(int argc, char **argv)
{
    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
        begin_of_work();
        work();
        end_of_work();
        work();
    }
    return 0;
}
