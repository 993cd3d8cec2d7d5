/* Ends of processes and threads that their usual end does not record. */
#ifndef DWELL_ENDINGS_H
#define DWELL_ENDINGS_H

#include <sys/types.h>

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

enum { ENDING_RECORDS = 64 };

/* What was recorded before an exec, to be taken back if it fails. */
struct ending {
    struct dwell_record *records[ENDING_RECORDS];
    uint32_t count;
};

/* Before an exec, and after one that failed. In a process that is not recorded, and in a child by vfork, they do
 * nothing. */
void ending_begin(struct ending *ending);
void ending_take_back(const struct ending *ending);

/* A wait function has returned: a child has ended with that status of waitpid, unless it only stopped or continued.
 * NULL in libdwell.a. */
void ending_of_child(pid_t pid, int status) __attribute__((weak));

#pragma GCC visibility pop

#endif
