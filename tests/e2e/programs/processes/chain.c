/* chain STEP...: does the first step, then executes itself with the others. A step is a number of calls of `step`,
 * "orphan" (kills the parent), or a command with a blank: "cd FOLDER" or one for a shell. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, noinline))

static volatile long calls;

__attribute__((noinline)) static void step(void)
{
    calls++;
}

QUIET static void become_orphan(void)
{
    const pid_t parent = getppid();
    kill(parent, SIGKILL);
    while (getppid() == parent)
        usleep(1000);
}

QUIET static void run_command(const char *command)
{
    if (strncmp(command, "cd ", 3) == 0 ? chdir(command + 3) : system(command))
        abort();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "0";
    if (strcmp(what, "orphan") == 0)
        become_orphan();
    else if (strchr(what, ' '))
        run_command(what);
    else
        for (int i = atoi(what); i > 0; i--)
            step();
    if (argc > 2) {
        argv[1] = argv[0];
        execv(argv[0], argv + 1);
        abort();
    }
    return 0;
}
