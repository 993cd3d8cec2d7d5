/* What PerfLog logs add to dwell: a command and an export. */
#include "perflog/perflog_feature.h"

static const struct named_command commands[] = {
    { "perflog", perflog_command, "report PerfLog logs, or compare two", NULL, true, "merge" },
    { 0 },
};

static const struct export_format exports[] = {
    { .name = "perflog",
      .summary = "PerfLog markers: a line for each activation of a function",
      .uses = EXPORT_FUNCTIONS | EXPORT_AGGREGATE | EXPORT_SINGLE | EXPORT_COUNTED,
      .check = perflog_export_check,
      .write = perflog_export },
    { 0 },
};

const struct feature feature_perflog = { .name = "perflog", .commands = commands, .exports = exports };
