/* The handlers for SIGBUS and SIGSEGV, and the program's own actions for them. */
#include "fault_signals.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "common.h"
#include "guard.h"
#include "helper.h"
#include "interposed.h"
#include "levels/machine.h"
#include "lock.h"
#include "memory_read.h"
#include "modules.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "upward.h"

enum { KERNEL_RESTORER = 0x04000000 }; /* SA_RESTORER: set by libc, and seen in the answers */

enum { FAULT_BUS, FAULT_SEGV, FAULTS };

static const int fault_numbers[FAULTS] = { SIGBUS, SIGSEGV };

uint64_t fault_installed;
static struct sigaction fault_programs[FAULTS]; /* the program's actions */

/* What the calling thread believes of these signals. A child by vfork shares its parent's memory, but not its mask.
 * `in_handler`: the program's handler for the signal runs, and blocks it until it returns. One that is sent meanwhile
 * is kept, as more of them would not be queued either. */
static __thread struct {
    uint32_t child;
    uint64_t blocked, child_blocked, in_handler, keeps;
    siginfo_t kept[FAULTS];
} fault_thread __attribute__((tls_model("initial-exec")));

static uint64_t fault_bit(int number)
{
    return 1ull << (number - 1);
}

static int fault_index(int number)
{
    return number == SIGBUS ? FAULT_BUS : FAULT_SEGV;
}

/* A child by vfork: it shares the memory of the process, and has signal actions of its own. */
static bool fault_is_borrowed(void)
{
    const struct process *p = runtime.process;
    return p && p->pid && p->pid != (uint32_t)SYS0(getpid);
}

static uint64_t *fault_blocked_word(void)
{
    if (!fault_is_borrowed())
        return &fault_thread.blocked;
    const uint32_t pid = (uint32_t)SYS0(getpid);
    if (fault_thread.child != pid) {
        fault_thread.child = pid;
        fault_thread.child_blocked = fault_thread.blocked;
    }
    return &fault_thread.child_blocked;
}

static void fault_set_blocked(int number, bool blocked)
{
    uint64_t *word = fault_blocked_word();
    *word = blocked ? *word | fault_bit(number) : *word & ~fault_bit(number);
}

static int fault_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    const int error = errno;
    const int failed =
        &interpose_next_sigaction ? interpose_next_sigaction(number, action, old) : sigaction(number, action, old);
    const int why = failed ? errno : 0;
    errno = error;
    return why;
}

/* ---- signals that are not the runtime's ---- */

static bool fault_is_synchronous(const siginfo_t *info)
{
    return info->si_code > 0 && !(info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

static void fault_send_again(const siginfo_t *info, bool to_thread)
{
    if (to_thread)
        SYS4(rt_tgsigqueueinfo, SYS0(getpid), SYS0(gettid), info->si_signo, info);
    else
        SYS3(rt_sigqueueinfo, SYS0(getpid), info->si_signo, info);
}

static void fault_block_in_kernel(uint64_t signals)
{
    SYS4(rt_sigprocmask, SIG_BLOCK, &signals, NULL, sizeof signals);
}

static void fault_send_kept(int number)
{
    if (!(fault_thread.keeps & fault_bit(number)))
        return;
    const siginfo_t info = fault_thread.kept[fault_index(number)];
    fault_thread.keeps &= ~fault_bit(number);
    fault_send_again(&info, true);
}

/* The thread goes on with the signal blocked, and it waits for another thread, or for this one. In the handler the
 * kernel does not block it, as probes may run. */
static void fault_postpone(const siginfo_t *info, ucontext_t *context, bool to_thread)
{
    const uint64_t bit = fault_bit(info->si_signo);
    if (to_thread && fault_thread.in_handler & bit) {
        fault_thread.kept[fault_index(info->si_signo)] = *info;
        fault_thread.keeps |= bit;
        return;
    }
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= bit;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    fault_block_in_kernel(bit); /* otherwise it would come at once */
    fault_send_again(info, to_thread);
}

/* The instruction faults again, or the signal comes again, and the kernel ends the process. */
static void fault_die(const siginfo_t *info)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };
    fault_sigaction(info->si_signo, &standard, NULL);
    if (!fault_is_synchronous(info))
        fault_send_again(info, true);
}

typedef void fault_handler(int number, siginfo_t *info, void *context);

/* The kernel has set the mask and chosen the stack as the program's action wants, but has not blocked the signal: the
 * handler may run probes. The thread does not block it before. Afterwards, the mask is that of the context. */
