/* Calls 1,000 times a function that has several versions, one of which is chosen when the program begins. */
#include <stdio.h>

#ifdef LIBRARY
static int chosen_one(int n)
{
    return n + 1;
}

static int (*chosen_resolve(void))(int)
{
    return chosen_one;
}

int chosen(int n) __attribute__((ifunc("chosen_resolve")));
#else
int chosen(int n);

int main(void)
{
    int n = 0;
    for (int i = 0; i < 1000; i++)
        n = chosen(n);
    printf("%d\n", n);
    return 0;
}
#endif
