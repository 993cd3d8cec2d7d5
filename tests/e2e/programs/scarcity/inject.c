/*
 * inject [-n NUMBER] RUNTIME PROGRAM [ARG...]: runs PROGRAM with RUNTIME preloaded. The system call of that number from
 * RUNTIME's code fails, in any of its threads and forked processes; without -n none fails. The call is not made. Ends
 * as PROGRAM does. Writes a line for each such call to the file $INJECT_LOG: its number, its name's number, and where
 * in RUNTIME it comes from. Uses ptrace; not instrumented.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TASKS = 256 };

struct task {
    pid_t id;
    bool inside, failing;
    long error;
    uint64_t begin, end; /* of the runtime's code; zero if not seen yet */
};

static struct task tasks[MAX_TASKS];
static const char *runtime;
static long wanted, seen;
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

/* Finds the executable mapping of the runtime, once there is one. */
static void find_code(struct task *task)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", task->id);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        unsigned long begin, end, offset;
        char mode[8];
        if (strstr(line, runtime) && sscanf(line, "%lx-%lx %7s %lx", &begin, &end, mode, &offset) == 4 &&
            mode[2] == 'x') {
            task->begin = begin;
            task->end = end;
        }
    }
    if (in)
        fclose(in);
}

/* An error with which the call may end. */
static long error_for(long number)
{
    switch (number) {
    case SYS_mmap:
    case SYS_madvise:
        return ENOMEM;
    case SYS_pwritev:
        return ENOSPC;
    case SYS_openat:
    case SYS_perf_event_open:
        return EMFILE;
    case SYS_futex:
    case SYS_flock:
    case SYS_read:
        return EINTR;
    case SYS_clone:
        return EAGAIN;
    default:
        return EPERM;
    }
}

#if defined(__x86_64__)
#define NUMBER(r) ((long)(r).orig_rax)
#define PLACE(r) ((r).rip)
static void skip(struct user_regs_struct *r)
{
    r->orig_rax = (unsigned long)-1;
}
static void answer(struct user_regs_struct *r, long value)
{
    r->rax = (unsigned long)value;
}
#else
#error "the injector knows x86-64"
#endif

static void at_entry(struct task *task)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &r) < 0)
        return;
    if (!task->begin)
        find_code(task);
    if (!task->begin || PLACE(r) < task->begin || PLACE(r) >= task->end)
        return;
    const long number = NUMBER(r);
    if (number == SYS_exit_group || number == SYS_exit || number == SYS_geteuid)
        return; /* cannot fail */
    seen++;
    if (list)
        fprintf(list, "%ld %ld %llx\n", seen, number, (unsigned long long)(PLACE(r) - task->begin));
    if (seen != wanted)
        return;
    task->failing = true;
    task->error = error_for(number);
    skip(&r);
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

static void at_return(struct task *task)
{
    struct user_regs_struct r;
    if (!task->failing || ptrace(PTRACE_GETREGS, task->id, NULL, &r) < 0)
        return;
    task->failing = false;
    answer(&r, -task->error);
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
        task->begin = 0;
    if (event != 0 || number == SIGTRAP || (number == SIGSTOP && !task->inside)) {
        task->inside = true; /* its first stop is the attachment's */
        return 0;
    }
    return number;
}

static int follow(pid_t first)
{
    int result = 97;
    for (;;) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0)
            return result;
        struct task *task = task_of(id);
        if (WIFSTOPPED(status)) {
            int number = stopped(task, status);
            ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)number);
            continue;
        }
        task->id = 0;
        if (id == first)
            result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        wanted = atol(argv[2]);
        argc -= 2;
        argv += 2;
    }
    if (argc < 3)
        return 96;
    runtime = argv[1];
    const char *log = getenv("INJECT_LOG");
    list = log ? fopen(log, "w") : NULL;
    if (list)
        setvbuf(list, NULL, _IOLBF, 0); /* a run that hangs is ended by force */
    pid_t first = fork();
    if (first == 0) {
        setenv("LD_PRELOAD", runtime, 1);
        raise(SIGSTOP);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    if (first < 0 || ptrace(PTRACE_SEIZE, first, NULL,
                            (void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                                           PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) < 0)
        return 96;
    task_of(first)->inside = true;
    waitpid(first, &status, WUNTRACED | __WALL);
    kill(first, SIGCONT);
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    int result = follow(first);
    if (list)
        fclose(list);
    return result;
}
