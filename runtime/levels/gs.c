/* The base of gs by instructions, and by arch_prctl. */
#include "levels/gs.h"

#include "common.h"
#include "levels/machine.h"
#include "sys.h"

#if defined(__x86_64__)

#include <asm/prctl.h>

/* A thread of a bare clone without thread-local storage of its own shares that of another one: it counts in the pages
 * of its creator, whose base it has inherited. */
static __thread struct {
    uint64_t base;
    bool known, refused;
} gs_thread __attribute__((tls_model("initial-exec")));

enum gs_way gs_way(void)
{
    static uint8_t found; /* the way, and one more */
    if (!found)
        found = 1 + (machine_has_gs() ? GS_BY_INSTRUCTION : machine_lets_set_gs() ? GS_BY_CALL : GS_NONE);
    return (enum gs_way)(found - 1);
}

uint64_t gs_get(void)
{
    uint64_t base = 0;
    if (gs_way() == GS_BY_INSTRUCTION)
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else if (gs_thread.known)
        base = gs_thread.base;
    else if (!gs_thread.refused)
        gs_thread.refused = SYS2(arch_prctl, ARCH_GET_GS, &base) != 0;
    return base;
}

static bool gs_set_by_call(uint64_t base)
{
    volatile uint64_t *const latest = &gs_thread.base;
    if (gs_thread.refused)
        return false;
    const uint64_t old = *latest;
    *latest = base;
    for (uint64_t now = ~base; now != *latest;) {
        now = *latest;
        if (SYS2(arch_prctl, ARCH_SET_GS, now) != 0) {
            *latest = old;
            gs_thread.refused = true;
            return false;
        }
    }
    gs_thread.known = true;
    return true;
}

bool gs_set(uint64_t base)
{
    if (gs_way() == GS_BY_CALL)
        return gs_set_by_call(base);
    __asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
    return true;
}

bool gs_is_refused(void)
{
    return gs_thread.refused;
}

#endif
