/* What fleet_feature.c lists: the command of the store of many runs. */
#ifndef DWELL_FLEET_FLEET_FEATURE_H
#define DWELL_FLEET_FLEET_FEATURE_H

#include "commands/features.h"

/* Reads its options and returns the exit status. */
int fleet_command(int argc, char **argv);

#endif
