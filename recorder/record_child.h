/* The recorded program as a child process: its environment, its start, its signals and its end. */
#ifndef DWELL_RECORDER_RECORD_CHILD_H
#define DWELL_RECORDER_RECORD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/child_environment.h"
#include "base/error.h"
#include "recorder/executable.h"
#include "recorder/record_settings.h"
#include "recorder/signal_relay.h"

/* The program's environment, in which the runtime finds the session and its settings. The caller drops it. An error if
 * the program needs libdwell.so and there is none. */
bool record_child_environment(const struct record_settings *s, const struct executable *e, const char *session,
                              struct child_environment *child, struct error *error);

/* Names the session in the environment, as the program that executes others is no writer for a moment. */
struct session;
void record_child_join(struct child_environment *child, const struct session *session, const char *path);

/* Runs the program with the sampler attached, and waits for its end; the relay passes signals on to it. Returns the
 * wait status, or -1 with *error set if the program cannot be started. Then *pid is negative if the cause is not
 * the program. Returns RECORD_CHILD_LOST, and says so, if the program runs or has run, but its end is unknown. From
 * its end on, dwell ends with its status if there is no memory. */
enum { RECORD_CHILD_LOST = -2 };
struct sampler;
int record_child_run(const struct record_settings *s, const struct executable *e,
                     const struct child_environment *environment, struct sampler *sampler, struct signal_relay *relay,
                     pid_t *pid, int *error);

/* Returns the program's exit status, or ends dwell by the signal that ended the program. */
int record_child_end_as(int status);

#endif
