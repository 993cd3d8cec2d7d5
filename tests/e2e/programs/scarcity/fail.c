/*
 * fail [-n NUMBER [-e ERROR] [-a]] PROGRAM [ARG...]: runs PROGRAM; its system call of that number fails with that errno
 * (default: EIO), and with -a all later calls of the same name as well. The call is not made, but for close. Only calls
 * of the program itself and its threads count, not those of the dynamic loader and of its children. Ends as PROGRAM
 * does. Writes a line for each counted call to the file $FAIL_LOG: its number, its name's number, and its first
 * argument. Uses ptrace.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TASKS = 64 };

struct task {
    pid_t id;
    bool inside, failing;
};

static struct task tasks[MAX_TASKS];
static uint64_t loader_begin, loader_end; /* code; the same in all threads */
static long wanted, seen, failing = -1;
static int error = EIO;
static bool lasting;
static FILE *list;

static struct task *task_of(pid_t id)
{
    for (int i = 0; i < MAX_TASKS; i++)
        if (tasks[i].id == id)
            return &tasks[i];
    for (int i = 0; i < MAX_TASKS; i++)
        if (tasks[i].id == 0) {
            tasks[i] = (struct task){ .id = id };
            return &tasks[i];
        }
    exit(98);
}

static void find_loader(pid_t id)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", id);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        unsigned long begin, end;
        char mode[8];
        if (strstr(line, "/ld-linux") && sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && mode[2] == 'x') {
            loader_begin = begin;
            loader_end = end;
        }
    }
    if (in)
        fclose(in);
}

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
    return r->orig_rax == SYS_write && r->rdi == STDERR_FILENO;
}

static void at_entry(struct task *task)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &r) < 0)
        return;
    if (!loader_begin)
        find_loader(task->id);
    if (!loader_begin || (r.rip >= loader_begin && r.rip < loader_end) || is_excluded(&r))
        return;
    seen++;
    if (list)
        fprintf(list, "%ld %ld %lld\n", seen, (long)r.orig_rax, (long long)r.rdi);
    if (seen == wanted)
        failing = (long)r.orig_rax;
    if (seen != wanted && !(lasting && seen > wanted && failing == (long)r.orig_rax))
        return;
    task->failing = true;
    if (r.orig_rax == SYS_close)
        return; /* the kernel closes the descriptor in any case */
    r.orig_rax = (unsigned long)-1;
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

static void at_return(struct task *task)
{
    struct user_regs_struct r;
    if (!task->failing || ptrace(PTRACE_GETREGS, task->id, NULL, &r) < 0)
        return;
    task->failing = false;
    r.rax = (unsigned long)-error;
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

/* Returns the signal to deliver to the task. */
static int stopped(struct task *task, int status)
{
    const int number = WSTOPSIG(status), event = status >> 16;
    if (number == (SIGTRAP | 0x80)) {
        struct __ptrace_syscall_info info;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, task->id, sizeof info, &info) <= 0)
            return 0;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
            at_entry(task);
        else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
            at_return(task);
        return 0;
    }
    if (event == PTRACE_EVENT_EXEC)
        loader_begin = 0;
    if (event != 0 || number == SIGTRAP || (number == SIGSTOP && !task->inside)) {
        task->inside = true; /* its first stop is the attachment's */
        return 0;
    }
    return number;
}

static int follow(pid_t first)
{
    for (;;) {
        int status;
        const pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0)
            return 97;
        struct task *task = task_of(id);
        if (WIFSTOPPED(status)) {
            const int number = stopped(task, status);
            ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)number);
            continue;
        }
        task->id = 0;
        if (id == first)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

int main(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "+n:e:a")) != -1) {
        wanted = option == 'n' ? atol(optarg) : wanted;
        error = option == 'e' ? atoi(optarg) : error;
        lasting |= option == 'a';
    }
    if (optind >= argc)
        return 96;
    const char *log = getenv("FAIL_LOG");
    list = log ? fopen(log, "we") : NULL;
    const pid_t first = fork();
    if (first == 0) {
        raise(SIGSTOP);
        execv(argv[optind], argv + optind);
        _exit(127);
    }
    int status;
    if (first < 0 || ptrace(PTRACE_SEIZE, first, NULL,
                            (void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                                           PTRACE_O_EXITKILL)) < 0)
        return 96;
    task_of(first)->inside = true;
    waitpid(first, &status, WUNTRACED | __WALL);
    kill(first, SIGCONT);
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    const int result = follow(first);
    if (list)
        fclose(list);
    return result;
}
