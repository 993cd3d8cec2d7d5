/* The lock is in the process' block: a forked child finds it free. */
#include "levels/code_lock.h"

#include "levels/code_pages.h"
#include "lock.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

static struct {
    uint64_t begin, end; /* all code that may be rewritten is between them */
} code_span = { UINT64_MAX, 0 };

void code_lock_cover(uint64_t begin, uint64_t end)
{
    if (begin < code_span.begin)
        __atomic_store_n(&code_span.begin, begin, __ATOMIC_RELEASE);
    if (end > code_span.end)
        __atomic_store_n(&code_span.end, end, __ATOMIC_RELEASE);
}

void code_lock_take(void)
{
    lock_take(&runtime.process->levels.code_lock);
}

void code_lock_release(void)
{
    lock_release(&runtime.process->levels.code_lock);
}

uint64_t code_lock_begin_call(uint64_t at, uint64_t size)
{
    const uint64_t begin = __atomic_load_n(&code_span.begin, __ATOMIC_ACQUIRE),
                   end = __atomic_load_n(&code_span.end, __ATOMIC_ACQUIRE);
    if (at >= end || at + size <= begin || !runtime.process)
        return SYS_NOT_BLOCKED;
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED)
        code_lock_take();
    __atomic_store_n(&code_pages_changed, true, __ATOMIC_RELEASE);
    return mask;
}

void code_lock_end_call(uint64_t mask)
{
    if (mask == SYS_NOT_BLOCKED)
        return;
    code_lock_release();
    sys_restore_signals(mask);
}
