/* Calls a function of a library 20,000,000 times. */
#include <stdio.h>

#include "callee.h"

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 20000000; i++)
        sum += callee_ints(i, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    printf("%ld\n", sum);
    return 0;
}
