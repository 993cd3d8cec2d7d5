/* What vsperf_feature.c lists: the import and the export of VSPerfReport's summaries. */
#ifndef DWELL_VSPERF_VSPERF_FEATURE_H
#define DWELL_VSPERF_VSPERF_FEATURE_H

#include "commands/features.h"

bool vsperf_import(char *const *files, size_t count, const struct import_options *options, const char *output,
                   struct error *error);
bool vsperf_export(const struct analysis *session, const struct export_options *options, const char *prefix,
                   struct error *error);

#endif
