/* arch_prctl, by which a program asks for the base of gs and sets it. Calls may be counted in place by that register
 * (levels/in_place.h): no more, before the program sets it. The program sees no base that it has not set. Not part of
 * libdwell.a. */
#if defined(__x86_64__)

#include <asm/prctl.h>
#include <errno.h>
#include <stdint.h>

#include "common.h"
#include "levels/in_place.h"
#include "levels/levels.h"
#include "sys.h"

DWELL_HIDDEN long base_call(long number, long code, long address);
DWELL_EXPORT int arch_prctl(int code, unsigned long address);

/* Handles syscall(SYS_arch_prctl, ...), too. If the code cannot be changed any more, the program's base would make
 * calls add to memory anywhere. */
long base_call(long number, long code, long address)
{
    const int error = errno;
    long result = -EPERM;
    if ((int)code == ARCH_SET_GS)
        in_place_give_up();
    if ((int)code != ARCH_SET_GS || levels_leave_places())
        result = sys_bare(number, code, address, 0, 0, 0, 0);
    if ((int)code == ARCH_GET_GS && result == 0 && in_place_is_ours(*(uint64_t *)address))
        *(uint64_t *)address = 0;
    errno = result < 0 ? (int)-result : error;
    return result < 0 ? -1 : result;
}

int arch_prctl(int code, unsigned long address)
{
    return (int)base_call(SYS_arch_prctl, code, (long)address);
}

#endif
