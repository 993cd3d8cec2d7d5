/* Two functions that call each other and themselves: each call has a path of its own. */
#include <stdlib.h>

static void second(int below);

__attribute__((noinline)) static void first(int below)
{
    if (below) {
        first(below - 1);
        second(below - 1);
    }
}

__attribute__((noinline)) static void second(int below)
{
    if (below) {
        second(below - 1);
        first(below - 1);
    }
}

int main(int argc, char **argv)
{
    first(argc > 1 ? atoi(argv[1]) : 10);
    return 0;
}
