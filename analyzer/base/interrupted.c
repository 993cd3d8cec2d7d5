/* Counts interruptions of a system call, to tell signals from a call that always fails. */
#include "base/interrupted.h"

#include <errno.h>
#include <time.h>

enum { MAX_INTERRUPTIONS = 10000, WINDOW = 10 };

bool interrupted(struct interruptions *i)
{
    if (errno != EINTR)
        return false;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!i->count || (uint64_t)now.tv_sec - i->since > WINDOW)
        *i = (struct interruptions){ .since = (uint64_t)now.tv_sec };
    errno = EINTR;
    return ++i->count < MAX_INTERRUPTIONS;
}
