/* What events_feature.c lists: the command that shows trace events. */
#ifndef DWELL_EVENTS_EVENTS_FEATURE_H
#define DWELL_EVENTS_EVENTS_FEATURE_H

#include "commands/features.h"

/* Reads its options and returns the exit status. */
int events_command(int argc, char **argv);

#endif
