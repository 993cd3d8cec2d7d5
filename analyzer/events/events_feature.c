/* What the views of trace events add to dwell: a command. */
#include "events/events_feature.h"

static const struct named_command commands[] = {
    { "events", events_command, "the program's trace events: list, durations, queues", NULL, true, "marks" },
    { 0 },
};

const struct feature feature_events = { .name = "events", .commands = commands };
