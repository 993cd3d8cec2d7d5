/* Functions of libc about signal actions and masks. The program's calls about guarded signals are answered as if the
 * runtime had no handlers for them (fault_signals.h). Calls about other signals pass on, but guarded signals are taken
 * out of the masks of their handlers: a fault of the session while they are blocked would end the program. Not part of
 * libdwell.a. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "common.h"
#include "fault_signals.h"
#include "interposed.h"

/* Programs still call some old functions. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { SIGNALS = 64 };

/* For each action, the guarded signals that the program has put into its mask. */
static uint64_t signals_taken_out[SIGNALS];

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
    uint64_t *taken_out = number > 0 && number <= SIGNALS ? &signals_taken_out[number - 1] : NULL;
    const uint64_t had = taken_out ? __atomic_load_n(taken_out, __ATOMIC_RELAXED) : 0;
    const uint64_t has = action ? action->sa_mask.__val[0] & fault_guarded() : 0;
    struct sigaction without;
    if (has) {
        without = *action;
        without.sa_mask.__val[0] &= ~has;
    }
    const int result = NEXT(sigaction)(number, has ? &without : action, old);
    if (result != 0)
        return result;
    if (action && taken_out)
        __atomic_store_n(taken_out, has, __ATOMIC_RELAXED);
    if (old)
        old->sa_mask.__val[0] |= had;
    return 0;
}

DWELL_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (!fault_guarded())
        return NEXT(sigaction)(number, action, old);
    if (!fault_is_guarded(number))
        return signals_act(number, action, old);
    return signals_fail(fault_exchange(number, action, old));
}

DWELL_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
DWELL_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

/* signal and its kin, for a guarded signal. */
static sighandler_t signals_handle(int number, sighandler_t handler, int flags, bool block)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;
    if (block)
        signals_add(&action.sa_mask, number);
    const int error = handler == SIG_ERR ? EINVAL : fault_exchange(number, &action, &old);
    return signals_fail(error) == 0 ? old.sa_handler : SIG_ERR;
}

DWELL_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    return fault_is_guarded(number) ? signals_handle(number, handler, SA_RESTART, true) : NEXT(signal)(number, handler);
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
    if (fault_is_guarded(number))
        return signals_handle(number, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
    return NEXT(__sysv_signal)(number, handler);
}

DWELL_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

DWELL_EXPORT int sigignore(int number)
{
    if (fault_is_guarded(number))
        return signals_handle(number, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
    return NEXT(sigignore)(number);
}

DWELL_EXPORT int siginterrupt(int number, int interrupt)
{
    struct sigaction action;
    if (!fault_is_guarded(number))
        return NEXT(siginterrupt)(number, interrupt);
    const int error = fault_exchange(number, NULL, &action);
    if (error)
        return signals_fail(error);
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return signals_fail(fault_exchange(number, &action, NULL));
}

/* ---- masks ---- */

typedef int signals_mask_function(int how, const sigset_t *set, sigset_t *old);

/* Changes the mask by one of libc's two functions. The kernel's mask stays without guarded signals. */
static int signals_change_mask(signals_mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    const uint64_t guarded = fault_guarded(), blocked = fault_blocked(), named = set ? set->__val[0] & guarded : 0;
    if (!guarded || (!blocked && !named))
        return real(how, set, old);
    sigset_t without;
    uint64_t after = blocked;
    if (set) {
        without = *set;
        if (how != SIG_UNBLOCK)
            without.__val[0] &= ~guarded;
        after = how == SIG_BLOCK ? blocked | named : how == SIG_UNBLOCK ? blocked & ~named : named;
    }
    if (blocked & ~after)
        fault_block(blocked & after); /* a signal that waits comes before the call returns */
    const int result = real(how, set ? &without : NULL, old);
    if (result != 0) {
        fault_block(blocked);
        return result;
    }
    if (after & ~blocked)
        fault_block(after);
    if (old)
        old->__val[0] |= blocked;
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

static int signals_change_one(int how, int number)
{
    sigset_t one = { { 0 } };
    signals_add(&one, number);
    return sigprocmask(how, &one, NULL);
}

DWELL_EXPORT int sighold(int number)
{
    return fault_is_guarded(number) ? signals_change_one(SIG_BLOCK, number) : NEXT(sighold)(number);
}

DWELL_EXPORT int sigrelse(int number)
{
    return fault_is_guarded(number) ? signals_change_one(SIG_UNBLOCK, number) : NEXT(sigrelse)(number);
}

/* Its answer is the handler, or SIG_HOLD if the signal was blocked. */
DWELL_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    if (!fault_is_guarded(number))
        return NEXT(sigset)(number, handler);
    const bool blocked = fault_blocked() >> (number - 1) & 1;
    struct sigaction old;
    if (handler == SIG_HOLD) {
        if (signals_change_one(SIG_BLOCK, number) != 0 || signals_fail(fault_exchange(number, NULL, &old)) != 0)
            return SIG_ERR;
    } else {
        old.sa_handler = signals_handle(number, handler, 0, false);
        if (old.sa_handler == SIG_ERR || signals_change_one(SIG_UNBLOCK, number) != 0)
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
