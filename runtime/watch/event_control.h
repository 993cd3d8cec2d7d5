/*
 * Control callbacks of trace events (dwell/event.h). They run on a thread of libc's, which the program's first callback
 * makes: the helper has no TLS, and a probe may be anywhere in the program.
 */
#ifndef DWELL_EVENT_CONTROL_H
#define DWELL_EVENT_CONTROL_H

#include "common.h"

#pragma GCC visibility push(hidden)

struct dwell_event_class;

#ifndef DWELL_WITHOUT_EVENTS

/* Announces that a state may have changed. May be called by any thread, also in handlers and in the helper. */
void event_control_notify(void);

/* Makes the thread again in a forked child that has callbacks. Called by the program's threads. */
void event_control_registered(void);

/* Removes the callbacks of the class, and waits for one that is running. */
void event_control_remove_class(const struct dwell_event_class *c);

#else

static inline void event_control_notify(void)
{
}

#endif

#pragma GCC visibility pop

#endif
