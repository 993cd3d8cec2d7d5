/* What causes_feature.c lists: the commands of waits, of slow calls, of the critical path, and of
 * what would be if. */
#ifndef DWELL_CAUSES_CAUSES_FEATURE_H
#define DWELL_CAUSES_CAUSES_FEATURE_H

#include "commands/features.h"

/* Each reads its options and returns the exit status. */
int waits_command(int argc, char **argv);
int critical_command(int argc, char **argv);
int whatif_command(int argc, char **argv);
int why_command(int argc, char **argv);

#endif
