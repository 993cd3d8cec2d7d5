/* split [bare]: forks while calls wait that a filter shows only if they are long, or lead to another one. Three
 * children and a grandchild call `rest`, which takes 20 ms at least. `bare`: by clone, which the runtime does not see.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool bare;

static __attribute__((noinline)) void rest(void)
{
    usleep(20000);
}

static __attribute__((noinline)) pid_t split(void)
{
    return bare ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
}

static __attribute__((noinline)) void join(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static __attribute__((noinline)) void serve(int further)
{
    const pid_t child = split();
    if (child == 0 && further) {
        serve(0);
        rest();
        _exit(0);
    }
    if (child == 0) {
        rest();
        _exit(0);
    }
    join(child);
}

int main(int argc, char **argv)
{
    (void)argv;
    bare = argc > 1;
    serve(0);
    serve(1);
    serve(0);
    return 0;
}
