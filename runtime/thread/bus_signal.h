/*
 * The runtime's handler for SIGBUS. Faults of the session's mappings end in it (guard.h). It passes all others on to
 * the program's own handler. What the program asks of SIGBUS is kept here, and answered as if the runtime had no
 * handler.
 *
 * The handler works only where SIGBUS is not blocked. So a thread that blocks it does so here alone, unless it is a
 * thread that has not recorded yet.
 */
#ifndef DWELL_RUNTIME_BUS_SIGNAL_H
#define DWELL_RUNTIME_BUS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Installs the handler. In a program that contains libdwell.a, whose calls are not interposed, it does so only if
 * SIGBUS has its default action. */
void bus_begin(void);

/* Restores the program's own action: there is no session. */
void bus_end(void);

/* Whether the handler is installed, and sigaction and sigprocmask are interposed. */
bool bus_is_guarded(void);

/* sigaction for SIGBUS. Returns zero or an errno value. */
int bus_exchange(const struct sigaction *action, struct sigaction *old);

/* Whether the calling thread blocks SIGBUS as far as it knows. The second sets that. */
bool bus_is_blocked(void);
void bus_block(bool blocked);

/* The calling thread is about to leave its handler for SIGBUS, if it is in one, for a context with a mask of its own.
 */
void bus_leave_handler(void);

/* A new thread has inherited `mask`. It blocks SIGBUS from now on as bus_block does. Returns the mask without SIGBUS.
 */
uint64_t bus_adopt_mask(uint64_t mask);

/* Between the two, the kernel's mask of the calling thread is what the program asked for. So is its action if `program`
 * is set. A thread that is made inherits the mask, and a program that is executed inherits both. */
struct bus_shown {
    bool ignored, blocked;
};
struct bus_shown bus_show(bool program);
void bus_hide(struct bus_shown shown);

#pragma GCC visibility pop

#endif
