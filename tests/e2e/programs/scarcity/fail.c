/*
 * fail [-c CALL] [-n NUMBER [-e ERROR] [-a]] PROGRAM [ARG...]: runs PROGRAM; its system call of that NUMBER fails with
 * that errno (default: EIO), and with -a all later calls of the same name as well. The call is not made, but for close.
 * Only calls of the program itself and its threads count, not those of the dynamic loader and of its children; with -c
 * only those of the name whose number is CALL. Ends as PROGRAM does. Writes a line for each counted call to the file
 * $FAIL_LOG: its number, its name's number, and its first argument. Uses ptrace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../stepping.h"

static long wanted, seen, failing = -1, only = -1;
static int error = EIO;
static bool lasting;
static FILE *list;

/* Calls that cannot fail, that libc relies on, or by which the program would report its failure. */
static bool is_excluded(const struct user_regs_struct *r)
{
    static const long numbers[] = {
        SYS_getrandom,
        SYS_exit,
        SYS_exit_group,
        SYS_rt_sigreturn,
        SYS_rt_sigprocmask,
        SYS_rt_sigaction,
        SYS_execve,
        SYS_brk,
        SYS_munmap,
        SYS_futex,
        SYS_rseq,
        SYS_mprotect,
        SYS_getpid,
        SYS_gettid,
        SYS_set_robust_list,
        SYS_set_tid_address,
        SYS_tgkill,
        SYS_madvise,
        SYS_sched_getaffinity,
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((long)r->orig_rax == numbers[i])
            return true;
    return (r->orig_rax == SYS_write && r->rdi == STDERR_FILENO) || (only >= 0 && (long)r->orig_rax != only);
}

static void fail_at_entry(struct task *task, struct user_regs_struct *r)
{
    if (!stepping_find_code(task, "/ld-linux") || (r->rip >= task->begin && r->rip < task->end) || is_excluded(r))
        return;
    seen++;
    if (list)
        fprintf(list, "%ld %ld %lld\n", seen, (long)r->orig_rax, (long long)r->rdi);
    if (seen == wanted)
        failing = (long)r->orig_rax;
    if (seen != wanted && !(lasting && seen > wanted && failing == (long)r->orig_rax))
        return;
    task->error = error;
    if (r->orig_rax != SYS_close) /* the kernel closes the descriptor in any case */
        stepping_skip(task, r);
}

int main(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "+c:n:e:a")) != -1) {
        only = option == 'c' ? atol(optarg) : only;
        wanted = option == 'n' ? atol(optarg) : wanted;
        error = option == 'e' ? atoi(optarg) : error;
        lasting |= option == 'a';
    }
    if (optind >= argc)
        return NOT_RUN;
    const char *log = getenv("FAIL_LOG");
    list = log ? fopen(log, "we") : NULL;
    const int result = stepping_run(argv + optind, false, fail_at_entry);
    if (list)
        fclose(list);
    return result;
}
