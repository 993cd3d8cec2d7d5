/* Runs a program and stops it before and after each of its system calls, by ptrace. */
#ifndef STEPPING_H
#define STEPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#if !defined(__x86_64__)
#error "the registers of system calls are known on x86-64 only"
#endif

enum { NOT_RUN = 96 };

/* A thread or process that is stepped through. */
struct task {
    pid_t id;
    bool inside;         /* it has had the stop of its attachment */
    long error;          /* not zero: the current call ends with this errno */
    uint64_t begin, end; /* the code of stepping_find_code; zero if it was not found since the last exec */
};

/* Before a call. It may set the task's error, and change the registers. */
typedef void stepping_entry(struct task *task, struct user_regs_struct *r);

/* Finds the executable mapping of the file whose path contains `name`. False if there is none yet. */
bool stepping_find_code(struct task *task, const char *name);

/* The call that the task is about to make is not made. */
void stepping_skip(const struct task *task, struct user_regs_struct *r);

/* Runs the program `argv` with its threads, and with `children` also the processes that it forks. Returns its exit
 * status, 128 plus the number of its signal, or NOT_RUN. */
int stepping_run(char **argv, bool children, stepping_entry *entry);

#endif
