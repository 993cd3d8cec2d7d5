/* The lock of a process' lists. It stands below all modules that have such lists. */
#include "process_lock.h"

#include "lock.h"
#include "process.h"
#include "runtime.h"

void process_lock(void)
{
    lock_take(&runtime.process->lock);
}

void process_unlock(void)
{
    lock_release(&runtime.process->lock);
}
