/*
 * While recording changes the code of functions, their pages cannot be executed, and the process' mappings are locked.
 * Threads that need them wait: a wait of the recording, not of the program. The changes have no length in the session.
 * But each ends with a record for every function whose level has changed, and the threads go on at that time.
 */
#include "tables/own_waits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

const char *const own_wait_kinds[] = {
    [OWN_NOT] = "call", [OWN_OTHER] = "other", [OWN_FAULT] = "fault", [OWN_RECORDING] = "recording"
};
const char *const own_wait_texts[] = { [OWN_NOT] = "",
                                       [OWN_OTHER] = "in its own code",
                                       [OWN_FAULT] = "page fault",
                                       [OWN_RECORDING] = "recording changes code" };

struct code_change {
    uint32_t process;
    uint64_t time;
};

struct code_changes {
    uint64_t late; /* ticks: the record is written so long after the change at most */
    size_t count;
    struct code_change list[]; /* by process and time */
};

static int code_changes_compare(const void *a, const void *b)
{
    const struct code_change *x = a, *y = b;
    return ORDER_BY(x, y, process, time);
}

struct code_changes *code_changes_new(const struct session_file *file)
{
    enum { PER_SECOND = 1000 };
    const size_t count = file->levels.change_count;
    struct code_changes *changes = need_memory(1, sizeof *changes + count * sizeof *changes->list);
    changes->late = file->header.ticks_per_second / PER_SECOND;
    changes->count = count;
    for (size_t i = 0; i < count; i++)
        changes->list[i] = (struct code_change){ file->levels.changes[i].process, file->levels.changes[i].time };
    if (count)
        qsort(changes->list, count, sizeof *changes->list, code_changes_compare);
    return changes;
}

void code_changes_free(struct code_changes *changes)
{
    free(changes);
}

/* Sums of waits have no times. */
static bool code_changes_has(const struct code_changes *changes, const struct profile_wait *wait)
{
    const struct code_change left = { wait->place.process, wait->left };
    const size_t at = LOWER_BOUND(change, changes->list, changes->count, code_changes_compare(change, &left) < 0);
    return wait->left < wait->back && at < changes->count && changes->list[at].process == wait->place.process &&
           less(changes->list[at].time, changes->late) <= wait->back;
}

enum own_wait own_wait_of(const struct code_changes *changes, const struct profile_wait *wait)
{
    if (code_changes_has(changes, wait))
        return OWN_RECORDING;
    return wait->faulted ? OWN_FAULT : OWN_OTHER;
}