static void fault_call_handler(fault_handler *handler, int number, siginfo_t *info, ucontext_t *context)
{
    const uint64_t bit = fault_bit(number), before = fault_thread.in_handler;
    const struct sigaction *program = &fault_programs[fault_index(number)];
    if (!(program->sa_flags & SA_NODEFER) || program->sa_mask.__val[0] & bit) {
        fault_set_blocked(number, true);
        fault_thread.in_handler |= bit;
    }
    handler(number, info, context);
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    fault_set_blocked(number, mask & bit);
    mask &= ~bit;
    memcpy(&context->uc_sigmask, &mask, sizeof mask);
    fault_thread.in_handler = before;
    if (fault_thread.keeps & bit && !(*fault_blocked_word() & bit)) {
        fault_block_in_kernel(bit); /* until the handler has returned */
        fault_send_kept(number);
    }
}

static void fault_pass_on(int number, siginfo_t *info, void *context)
{
    const bool synchronous = fault_is_synchronous(info);
    if (helper_is_here()) { /* it has no state of libc */
        if (synchronous)
            fault_die(info);
        else if (number != SIGBUS || info->si_code != SI_TKILL) /* helper_wake sends that */
            fault_postpone(info, context, false);
        return;
    }
    struct sigaction *program = &fault_programs[fault_index(number)];
    const bool blocked = *fault_blocked_word() & fault_bit(number);
    if (blocked && !synchronous) {
        fault_postpone(info, context, true);
        return;
    }
    sighandler_t handler = __atomic_load_n(&program->sa_handler, __ATOMIC_ACQUIRE);
    if (program->sa_flags & (int)SA_RESETHAND && handler != SIG_IGN)
        handler = __atomic_exchange_n(&program->sa_handler, SIG_DFL, __ATOMIC_ACQ_REL);
    if (handler == SIG_IGN && !synchronous)
        return;
    if (blocked || handler == SIG_DFL || handler == SIG_IGN)
        fault_die(info);
    else
        fault_call_handler((fault_handler *)(void *)handler, number, info, context);
}

static void fault_skip_count(ucontext_t *context)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] += COUNT_IN_PLACE_BYTES;
#else
    (void)context;
#endif
}

static void fault_handle_segv(int number, siginfo_t *info, void *context)
{
    if (!fault_is_synchronous(info) || !memory_read_has_failed(context))
        fault_pass_on(number, info, context);
}

static void fault_handle_bus(int number, siginfo_t *info, void *context)
{
    if ((info->si_code == BUS_ADRERR || info->si_code == BUS_OBJERR) && guard_replace(info->si_addr))
        return;
    if (fault_is_synchronous(info) && memory_read_has_failed(context))
        return;
    switch (info->si_code == BUS_ADRERR ? upward.begin_child(info->si_addr) : COUNTS_NO_CHILD) {
    case COUNTS_CALL_LOST:
        fault_skip_count(context);
        break;
    case COUNTS_NO_CHILD:
        fault_pass_on(number, info, context);
        break;
    default:
        break;
    }
}

static fault_handler *const fault_handlers[FAULTS] = { fault_handle_bus, fault_handle_segv };

/* ---- the program's action ---- */

static bool fault_has_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The runtime's handler with the program's mask and stack. Guarded signals are never blocked. */
static struct sigaction fault_action_for(int number, const struct sigaction *program)
{
    struct sigaction action = { .sa_flags = SA_ONSTACK | SA_RESTART };
    if (fault_has_handler(program))
        action = *program;
    action.sa_flags = (int)(((unsigned)action.sa_flags | SA_SIGINFO | SA_NODEFER) & ~(unsigned)SA_RESETHAND);
    action.sa_mask.__val[0] &= ~(fault_installed | fault_bit(number));
    action.sa_sigaction = fault_handlers[fault_index(number)];
    return action;
}

static int fault_install(int number, const struct sigaction *program)
{
    const struct sigaction action = fault_action_for(number, program);
    return fault_sigaction(number, &action, NULL);
}

void fault_begin(int number)
{
    struct sigaction *program = &fault_programs[fault_index(number)];
    if (fault_is_guarded(number) || fault_sigaction(number, NULL, program) != 0)
        return;
    if (!&dwell_interposed && program->sa_handler != SIG_DFL)
        return;
    if (fault_install(number, program) != 0)
        return;
    __atomic_fetch_or(&fault_installed, fault_bit(number), __ATOMIC_RELEASE);
    for (int i = 0; i < FAULTS; i++) /* the masks of their handlers leave this one out, too */
        if (fault_numbers[i] != number && fault_is_guarded(fault_numbers[i]))
            fault_install(fault_numbers[i], &fault_programs[i]);
}

