/* What the feature mcp adds to dwell: a server for coding assistants. */
#ifndef DWELL_MCP_FEATURE_H
#define DWELL_MCP_FEATURE_H

#include "commands/features.h"

extern const struct feature feature_mcp;
command mcp_command;

#endif
