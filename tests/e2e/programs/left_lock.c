/* left_lock HOW END: three times, a child takes a lock of a file by flock or fcntl, and ends without releasing it while
 * the parent waits for it: by exit or kill. Or it releases the lock in time (unlock), and another process ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resting.h"

enum { ROUNDS = 3 };

static volatile int *turn; /* of both processes */

UNSEEN static void must(int ok)
{
    if (!ok)
        abort();
}

UNSEEN static int change(const char *how, int file, int type)
{
    struct flock part = { .l_type = (short)type, .l_whence = SEEK_SET };
    return strcmp(how, "flock") == 0 ? flock(file, type == F_UNLCK ? LOCK_UN : LOCK_EX)
                                     : fcntl(file, type == F_UNLCK ? F_SETLK : F_SETLKW, &part);
}

static void lock_file(const char *how, int file)
{
    must(change(how, file, F_WRLCK) == 0);
}

static void unlock_file(const char *how, int file)
{
    must(change(how, file, F_UNLCK) == 0);
}

static void hold(const char *how, const char *end)
{
    const int file = open("locked", O_RDWR | O_CREAT, 0600);
    must(file >= 0);
    lock_file(how, file);
    *turn = 1;
    rest();
    if (strcmp(end, "unlock") == 0)
        unlock_file(how, file);
    if (strcmp(end, "kill") == 0)
        syscall(SYS_kill, getpid(), SIGKILL);
    exit(0);
}

int main(int argc, char **argv)
{
    const int file = open("locked", O_RDWR | O_CREAT, 0600);
    turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(argc > 2 && file >= 0 && turn != MAP_FAILED);
    for (int i = 0; i < ROUNDS; i++) {
        *turn = 0;
        const pid_t child = fork();
        if (child == 0)
            hold(argv[1], argv[2]);
        while (!*turn)
            syscall(SYS_sched_yield);
        lock_file(argv[1], file);
        unlock_file(argv[1], file);
        waitpid(child, NULL, 0);
    }
    return 0;
}
