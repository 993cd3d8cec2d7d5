/* Waits for a signal, and tells which. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

int main(void)
{
    signal(SIGTERM, note);
    for (int i = 0; i < 5000 && !caught; i++)
        usleep(1000);
    printf("caught %d\n", (int)caught);
    return 7;
}
