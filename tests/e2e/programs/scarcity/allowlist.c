/*
 * allowlist WAY [all] [bare]: the program forbids itself all system calls except those it needs to end, and dies of any
 * other. WAY is prctl, seccomp (the bare system call) or tsync (the same, for all threads). With `all`, the calls that
 * a C runtime needs are allowed too; with `bare`, not even rt_sigprocmask is. `strict` is the kernel's oldest sandbox.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "work.h"

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter few[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(rt_sigreturn),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_filter usual[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read),
    ALLOW(write),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(rt_sigreturn),
    ALLOW(futex),
    ALLOW(mmap),
    ALLOW(munmap),
    ALLOW(rt_sigprocmask),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static BARE void lock_up(const char *way, int generous)
{
    struct sock_fprog program = generous ? (struct sock_fprog){ sizeof usual / sizeof *usual, usual }
                                         : (struct sock_fprog){ sizeof few / sizeof *few, few };
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    if (strcmp(way, "prctl") == 0)
        need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, way);
    else if (strcmp(way, "strict") == 0)
        need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, way);
    else
        need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, strcmp(way, "tsync") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0,
                     &program) == 0,
             way);
}

int main(int argc, char **argv)
{
    begin();
    const char *way = argc > 1 ? argv[1] : "prctl";
    work(1000);
    lock_up(way, argc > 2);
    work(1000000);
    dive(20000);
    char text[256];
    int length = snprintf(text, sizeof text, "calls step %lu\ncalls work %lu\ncalls dive %lu\ncalls main 1\n",
                          counts->step, counts->work, counts->dive);
    if (write(STDOUT_FILENO, text, (size_t)length) != length)
        return 1;
    if (strcmp(way, "strict") == 0)
        syscall(SYS_exit, 0); /* the only exit that it allows */
    return 0;
}
