/* Locks of the runtime: 0 is free, 1 is taken, 2 is taken and a thread waits. */
#include "lock.h"
#include "sys.h"

enum {
    LOCK_GLANCE = 50 /* milliseconds; a thread that releases a lock may not be allowed to wake others (sandbox.c) */
};

void lock_take(uint32_t *lock)
{
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
        sys_futex_wait(lock, 2, LOCK_GLANCE);
}

void lock_release(uint32_t *lock)
{
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        sys_futex_wake(lock, 1);
}
