/*
 * Futex calls of the program itself. libc has no function for them, so programs and the C++ library make them by
 * `syscall`, which is interposed in sandbox.c. Other calls of `syscall` are no rows. See oscalls.c.
 */
#include "oscalls.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "shared_memory.h"
#include "sys.h"

static struct object futex_object(int operation, const void *word)
{
    struct object object = { .kind = DWELL_OBJECT_FUTEX, .id = shared_memory_number(word) };
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
        break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_UNLOCK_PI:
        object.role = DWELL_ROLE_ACTED;
        break;
    default: /* they wait for, or wake waiters of, a second word */
        object.kind = 0;
    }
    return object;
}

/* A wake is an act if it has woken somebody, and unlocking if it succeeded. */
static void futex_end(struct object *object, int operation, long result)
{
    const bool unlocks = (operation & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI;
    if (object->role == DWELL_ROLE_ACTED && !unlocks && result > 1)
        object->role = DWELL_ROLE_ACTED_ON_ALL;
    if (object->role == DWELL_ROLE_WAITED) {
        object_settle(object, result < 0 ? -result : 0);
        os_call_end_wait(OS_syscall, object);
    } else if (object->kind && (unlocks ? result == 0 : result > 0)) {
        os_call_end_act(OS_syscall, object);
    } else {
        os_call_end(OS_syscall);
    }
}

DWELL_HIDDEN long futex_call(long number, long word, long operation, long value, long time, long second, long last);

/* Handles syscall(SYS_futex, ...). */
OS_CALL_CODE long futex_call(long number, long word, long operation, long value, long time, long second, long last)
{
    long result;
    if (!os_call_begin(OS_syscall, __builtin_return_address(0))) {
        result = sys_bare(number, word, operation, value, time, second, last);
    } else {
        struct object object = futex_object((int)operation, (const void *)word);
        result = sys_bare(number, word, operation, value, time, second, last);
        futex_end(&object, (int)operation, result);
    }
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}
