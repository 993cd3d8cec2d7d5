/* execs WORKER [ENVIRONMENT]: runs the worker in each of libc's ways, and fails once in each of them to run another.
 * With a second argument, the worker's environment is its ledger only. */
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "ledger.h"

extern char **environ;

static const char *worker, *folder, *name;
static char *bare[2];
static char *const *wanted;

QUIET static int exec_in_way(int way, const char *path, const char *file)
{
    char *argv[] = { (char *)file, (char *)"3", NULL };
    switch (way) {
    case 0:
        return execl(path, file, "3", (char *)NULL);
    case 1:
        return execlp(file, file, "3", (char *)NULL);
    case 2:
        return execle(path, file, "3", (char *)NULL, wanted);
    case 3:
        return execv(path, argv);
    case 4:
        return execvp(file, argv);
    case 5:
        return execvpe(file, argv, wanted);
    case 6:
        return execve(path, argv, wanted);
    case 7:
        return fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, wanted);
    default:
        return execveat(AT_FDCWD, path, argv, wanted, 0);
    }
}

enum { EXECS = 9 };

QUIET static void reap(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void run_in_way(int way)
{
    calls++;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        ledger_begin(parent, 0);
        errno = 0;
        int result = exec_in_way(way, "/no/such/program", "no-such-program");
        if (result != -1 || errno != (way == 7 ? EINVAL : ENOENT))
            abort();
        exec_in_way(way, worker, name);
        abort();
    }
    reap(child);
}

static void spawn(int by_path)
{
    calls++;
    char *argv[] = { (char *)name, (char *)"4", NULL };
    pid_t child = -1;
    if (posix_spawn(&child, "/no/such/program", NULL, NULL, argv, environ) != ENOENT)
        abort();
    int error = by_path ? posix_spawn(&child, worker, NULL, NULL, argv, wanted)
                        : posix_spawnp(&child, name, NULL, NULL, argv, wanted);
    if (error)
        abort();
    reap(child);
}

static void by_shell(void)
{
    calls++;
    char command[4200];
    snprintf(command, sizeof command, "%s 5", worker);
    if (system(command) != 0 || system("exit 3") != 3 << 8 || system(NULL) == 0)
        abort();
    FILE *pipe = popen(command, "r");
    if (!pipe || pclose(pipe) != 0)
        abort();
}

int main(int argc, char **argv)
{
    ledger_begin(getppid(), 1);
    worker = argv[1];
    name = strrchr(worker, '/') + 1;
    folder = strndup(worker, (size_t)(name - worker - 1));
    setenv("PATH", folder, 1);
    char ledger[4200];
    snprintf(ledger, sizeof ledger, "LEDGER=%s", ledger_path);
    bare[0] = ledger;
    wanted = argc > 2 ? bare : environ;
    for (int way = 0; way < EXECS; way++)
        run_in_way(way);
    spawn(0);
    spawn(1);
    by_shell();
    ledger_write();
    return 0;
}
