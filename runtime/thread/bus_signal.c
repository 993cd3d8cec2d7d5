/* The handler for SIGBUS, and the program's own action for it. */
#include "bus_signal.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "common.h"
#include "guard.h"
#include "helper.h"
#include "interposed.h"
#include "levels/machine.h"
#include "lock.h"
#include "modules.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "upward.h"

#define BUS_BIT (1ull << (SIGBUS - 1))

enum { KERNEL_RESTORER = 0x04000000 }; /* SA_RESTORER: set by libc, and seen in the answers */

static bool bus_installed;
static struct sigaction bus_program; /* the program's action */

/* What the calling thread believes of SIGBUS. A child by vfork shares its parent's memory, but not its mask.
 * `in_handler`: the program's handler for SIGBUS runs, and blocks it until it returns. One that is sent meanwhile is
 * kept, as more of them would not be queued either. */
static __thread struct {
    uint32_t child;
    bool blocked, child_blocked;
    bool in_handler, keeps;
    siginfo_t kept;
} bus_thread __attribute__((tls_model("initial-exec")));

/* A child by vfork: it shares the memory of the process, and has signal actions of its own. */
static bool bus_is_borrowed(void)
{
    const struct process *p = runtime.process;
    return p && p->pid && p->pid != (uint32_t)SYS0(getpid);
}

static bool *bus_blocked_word(void)
{
    if (!bus_is_borrowed())
        return &bus_thread.blocked;
    const uint32_t pid = (uint32_t)SYS0(getpid);
    if (bus_thread.child != pid) {
        bus_thread.child = pid;
        bus_thread.child_blocked = bus_thread.blocked;
    }
    return &bus_thread.child_blocked;
}

static int bus_sigaction(const struct sigaction *action, struct sigaction *old)
{
    const int error = errno;
    const int failed =
        &interpose_next_sigaction ? interpose_next_sigaction(SIGBUS, action, old) : sigaction(SIGBUS, action, old);
    const int why = failed ? errno : 0;
    errno = error;
    return why;
}

/* ---- signals that are not the runtime's ---- */

static bool bus_is_synchronous(const siginfo_t *info)
{
    return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void bus_send_again(const siginfo_t *info, bool to_thread)
{
    if (to_thread)
        SYS4(rt_tgsigqueueinfo, SYS0(getpid), SYS0(gettid), SIGBUS, info);
    else
        SYS3(rt_sigqueueinfo, SYS0(getpid), SIGBUS, info);
}

static void bus_block_in_kernel(void)
{
    const uint64_t bit = BUS_BIT;
    SYS4(rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof bit);
}

static void bus_send_kept(void)
{
    if (!bus_thread.keeps)
        return;
    const siginfo_t info = bus_thread.kept;
    bus_thread.keeps = false;
    bus_send_again(&info, true);
}

/* The thread goes on with SIGBUS blocked, and the signal waits for another thread, or for this one. In the handler the
 * kernel does not block it, as probes may run. */
static void bus_postpone(const siginfo_t *info, ucontext_t *context, bool to_thread)
{
    if (to_thread && bus_thread.in_handler) {
        bus_thread.kept = *info;
        bus_thread.keeps = true;
        return;
    }
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= BUS_BIT;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    bus_block_in_kernel(); /* otherwise it would come at once */
    bus_send_again(info, to_thread);
}

/* The instruction faults again, or the signal comes again, and the kernel ends the process. */
static void bus_die(const siginfo_t *info)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };
    bus_sigaction(&standard, NULL);
    if (!bus_is_synchronous(info))
        bus_send_again(info, true);
}

typedef void bus_handler(int number, siginfo_t *info, void *context);

/* The kernel has set the mask and chosen the stack as the program's action wants, but has not blocked SIGBUS: the
 * handler may run probes. SIGBUS is not blocked by the thread before. Afterwards, the mask is that of the context. */
static void bus_call_handler(bus_handler *handler, int number, siginfo_t *info, ucontext_t *context)
{
    const bool before = bus_thread.in_handler;
    if (!(bus_program.sa_flags & SA_NODEFER) || bus_program.sa_mask.__val[0] & BUS_BIT) {
        *bus_blocked_word() = true;
        bus_thread.in_handler = true;
    }
    handler(number, info, context);
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    *bus_blocked_word() = mask & BUS_BIT;
    mask &= ~BUS_BIT;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    bus_thread.in_handler = before;
    if (bus_thread.keeps && !*bus_blocked_word()) {
        bus_block_in_kernel(); /* until the handler has returned */
        bus_send_kept();
    }
}

static void bus_pass_on(int number, siginfo_t *info, void *context)
{
    const bool synchronous = bus_is_synchronous(info);
    if (helper_is_here()) { /* it has no state of libc */
        if (synchronous)
            bus_die(info);
        else if (info->si_code != SI_TKILL) /* helper_wake sends that */
            bus_postpone(info, context, false);
        return;
    }
    const bool blocked = *bus_blocked_word();
    if (blocked && !synchronous) {
        bus_postpone(info, context, true);
        return;
    }
    sighandler_t handler = __atomic_load_n(&bus_program.sa_handler, __ATOMIC_ACQUIRE);
    if (bus_program.sa_flags & (int)SA_RESETHAND && handler != SIG_IGN)
        handler = __atomic_exchange_n(&bus_program.sa_handler, SIG_DFL, __ATOMIC_ACQ_REL);
    if (handler == SIG_IGN && !synchronous)
        return;
    if (blocked || handler == SIG_DFL || handler == SIG_IGN)
        bus_die(info);
    else
        bus_call_handler((bus_handler *)(void *)handler, number, info, context);
}

