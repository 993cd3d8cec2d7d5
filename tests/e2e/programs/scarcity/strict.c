/*
 * strict: a forked child and a thread enter the kernel's oldest sandbox before they have made a call. It allows to
 * read, write and exit, and nothing else.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "work.h"

static BARE void work_locked_up(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
        work(1000);
    syscall(SYS_exit, 0);
}

static BARE void *thread(void *unused)
{
    work_locked_up();
    return unused;
}

int main(void)
{
    begin();
    work(1000);
    const pid_t child = fork();
    if (child == 0)
        work_locked_up();
    int status = 0;
    need(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    if (status != 0)
        printf("the child ended with %x\n", (unsigned)status);
    pthread_t locked_up;
    need(pthread_create(&locked_up, NULL, thread, NULL) == 0, "pthread_create");
    pthread_join(locked_up, NULL);
    work(1000);
    printf("calls step %lu\ncalls work %lu\ncalls main 1\n", counts->step, counts->work);
    return status != 0;
}
