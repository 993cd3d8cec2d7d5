/*
 * inject [-n NUMBER] RUNTIME PROGRAM [ARG...]: runs PROGRAM with RUNTIME preloaded. The system call of that number from
 * RUNTIME's code fails, in any of its threads and forked processes; without -n none fails. The call is not made. Ends
 * as PROGRAM does. Writes a line for each such call to the file $INJECT_LOG: its number, its name's number, and where
 * in RUNTIME it comes from. Uses ptrace; not instrumented.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../stepping.h"

static const char *runtime;
static long wanted, seen;
static FILE *list;

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

static void inject_at_entry(struct task *task, struct user_regs_struct *r)
{
    if (!stepping_find_code(task, runtime) || r->rip < task->begin || r->rip >= task->end)
        return;
    const long number = (long)r->orig_rax;
    if (number == SYS_exit_group || number == SYS_exit || number == SYS_geteuid)
        return; /* cannot fail */
    seen++;
    if (list)
        fprintf(list, "%ld %ld %llx\n", seen, number, (unsigned long long)(r->rip - task->begin));
    if (seen != wanted)
        return;
    task->error = error_for(number);
    stepping_skip(task, r);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        wanted = atol(argv[2]);
        argc -= 2;
        argv += 2;
    }
    if (argc < 3)
        return NOT_RUN;
    runtime = argv[1];
    const char *log = getenv("INJECT_LOG");
    list = log ? fopen(log, "we") : NULL;
    if (list)
        setvbuf(list, NULL, _IOLBF, 0); /* a run that hangs is ended by force */
    setenv("LD_PRELOAD", runtime, 1);
    const int result = stepping_run(argv + 2, true, inject_at_entry);
    if (list)
        fclose(list);
    return result;
}
