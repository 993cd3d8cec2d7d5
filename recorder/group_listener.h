/*
 * A process in dwell's process group that does nothing but hear signals. A signal that is sent to the whole group, or
 * to all processes of a service, reaches it as well. So dwell knows which signals the program has had without dwell.
 */
#ifndef DWELL_RECORDER_GROUP_LISTENER_H
#define DWELL_RECORDER_GROUP_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct group_listener {
    pid_t pid; /* negative: it could not be started, and hears nothing */
    int line;
};

/* Starts it. All signals must be blocked. It ends with dwell, or by group_listener_stop. */
void group_listener_start(struct group_listener *l);
void group_listener_stop(struct group_listener *l);

/* Returns when it last heard this signal from that sender (clock_monotonic), or zero. If the signal was sent to the
 * whole group and this process has it, the listener has heard it. */
uint64_t group_listener_heard(const struct group_listener *l, int number, pid_t sender);

/* Until the next call, continues dwell when it is stopped and process `pid` is not. Zero: never. */
void group_listener_watch(const struct group_listener *l, pid_t pid);

#endif
