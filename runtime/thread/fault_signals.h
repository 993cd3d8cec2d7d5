/*
 * The runtime's handlers for the signals of faults. SIGBUS comes for the session's mappings (guard.h), and SIGBUS and
 * SIGSEGV for memory of the program that is read for values (memory_read.h). They pass all others on to the program's
 * own handlers. What the program asks of these signals is kept here, and answered as if the runtime had no handlers.
 *
 * The handlers work only where their signals are not blocked. So a thread that blocks them does so here alone, unless
 * it is a thread that has not recorded yet.
 *
 * A set of signals is a word, with bit number - 1 for each.
 */
#ifndef DWELL_RUNTIME_FAULT_SIGNALS_H
#define DWELL_RUNTIME_FAULT_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Installs the handler of SIGBUS or SIGSEGV. In a program that contains libdwell.a, whose calls are not interposed, it
 * does so only if the signal has its default action. */
void fault_begin(int number);

/* Restores the program's own actions: there is no session. */
void fault_end(void);

/* The signals whose handlers are installed. For these, sigaction and sigprocmask are interposed. */
extern uint64_t fault_installed;

static inline uint64_t fault_guarded(void)
{
    return __atomic_load_n(&fault_installed, __ATOMIC_ACQUIRE);
}

bool fault_is_guarded(int number);

/* sigaction for a guarded signal. Returns zero or an errno value. */
int fault_exchange(int number, const struct sigaction *action, struct sigaction *old);

/* The guarded signals that the calling thread blocks as far as it knows. The second sets them. */
uint64_t fault_blocked(void);
void fault_block(uint64_t signals);

/* The calling thread is about to leave its handler for such a signal, if it is in one, for a context with a mask of its
 * own. */
void fault_leave_handler(void);

/* A new thread has inherited `mask`. It blocks the guarded signals in it from now on as fault_block does. Returns the
 * mask without them. */
uint64_t fault_adopt_mask(uint64_t mask);

/* Between the two, the kernel's mask of the calling thread is what the program asked for. So are its actions if
 * `program` is set. A thread that is made inherits the mask, and a program that is executed inherits both. */
struct fault_shown {
    uint64_t ignored, blocked;
};
struct fault_shown fault_show(bool program);
void fault_hide(struct fault_shown shown);

#pragma GCC visibility pop

#endif
