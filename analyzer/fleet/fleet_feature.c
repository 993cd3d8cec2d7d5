/* What the store of many runs adds to dwell: a command. */
#include "fleet/fleet_feature.h"

static const struct named_command commands[] = {
    { "fleet", fleet_command, "profiles of many runs on many machines, kept in ClickHouse", "Many machines", true,
      "diff" },
    { 0 },
};

const struct feature feature_fleet = { .name = "fleet", .commands = commands };