static void bus_skip_count(ucontext_t *context)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] += COUNT_IN_PLACE_BYTES;
#else
    (void)context;
#endif
}

static void bus_handle(int number, siginfo_t *info, void *context)
{
    if ((info->si_code == BUS_ADRERR || info->si_code == BUS_OBJERR) && guard_replace(info->si_addr))
        return;
    switch (info->si_code == BUS_ADRERR ? upward.begin_child(info->si_addr) : COUNTS_NO_CHILD) {
    case COUNTS_CALL_LOST:
        bus_skip_count(context);
        break;
    case COUNTS_NO_CHILD:
        bus_pass_on(number, info, context);
        break;
    default:
        break;
    }
}

/* ---- the program's action ---- */

static bool bus_has_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The runtime's handler with the program's mask and stack. SIGBUS is never blocked. */
static struct sigaction bus_action_for(const struct sigaction *program)
{
    struct sigaction action = { .sa_flags = SA_ONSTACK | SA_RESTART };
    if (bus_has_handler(program))
        action = *program;
    action.sa_flags = (int)(((unsigned)action.sa_flags | SA_SIGINFO | SA_NODEFER) & ~(unsigned)SA_RESETHAND);
    action.sa_mask.__val[0] &= ~BUS_BIT;
    action.sa_sigaction = bus_handle;
    return action;
}

static int bus_install(const struct sigaction *program)
{
    const struct sigaction action = bus_action_for(program);
    return bus_sigaction(&action, NULL);
}

void bus_begin(void)
{
    if (bus_installed || bus_sigaction(NULL, &bus_program) != 0)
        return;
    if (!&dwell_interposed && bus_program.sa_handler != SIG_DFL)
        return;
    bus_installed = bus_install(&bus_program) == 0;
}

/* libc would add a flag to the action that the process began with. */
static void bus_restore(const struct sigaction *program)
{
#if defined(__x86_64__)
    const struct {
        sighandler_t handler;
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = { program->sa_handler, (unsigned)program->sa_flags, program->sa_restorer, program->sa_mask.__val[0] };
    SYS4(rt_sigaction, SIGBUS, &action, NULL, sizeof action.mask);
#else
    bus_sigaction(program, NULL);
#endif
}

void bus_end(void)
{
    if (bus_installed)
        bus_restore(&bus_program);
    bus_installed = false;
}

bool bus_is_guarded(void)
{
    return bus_installed;
}

/* As the kernel would answer: libc adds a flag and a function. */
static struct sigaction bus_as_kept(const struct sigaction *action)
{
    struct sigaction kept = *action, installed;
    if (bus_sigaction(NULL, &installed) == 0) {
        kept.sa_flags = (int)((unsigned)kept.sa_flags | ((unsigned)installed.sa_flags & KERNEL_RESTORER));
        kept.sa_restorer = installed.sa_restorer;
    }
    kept.sa_mask.__val[0] &= ~(1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1));
    return kept;
}

/* Whether the kernel still has the runtime's handler: a child by vfork may have changed its own action. */
static bool bus_is_in_force(struct sigaction *now)
{
    return bus_sigaction(NULL, now) == 0 && now->sa_sigaction == bus_handle;
}

static int bus_exchange_borrowed(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction now;
    if (bus_is_in_force(&now))
        now = bus_program;
    const int error = action ? bus_sigaction(action, NULL) : 0;
    if (old && !error)
        *old = now;
    return error;
}

int bus_exchange(const struct sigaction *action, struct sigaction *old)
{
    if (bus_is_borrowed())
        return bus_exchange_borrowed(action, old);
    const uint64_t mask = sys_block_signals();
    uint32_t *lock = runtime.process ? &runtime.process->bus_lock : NULL; /* a forked child finds it free */
    if (lock)
        lock_take(lock);
    const struct sigaction before = bus_program;
    int error = 0;
    if (action) {
        const struct sigaction wanted = *action; /* may be `old` */
        error = bus_install(&wanted);
        if (!error)
            bus_program = bus_as_kept(&wanted);
    }
    if (lock)
        lock_release(lock);
    sys_restore_signals(mask);
    if (old && !error)
        *old = before;
    return error;
}

/* ---- the mask ---- */

bool bus_is_blocked(void)
{
    return bus_thread.child || bus_thread.blocked ? *bus_blocked_word() : false;
}

void bus_block(bool blocked)
{
    *bus_blocked_word() = blocked;
    if (blocked)
        return;
    bus_thread.in_handler = false;
    bus_send_kept();
}

void bus_leave_handler(void)
{
    if (bus_thread.in_handler)
        bus_block(false);
}

uint64_t bus_adopt_mask(uint64_t mask)
{
    if (!bus_installed || !&dwell_interposed || !(mask & BUS_BIT))
        return mask;
    bus_thread.blocked = true;
    return mask & ~BUS_BIT;
}

struct bus_shown bus_show(bool program)
{
    struct bus_shown shown = { false, false };
    struct sigaction now;
    const uint64_t bit = BUS_BIT;
    if (!bus_installed)
        return shown;
    if (program && bus_program.sa_handler == SIG_IGN && bus_is_in_force(&now))
        shown.ignored = bus_sigaction(&(struct sigaction){ .sa_handler = SIG_IGN }, NULL) == 0;
    if (bus_is_blocked())
        shown.blocked = SYS4(rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof bit) == 0;
    return shown;
}

void bus_hide(struct bus_shown shown)
{
    const uint64_t bit = BUS_BIT;
    if (shown.blocked)
        SYS4(rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof bit);
    if (shown.ignored)
        bus_install(&bus_program);
}
