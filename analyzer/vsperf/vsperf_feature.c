/* What VSPerfReport's summaries add to dwell: an export and an import. */
#include "vsperf/vsperf_feature.h"

static const struct export_format exports[] = {
    { .name = "vsperf",
      .summary = "VSPerfReport's summaries, as CSV files PREFIX_*.csv",
      .uses = EXPORT_CSV | EXPORT_LIMITS | EXPORT_COUNTED,
      .write_files = vsperf_export },
    { 0 },
};

static const struct import_format imports[] = {
    { "vsperf", "VSPerfReport's summaries, as CSV files", vsperf_import },
    { 0 },
};

const struct feature feature_vsperf = { .name = "vsperf", .exports = exports, .imports = imports };
