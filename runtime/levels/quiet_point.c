/* Whether the calling thread runs a signal handler. The kernel saves the interrupted state on the stack, with a mark in
 * it. So no mark between the stack pointer and the stack's end means that there is no handler. A mark that an earlier
 * handler has left behind in memory that is not used yet delays the answer, and does no harm. */
#include "levels/quiet_point.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "main_stack.h"
#include "stacks.h"
#include "sys.h"

#include <sys/mman.h>
#include <sys/uio.h>

enum { COPIED = 1024, NEAR = 16 << 10, COPIED_DEEP = 64 << 10 };

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    STEP = 64,
    MARK_OFFSET = 464 % STEP, /* the saved state begins at a multiple of STEP; the mark is at 464 */
    MARK = 0x46505853,        /* FP_XSTATE_MAGIC1 */
};

/* Whether the processor saves its state in the form that has a mark. */
static bool quiet_has_marks(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}

#else

enum {
    STEP = 16,
    MARK_OFFSET = 0,
    MARK = 0x46508001, /* FPSIMD_MAGIC: the kernel always saves these registers */
};

static bool quiet_has_marks(void)
{
    return true;
}

#endif

/* libc keeps a thread's own data above its stack. */
uint64_t quiet_stack_end(uint64_t stack_pointer)
{
    const uint64_t thread_data = (uint64_t)__builtin_thread_pointer();
    return thread_data - stack_pointer < LARGEST_STACK ? thread_data : main_stack_end(stack_pointer);
}

/* Reads through the system: another thread may unmap the memory meanwhile, as the addresses between need not be one
 * stack. `copy` has room for a multiple of STEP. */
static bool quiet_is_without_mark_in(uint64_t begin, uint64_t end, char *copy, size_t room)
{
    const long self = SYS0(getpid);
    for (uint64_t at = begin & ~(uint64_t)(STEP - 1); at < end; at += room) {
        const uint64_t size = end - at < room ? end - at : room;
        struct iovec here = { copy, size }, there = { (void *)at, size };
        if (SYS6(process_vm_readv, self, &here, 1, &there, 1, 0) != (long)size)
            return false;
        for (uint64_t i = MARK_OFFSET; i + sizeof(uint32_t) <= size; i += STEP) {
            volatile uint32_t *word = (volatile uint32_t *)(copy + i);
            if (at + i >= begin && *word == MARK) {
                *word = 0; /* it would stay in memory that later calls use */
                return false;
            }
        }
    }
    return true;
}

/* False if there is a mark, or not all can be read. A deep stack takes fewer system calls with more room, of which a
 * thread's stack may have little. */
static bool quiet_is_without_mark(uint64_t begin, uint64_t end)
{
    char copy[COPIED];
    const uint64_t near_end = end - begin < NEAR ? end : (begin & ~(uint64_t)(STEP - 1)) + NEAR;
    if (!quiet_is_without_mark_in(begin, near_end, copy, sizeof copy))
        return false;
    if (near_end == end)
        return true;
    char *larger = sys_map(COPIED_DEEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool without =
        quiet_is_without_mark_in(near_end, end, larger ? larger : copy, larger ? (size_t)COPIED_DEEP : sizeof copy);
    if (larger)
        sys_unmap(larger, COPIED_DEEP);
    return without;
}

#if defined(__x86_64__)

/* The stack pointer of a thread that sleeps in a system call; zero if it does not. The system writes the call's number,
 * six arguments, the stack pointer and the program counter, or another text if the thread does not sleep in a call. */
static uint64_t quiet_sleeps_at(uint32_t tid)
{
    char text[256];
    const long length = sys_read_task_file(tid, "syscall", text, sizeof text);
    if (length <= 0 || text[0] < '0' || text[0] > '9')
        return 0;
    const char *at = text;
    for (int field = 0; field < 7 && at; field++)
        at = strchr(at + (field > 0), ' ');
    return at ? strtoull(at + 1, NULL, 16) : 0;
}

bool quiet_point_of_sleeper(uint32_t tid, uint64_t stack_end)
{
    const uint64_t stack_pointer = stack_end && quiet_has_marks() ? quiet_sleeps_at(tid) : 0;
    return stack_pointer && stack_end - stack_pointer < LARGEST_STACK &&
           quiet_is_without_mark(stack_pointer, stack_end);
}

#else

/* qemu-user, the only place of tests, shows its own stack pointers there. */
bool quiet_point_of_sleeper(uint32_t tid, uint64_t stack_end)
{
    (void)tid, (void)stack_end;
    return false;
}

#endif

bool quiet_point(uint64_t stack_pointer)
{
    const uint64_t end = quiet_stack_end(stack_pointer);
    return end && quiet_has_marks() && !stacks_is_handlers(stack_pointer) && quiet_is_without_mark(stack_pointer, end);
}