/* libc would add a flag to the action that the process began with. */
static void fault_restore(int number, const struct sigaction *program)
{
#if defined(__x86_64__)
    const struct {
        sighandler_t handler;
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = { program->sa_handler, (unsigned)program->sa_flags, program->sa_restorer, program->sa_mask.__val[0] };
    SYS4(rt_sigaction, number, &action, NULL, sizeof action.mask);
#else
    fault_sigaction(number, program, NULL);
#endif
}

void fault_end(void)
{
    for (int i = 0; i < FAULTS; i++)
        if (fault_is_guarded(fault_numbers[i]))
            fault_restore(fault_numbers[i], &fault_programs[i]);
    fault_installed = 0;
}

bool fault_is_guarded(int number)
{
    return number > 0 && number <= 64 && fault_guarded() & fault_bit(number);
}

/* As the kernel would answer: libc adds a flag and a function. */
static struct sigaction fault_as_kept(int number, const struct sigaction *action)
{
    struct sigaction kept = *action, installed;
    if (fault_sigaction(number, NULL, &installed) == 0) {
        kept.sa_flags = (int)((unsigned)kept.sa_flags | ((unsigned)installed.sa_flags & KERNEL_RESTORER));
        kept.sa_restorer = installed.sa_restorer;
    }
    kept.sa_mask.__val[0] &= ~(1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1));
    return kept;
}

/* Whether the kernel still has the runtime's handler: a child by vfork may have changed its own action. */
static bool fault_is_in_force(int number, struct sigaction *now)
{
    return fault_sigaction(number, NULL, now) == 0 && now->sa_sigaction == fault_handlers[fault_index(number)];
}

static int fault_exchange_borrowed(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction now;
    if (fault_is_in_force(number, &now))
        now = fault_programs[fault_index(number)];
    const int error = action ? fault_sigaction(number, action, NULL) : 0;
    if (old && !error)
        *old = now;
    return error;
}

int fault_exchange(int number, const struct sigaction *action, struct sigaction *old)
{
    if (fault_is_borrowed())
        return fault_exchange_borrowed(number, action, old);
    const uint64_t mask = sys_block_signals();
    uint32_t *lock = runtime.process ? &runtime.process->fault_lock : NULL; /* a forked child finds it free */
    if (lock)
        lock_take(lock);
    struct sigaction *program = &fault_programs[fault_index(number)];
    const struct sigaction before = *program;
    int error = 0;
    if (action) {
        const struct sigaction wanted = *action; /* may be `old` */
        error = fault_install(number, &wanted);
        if (!error)
            *program = fault_as_kept(number, &wanted);
    }
    if (lock)
        lock_release(lock);
    sys_restore_signals(mask);
    if (old && !error)
        *old = before;
    return error;
}

/* ---- the mask ---- */

uint64_t fault_blocked(void)
{
    return fault_thread.child || fault_thread.blocked ? *fault_blocked_word() : 0;
}

void fault_block(uint64_t signals)
{
    *fault_blocked_word() = signals;
    fault_thread.in_handler &= signals;
    for (int i = 0; i < FAULTS; i++)
        if (!(signals & fault_bit(fault_numbers[i])))
            fault_send_kept(fault_numbers[i]);
}

void fault_leave_handler(void)
{
    if (fault_thread.in_handler)
        fault_block(*fault_blocked_word() & ~fault_thread.in_handler);
}

uint64_t fault_adopt_mask(uint64_t mask)
{
    const uint64_t adopted = &dwell_interposed ? mask & fault_guarded() : 0;
    fault_thread.blocked |= adopted;
    return mask & ~adopted;
}

struct fault_shown fault_show(bool program)
{
    struct fault_shown shown = { 0, 0 };
    struct sigaction now;
    if (!fault_guarded())
        return shown;
    for (int i = 0; i < FAULTS; i++) {
        const int number = fault_numbers[i];
        if (program && fault_is_guarded(number) && fault_programs[i].sa_handler == SIG_IGN &&
            fault_is_in_force(number, &now) &&
            fault_sigaction(number, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL) == 0)
            shown.ignored |= fault_bit(number);
    }
    const uint64_t blocked = fault_blocked();
    if (blocked && SYS4(rt_sigprocmask, SIG_BLOCK, &blocked, NULL, sizeof blocked) == 0)
        shown.blocked = blocked;
    return shown;
}

void fault_hide(struct fault_shown shown)
{
    if (shown.blocked)
        SYS4(rt_sigprocmask, SIG_UNBLOCK, &shown.blocked, NULL, sizeof shown.blocked);
    for (int i = 0; i < FAULTS; i++)
        if (shown.ignored & fault_bit(fault_numbers[i]))
            fault_install(fault_numbers[i], &fault_programs[i]);
}
