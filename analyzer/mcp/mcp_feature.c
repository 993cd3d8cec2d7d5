/* What the Model Context Protocol adds to dwell: a command. */
#include "mcp/mcp_feature.h"

static const struct named_command commands[] = {
    { "mcp", mcp_command, "answer a coding assistant, by the Model Context Protocol", "Assistants", false, "diff" },
    { 0 },
};

const struct feature feature_mcp = { .name = "mcp", .commands = commands };
