/* What perflog_feature.c lists: the command and the export of PerfLog logs. */
#ifndef DWELL_PERFLOG_PERFLOG_FEATURE_H
#define DWELL_PERFLOG_PERFLOG_FEATURE_H

#include "commands/features.h"

/* Reads its options and returns the exit status. */
int perflog_command(int argc, char **argv);

bool perflog_export(const struct analysis *session, const struct export_options *options, FILE *out,
                    struct error *error);
bool perflog_export_check(const struct analysis *session, const struct export_options *options, struct error *error);

#endif
