/* The tools that a client can call: one table says how each becomes the command line of a command of dwell. */
#ifndef DWELL_MCP_TOOLS_H
#define DWELL_MCP_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/session_file.h"

/* What an argument is, and how it is checked. */
enum mcp_type {
    MCP_TEXT,
    MCP_NUMBER,   /* a whole one, from `least` to `most` */
    MCP_FLAG,     /* true adds the option */
    MCP_CHOICE,   /* one of `choices` */
    MCP_TEXTS,    /* a list */
    MCP_FUNCTION, /* its name, which must not be the path of a file outside */
    MCP_FACTORS,  /* a list of FUNCTION=FACTOR */
    MCP_SESSION,  /* a file in the folders; DWELL_USUAL_FILE by default */
    MCP_SESSIONS, /* a list of those */
    MCP_PROGRAM,  /* likewise */
    MCP_OUTPUT,   /* a file in the folders that may be made; DWELL_USUAL_FILE by default */
    MCP_FOLDER,   /* where the command runs; the first folder by default. No part of the command line */
    MCP_ROOM,     /* how long the answer may be. No part of the command line, and neither is the next one */
    MCP_SECONDS,  /* how long the command may run */
};

struct mcp_argument {
    const char *name;
    enum mcp_type type;
    const char *option; /* such as "--by"; NULL: the value is a word of the command line */
    bool ends_options;  /* "--" comes before it */
    bool required;
    const char *choices; /* separated by ", " */
    long least, most, usual;
    const char *does;
};

enum { MCP_MOST_ARGUMENTS = 16 };

struct mcp_tool {
    const char *name;    /* also of the command */
    const char *options; /* those that it always gets, separated by a space; NULL if none */
    const char *does;    /* for the client */
    const char *next;    /* what to ask after it */
    bool runs_program;   /* it is there only with --allow-record */
    const struct mcp_argument *arguments[MCP_MOST_ARGUMENTS]; /* in the order of words; ended by NULL */
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_tool_count;

/* The tool of that name. NULL if there is none, or none that is allowed. */
const struct mcp_tool *mcp_tool_find(const char *name, bool allow_record);

/* The tool as an answer to tools/list describes it. The caller owns the reference. */
struct json_object;
struct json_object *mcp_tool_describe(const struct mcp_tool *tool);

#endif
