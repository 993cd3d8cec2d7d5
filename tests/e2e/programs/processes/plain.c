/* plain PROGRAM ARG...: not instrumented. Runs the program twice, first in a child, then in its own place. */
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pid_t child = fork();
    if (child == 0)
        execv(argv[1], argv + 1);
    waitpid(child, NULL, 0);
    execv(argv[1], argv + 1);
    return 1;
}
