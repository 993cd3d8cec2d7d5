/* Steps through the system calls of a program and its threads. */
#include "stepping.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TASKS = 256, TOO_MANY = 98, NOT_FOLLOWED = 97 };

static struct task tasks[MAX_TASKS];

static struct task *stepping_task(pid_t id)
{
    for (int i = 0; i < MAX_TASKS; i++)
        if (tasks[i].id == id)
            return &tasks[i];
    for (int i = 0; i < MAX_TASKS; i++)
        if (tasks[i].id == 0) {
            tasks[i] = (struct task){ .id = id };
            return &tasks[i];
        }
    exit(TOO_MANY);
}

bool stepping_find_code(struct task *task, const char *name)
{
    if (task->begin)
        return true;
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", task->id);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        unsigned long begin, end;
        char mode[8];
        if (strstr(line, name) && sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && mode[2] == 'x') {
            task->begin = begin;
            task->end = end;
        }
    }
    if (in)
        fclose(in);
    return task->begin != 0;
}

void stepping_skip(const struct task *task, struct user_regs_struct *r)
{
    r->orig_rax = (unsigned long)-1;
    ptrace(PTRACE_SETREGS, task->id, NULL, r);
}

static void stepping_enter(struct task *task, stepping_entry *entry)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, task->id, NULL, &r) == 0)
        entry(task, &r);
}

static void stepping_return(struct task *task)
{
    struct user_regs_struct r;
    if (!task->error || ptrace(PTRACE_GETREGS, task->id, NULL, &r) < 0)
        return;
    r.rax = (unsigned long)-task->error;
    task->error = 0;
    ptrace(PTRACE_SETREGS, task->id, NULL, &r);
}

/* Returns the signal to deliver to the task. */
static int stepping_stopped(struct task *task, int status, stepping_entry *entry)
{
    const int number = WSTOPSIG(status), event = status >> 16;
    if (number == (SIGTRAP | 0x80)) {
        struct __ptrace_syscall_info info;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, task->id, sizeof info, &info) <= 0)
            return 0;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
            stepping_enter(task, entry);
        else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
            stepping_return(task);
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

static int stepping_follow(pid_t first, stepping_entry *entry)
{
    int result = NOT_FOLLOWED;
    for (;;) {
        int status;
        const pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0)
            return result;
        struct task *task = stepping_task(id);
        if (WIFSTOPPED(status)) {
            const int number = stepping_stopped(task, status, entry);
            ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)number);
            continue;
        }
        task->id = 0;
        if (id == first)
            result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

int stepping_run(char **argv, bool children, stepping_entry *entry)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL |
                         (children ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
    const pid_t first = fork();
    if (first == 0) {
        raise(SIGSTOP);
        execv(argv[0], argv);
        _exit(127);
    }
    int status;
    if (first < 0 || ptrace(PTRACE_SEIZE, first, NULL, (void *)options) < 0)
        return NOT_RUN;
    stepping_task(first)->inside = true;
    waitpid(first, &status, WUNTRACED | __WALL);
    kill(first, SIGCONT);
    ptrace(PTRACE_SYSCALL, first, NULL, NULL);
    return stepping_follow(first, entry);
}
