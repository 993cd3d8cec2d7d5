/* The messages of JSON-RPC 2.0 as the Model Context Protocol has them: one JSON object a line. */
#ifndef DWELL_MCP_RPC_MESSAGE_H
#define DWELL_MCP_RPC_MESSAGE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum mcp_kind {
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_RESPONSE, /* to a request that dwell does not make */
    MCP_BAD,
};

/* Codes of errors. */
enum { MCP_PARSE_ERROR = -32700, MCP_INVALID_REQUEST = -32600, MCP_NO_METHOD = -32601, MCP_INVALID_PARAMS = -32602 };

struct mcp_message {
    enum mcp_kind kind;
    struct json_object *root;   /* owned; what follows is part of it */
    struct json_object *id;     /* NULL if there is none, or none that is valid */
    struct json_object *params; /* an object; NULL if there are none */
    const char *method;
    int code; /* of MCP_BAD, and what is wrong */
    const char *wrong;
};

/* Reads a line of any bytes. mcp_message_drop frees the message, whatever its kind. */
void mcp_message_read(struct mcp_message *m, const char *line, size_t length);
void mcp_message_drop(struct mcp_message *m);

/* The text of a member; NULL if it is missing, no text, or has a zero byte. */
const char *mcp_text(const struct json_object *object, const char *key);

/* Adds a text to an object. */
void mcp_add_text(struct json_object *object, const char *key, const char *text);

/* Write an answer as one line. The first one takes the reference of the result. `id` stays the caller's; NULL if the
 * request has none that can be read. */
void mcp_write_result(FILE *out, struct json_object *id, struct json_object *result);
void mcp_write_error(FILE *out, struct json_object *id, int code, const char *text);

#endif
