/*
 * Switching the recording on and off, from the program and from outside.
 */
#ifndef DWELL_CONTROL_H
#define DWELL_CONTROL_H

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct process;
struct thread;

/* Makes the process' control chunk in the session `fd`. */
void control_begin_process(int fd);

/* A filter switches the process on or off. */
void control_trigger(bool on);

/* Installs the handler of the signal that asks for a copy of the session, if the user wants one. */
void control_dump_on_signal(void);

/* Carries out the commands that have come from outside. In the helper; `fd` is its descriptor of the session. */
void control_take_commands(struct process *p, int fd);

#pragma GCC visibility pop

#endif
