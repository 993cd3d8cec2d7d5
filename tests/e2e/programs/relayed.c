/*
 * A program that signals are sent to. It writes its PID to the file `ready` when it is.
 *   relayed count MS STATUS   prints which signal came and how often within MS milliseconds, and ends with STATUS
 *   relayed stop              stops itself as ^Z does, and prints a line when it goes on
 *   relayed daemon            its child has a session of its own, works until the file `go` exists or SIGTERM comes,
 * and ends with 5; the program itself ends with 3 at once
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught, times;

static void note(int number)
{
    caught = number;
    times++;
}

static void tell(void)
{
    FILE *out = fopen("ready.new", "w");
    if (!out)
        exit(99);
    fprintf(out, "%d\n", (int)getpid());
    fclose(out);
    rename("ready.new", "ready");
}

static void catch_all(void)
{
    for (int i = 1; i <= SIGRTMAX; i++)
        if (i != SIGCHLD && i != SIGSEGV && i != SIGBUS && i != SIGILL && i != SIGFPE && i != SIGTRAP)
            signal(i, note);
}

static int count(int milliseconds, int status)
{
    catch_all();
    tell();
    for (int i = 0; i < 60000 && !caught; i++)
        usleep(1000);
    for (int i = 0; i < milliseconds; i++)
        usleep(1000);
    printf("signal %d, %d times\n", (int)caught, (int)times);
    return status;
}

static int stop(void)
{
    tell();
    kill(getpid(), SIGTSTP);
    puts("continued");
    return 0;
}

static void serve(void)
{
    usleep(1000);
}

static int daemonize(bool late)
{
    const pid_t child = fork();
    while (child && late && access("ready", F_OK) != 0)
        usleep(1000);
    if (child)
        return 3;
    setsid();
    signal(SIGTERM, note);
    int out = open("served", O_CREAT | O_WRONLY, 0600), calls = 0;
    tell();
    for (; !caught && access("go", F_OK) != 0; calls++)
        serve();
    dprintf(out, "calls serve %d\n", calls);
    close(out);
    return 5;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "count") == 0)
        return count(atoi(argv[2]), atoi(argv[3]));
    return argc > 1 && strcmp(argv[1], "stop") == 0 ? stop() : daemonize(argc > 2);
}
