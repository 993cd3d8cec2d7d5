/* Reads and writes messages of JSON-RPC 2.0 by json-c, which checks UTF-8, depth and what follows the value. */
#include "mcp/rpc_message.h"

#include <string.h>

#include "base/json_text.h"

enum { MOST_DEPTH = 32 };

static void message_refuse(struct mcp_message *m, int code, const char *wrong)
{
    m->kind = MCP_BAD;
    m->code = code;
    m->wrong = wrong;
}

/* The value, or NULL and what is wrong. */
static struct json_object *message_parse(const char *line, size_t length, const char **wrong)
{
    struct json_tokener *tokener = json_tokener_new_ex(MOST_DEPTH);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *value = json_tokener_parse_ex(tokener, line, (int)length);
    const enum json_tokener_error error = json_tokener_get_error(tokener);
    const size_t end = json_tokener_get_parse_end(tokener);
    *wrong = NULL;
    if (error == json_tokener_continue)
        *wrong = "parse error: the JSON value does not end";
    else if (error != json_tokener_success)
        *wrong = error == json_tokener_error_depth               ? "parse error: it is nested too deeply"
                 : error == json_tokener_error_parse_utf8_string ? "parse error: it is not UTF-8"
                                                                 : "parse error: it is no JSON";
    else if (end != length)
        *wrong = "parse error: something follows the JSON value";
    json_tokener_free(tokener);
    if (!*wrong)
        return value;
    json_object_put(value);
    return NULL;
}

static bool message_is_id(const struct json_object *id)
{
    return json_object_is_type(id, json_type_string) || json_object_is_type(id, json_type_int) ||
           json_object_is_type(id, json_type_double);
}

/* Says what a message is by its members. */
static void message_classify(struct mcp_message *m)
{
    struct json_object *id, *params;
    const bool has_id = json_object_object_get_ex(m->root, "id", &id);
    const bool is_response =
        json_object_object_get_ex(m->root, "result", NULL) || json_object_object_get_ex(m->root, "error", NULL);
    const char *version = mcp_text(m->root, "jsonrpc");
    m->method = mcp_text(m->root, "method");
    m->id = has_id && message_is_id(id) ? id : NULL;
    if (json_object_object_get_ex(m->root, "params", &params) && json_object_is_type(params, json_type_object))
        m->params = params;
    if (!version || strcmp(version, "2.0") != 0)
        message_refuse(m, MCP_INVALID_REQUEST, "jsonrpc is not \"2.0\"");
    else if (!m->method && is_response)
        m->kind = MCP_RESPONSE;
    else if (!m->method)
        message_refuse(m, MCP_INVALID_REQUEST, "the request has no method");
    else if (has_id && !m->id)
        message_refuse(m, MCP_INVALID_REQUEST, "the id is neither a text nor a number");
    else if (params && !m->params)
        message_refuse(m, m->id ? MCP_INVALID_PARAMS : MCP_INVALID_REQUEST, "params is no object");
    else
        m->kind = has_id ? MCP_REQUEST : MCP_NOTIFICATION;
}

void mcp_message_read(struct mcp_message *m, const char *line, size_t length)
{
    const char *wrong;
    *m = (struct mcp_message){ .root = message_parse(line, length, &wrong) };
    if (wrong)
        message_refuse(m, MCP_PARSE_ERROR, wrong);
    else if (!json_object_is_type(m->root, json_type_object))
        message_refuse(m, MCP_INVALID_REQUEST, "the request is no object");
    else
        message_classify(m);
}

void mcp_message_drop(struct mcp_message *m)
{
    json_object_put(m->root);
}

const char *mcp_text(const struct json_object *object, const char *key)
{
    struct json_object *text;
    if (!json_object_object_get_ex(object, key, &text) || !json_object_is_type(text, json_type_string))
        return NULL;
    const char *bytes = json_object_get_string(text);
    return strlen(bytes) == (size_t)json_object_get_string_len(text) ? bytes : NULL;
}

void mcp_add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, json_new_text(text));
}

static void message_write(FILE *out, struct json_object *id, const char *key, struct json_object *value)
{
    struct json_object *message = json_object_new_object();
    mcp_add_text(message, "jsonrpc", "2.0");
    json_object_object_add(message, "id", json_object_get(id));
    json_object_object_add(message, key, value);
    json_put_object(out, message);
    putc('\n', out);
    fflush(out);
}

void mcp_write_result(FILE *out, struct json_object *id, struct json_object *result)
{
    message_write(out, id, "result", result);
}

void mcp_write_error(FILE *out, struct json_object *id, int code, const char *text)
{
    struct json_object *error = json_object_new_object();
    json_object_object_add(error, "code", json_object_new_int(code));
    mcp_add_text(error, "message", text);
    message_write(out, id, "error", error);
}
