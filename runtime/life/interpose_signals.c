/* Functions of libc about signal actions and masks. The program's calls about SIGBUS are answered as if the runtime had
 * no handler for it (bus_signal.h). Calls about other signals pass on, but SIGBUS is taken out of the masks of their
 * handlers: a fault of the session while it is blocked would end the program. Not part of libdwell.a. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "bus_signal.h"
#include "common.h"
#include "interposed.h"

/* Programs still call some old functions. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Actions in whose mask the program has put SIGBUS: bit number - 1. */
static uint64_t signals_with_bus;

INTERPOSED(sigaction);
INTERPOSED(sigprocmask);
INTERPOSED(pthread_sigmask);
INTERPOSED(signal);
INTERPOSED(__sysv_signal);
INTERPOSED(sigset);
INTERPOSED(sigignore);
INTERPOSED(siginterrupt);
INTERPOSED(sighold);
INTERPOSED(sigrelse);

#define NEXT(name) ((typeof(&name))interpose_next(&next_##name, #name))

/* libc's functions for sets may be the program's own. */
static bool signals_has(const sigset_t *set, int number)
{
    return set->__val[0] >> (number - 1) & 1;
}

static void signals_add(sigset_t *set, int number)
{
    set->__val[0] |= 1ul << (number - 1);
}

static void signals_remove(sigset_t *set, int number)
{
    set->__val[0] &= ~(1ul << (number - 1));
}

static int signals_fail(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

/* ---- actions ---- */

/* An action for another signal. */
static int signals_act(int number, const struct sigaction *action, struct sigaction *old)
{
    const uint64_t bit = number > 0 && number <= 64 ? 1ull << (number - 1) : 0;
    const bool had = __atomic_load_n(&signals_with_bus, __ATOMIC_RELAXED) & bit;
    const bool has = action && signals_has(&action->sa_mask, SIGBUS);
    struct sigaction without;
    if (has) {
        without = *action;
        signals_remove(&without.sa_mask, SIGBUS);
    }
    const int result = NEXT(sigaction)(number, has ? &without : action, old);
    if (result != 0)
        return result;
    if (has)
        __atomic_fetch_or(&signals_with_bus, bit, __ATOMIC_RELAXED);
    else if (action)
        __atomic_fetch_and(&signals_with_bus, ~bit, __ATOMIC_RELAXED);
    if (old && had)
        signals_add(&old->sa_mask, SIGBUS);
    return 0;
}

DWELL_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (!bus_is_guarded())
        return NEXT(sigaction)(number, action, old);
    if (number != SIGBUS)
        return signals_act(number, action, old);
    return signals_fail(bus_exchange(action, old));
}

DWELL_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
DWELL_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

/* signal and its kin, for SIGBUS. */
static sighandler_t signals_handle_bus(sighandler_t handler, int flags, bool block)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;
    if (block)
        signals_add(&action.sa_mask, SIGBUS);
    if (handler == SIG_ERR || signals_fail(handler == SIG_ERR ? EINVAL : bus_exchange(&action, &old)) != 0)
        return SIG_ERR;
    return old.sa_handler;
}

static bool signals_is_bus(int number)
{
    return number == SIGBUS && bus_is_guarded();
}

DWELL_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return signals_is_bus(number) ? signals_handle_bus(handler, SA_RESTART, true) : NEXT(signal)(number, handler);
}

DWELL_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
DWELL_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

DWELL_EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

DWELL_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    if (signals_is_bus(number))
        return signals_handle_bus(handler, (int)(SA_RESETHAND | SA_NODEFER), false);
    return NEXT(__sysv_signal)(number, handler);
}

DWELL_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

DWELL_EXPORT int sigignore(int number)
{
    if (signals_is_bus(number))
        return signals_handle_bus(SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
    return NEXT(sigignore)(number);
}

DWELL_EXPORT int siginterrupt(int number, int interrupt)
{
    struct sigaction action;
    if (!signals_is_bus(number))
        return NEXT(siginterrupt)(number, interrupt);
    const int error = bus_exchange(NULL, &action);
    if (error)
        return signals_fail(error);
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return signals_fail(bus_exchange(&action, NULL));
}

/* ---- masks ---- */

typedef int signals_mask_function(int how, const sigset_t *set, sigset_t *old);

/* Changes the mask by one of libc's two functions. The kernel's mask stays without SIGBUS. */
static int signals_change_mask(signals_mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    const bool blocked = bus_is_blocked(), named = set && signals_has(set, SIGBUS);
    if (!bus_is_guarded() || (!blocked && !named))
        return real(how, set, old);
    sigset_t without;
    if (set) {
        without = *set;
        if (how != SIG_UNBLOCK)
            signals_remove(&without, SIGBUS);
    }
    const bool changes = set && (named || how == SIG_SETMASK), after = how != SIG_UNBLOCK && named;
    if (changes && !after)
        bus_block(false); /* a signal that waits comes before the call returns */
    const int result = real(how, set ? &without : NULL, old);
    if (result != 0) {
        bus_block(blocked);
        return result;
    }
    if (changes && after)
        bus_block(true);
    if (old && blocked)
        signals_add(old, SIGBUS);
    return 0;
}

DWELL_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return signals_change_mask(NEXT(sigprocmask), how, set, old);
}

DWELL_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return signals_change_mask(NEXT(pthread_sigmask), how, set, old);
}

static int signals_change_bus(int how)
{
    sigset_t bus = { { 0 } };
    signals_add(&bus, SIGBUS);
    return sigprocmask(how, &bus, NULL);
}

DWELL_EXPORT int sighold(int number)
{
    return signals_is_bus(number) ? signals_change_bus(SIG_BLOCK) : NEXT(sighold)(number);
}

DWELL_EXPORT int sigrelse(int number)
{
    return signals_is_bus(number) ? signals_change_bus(SIG_UNBLOCK) : NEXT(sigrelse)(number);
}

/* Its answer is the handler, or SIG_HOLD if the signal was blocked. */
DWELL_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    if (!signals_is_bus(number))
        return NEXT(sigset)(number, handler);
    const bool blocked = bus_is_blocked();
    struct sigaction old;
    if (handler == SIG_HOLD) {
        if (signals_change_bus(SIG_BLOCK) != 0 || signals_fail(bus_exchange(NULL, &old)) != 0)
            return SIG_ERR;
    } else {
        old.sa_handler = signals_handle_bus(handler, 0, false);
        if (old.sa_handler == SIG_ERR || signals_change_bus(SIG_UNBLOCK) != 0)
            return SIG_ERR;
    }
    return blocked ? SIG_HOLD : old.sa_handler;
}

/* The 32 signals of old programs. */
static int signals_old_mask(int how, const int *mask)
{
    sigset_t set = { { 0 } }, old;
    int before = 0;
    for (int number = 1; mask && number <= 32; number++)
        if ((unsigned)*mask >> (number - 1) & 1)
            signals_add(&set, number);
    if (sigprocmask(how, mask ? &set : NULL, &old) != 0)
        return -1;
    for (int number = 1; number <= 32; number++)
        if (signals_has(&old, number))
            before |= (int)(1u << (number - 1));
    return before;
}

DWELL_EXPORT int sigblock(int mask)
{
    return signals_old_mask(SIG_BLOCK, &mask);
}

DWELL_EXPORT int sigsetmask(int mask)
{
    return signals_old_mask(SIG_SETMASK, &mask);
}

DWELL_EXPORT int siggetmask(void)
{
    return signals_old_mask(SIG_BLOCK, NULL);
}
