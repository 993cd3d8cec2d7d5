/* Waits for a signal, and prints which one. Makes a file when it is ready for it. */
#include <fcntl.h>
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
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < 60000 && !caught; i++)
        usleep(1000);
    printf("caught %d\n", (int)caught);
    return 7;
}
