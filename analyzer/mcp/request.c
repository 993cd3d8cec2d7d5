/* Checks the arguments of a call, and makes words of a command line. No value can become an option: it follows its
 * option's name and =, or --, or is an absolute path. */
#include "mcp/request.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"

enum { MOST_TEXT = 64 << 10 }; /* Linux takes words of twice that */

/* What is being made of which argument. */
struct request_input {
    struct mcp_request *request;
    const struct mcp_tool *tool;
    const struct mcp_folders *folders;
    const struct mcp_argument *argument;
    struct error *error;
};

static void request_add(struct mcp_request *r, char *word)
{
    GROW(r->words, r->count, r->word_room);
    r->words[r->count++] = word;
}

/* Adds a value, as its argument says. */
static bool request_add_value(const struct request_input *in, const char *value)
{
    if (in->argument->option)
        request_add(in->request, need_text("%s=%s", in->argument->option, value));
    else
        request_add(in->request, need_text("%s", value));
    return true;
}

static bool request_refuse(const struct request_input *in, const char *wrong)
{
    return error_set(in->error, "%s: argument '%s' %s", in->tool->name, in->argument->name, wrong);
}

/* The text; NULL and an error if it is none that can be a word. */
static const char *request_text(const struct request_input *in, const struct json_object *value)
{
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string((void *)value) : NULL;
    if (!text)
        request_refuse(in, "is no text");
    else if (strlen(text) != (size_t)json_object_get_string_len(value) || strlen(text) > MOST_TEXT)
        request_refuse(in, "is no text: it is too long, or has a zero byte");
    else
        return text;
    return NULL;
}

/* Adds a path, and frees it. It is NULL if there was an error. */
static bool request_add_path(const struct request_input *in, char *path)
{
    if (path)
        request_add_value(in, path);
    free(path);
    return path != NULL;
}

static bool request_add_choice(const struct request_input *in, const char *text)
{
    const char *choices = in->argument->choices;
    const size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (length && strcspn(at, ",") == length && strncmp(at, text, length) == 0)
            return request_add_value(in, text);
    }
    return error_set(in->error, "%s: argument '%s': '%s' is none of %s", in->tool->name, in->argument->name, text,
                     choices);
}

/* FUNCTION=FACTOR, as a word without a factor would be a file. */
static bool request_is_factor(const char *text)
{
    const char *equals = strrchr(text, '=');
    char *end;
    if (!equals || equals == text || equals[1] < '0' || equals[1] > '9')
        return false;
    strtod(equals + 1, &end);
    return !*end;
}

static bool request_take_function(const struct request_input *in, const char *text)
{
    if (mcp_folders_exclude(in->folders, text))
        return request_refuse(in, "is the path of a file outside of the folders of dwell mcp");
    return request_add_value(in, text);
}

static bool request_take_text(const struct request_input *in, enum mcp_type type, const char *text)
{
    switch (type) {
    case MCP_CHOICE:
        return request_add_choice(in, text);
    case MCP_FUNCTION:
        return request_take_function(in, text);
    case MCP_FACTORS:
        return request_is_factor(text) ? request_add_value(in, text)
                                       : request_refuse(in, "is no list of FUNCTION=FACTOR, such as parse=0.5");
    case MCP_SESSION:
    case MCP_SESSIONS:
    case MCP_PROGRAM:
        return request_add_path(in, mcp_folders_find_file(in->folders, text, in->error));
    case MCP_OUTPUT:
        return request_add_path(in, mcp_folders_place_file(in->folders, text, in->error));
    case MCP_FOLDER:
        in->request->folder = mcp_folders_find_folder(in->folders, text, in->error);
        return in->request->folder != NULL;
    default:
        return request_add_value(in, text);
    }
}

static bool request_take_number(const struct request_input *in, struct json_object *value)
{
    const struct mcp_argument *a = in->argument;
    const int64_t number = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
    char text[24];
    if (number < a->least || number > a->most)
        return error_set(in->error, "%s: argument '%s' is no number from %ld to %ld", in->tool->name, a->name, a->least,
                         a->most);
    if (a->type == MCP_ROOM)
        in->request->room = (unsigned long)number;
    else if (a->type == MCP_SECONDS)
        in->request->limit = (unsigned long)number;
    snprintf(text, sizeof text, "%ld", (long)number);
    return a->type != MCP_NUMBER || request_add_value(in, text);
}

static bool request_take_flag(const struct request_input *in, struct json_object *value)
{
    if (!json_object_is_type(value, json_type_boolean))
        return request_refuse(in, "is neither true nor false");
    if (json_object_get_boolean(value))
        request_add(in->request, need_text("%s", in->argument->option));
    return true;
}

static bool request_take_list(const struct request_input *in, const struct json_object *list)
{
    if (!json_object_is_type(list, json_type_array))
        return request_refuse(in, "is no list");
    const size_t count = json_object_array_length(list);
    if (!count && in->argument->required)
        return request_refuse(in, "is empty");
    for (size_t i = 0; i < count; i++) {
        const char *text = request_text(in, json_object_array_get_idx(list, i));
        if (!text || !request_take_text(in, in->argument->type, text))
            return false;
    }
    return true;
}

static bool request_take_value(const struct request_input *in, struct json_object *value)
{
    const enum mcp_type type = in->argument->type;
    const bool dashes = in->argument->ends_options;
    if (dashes)
        request_add(in->request, need_text("--"));
    switch (type) {
    case MCP_NUMBER:
    case MCP_ROOM:
    case MCP_SECONDS:
        return request_take_number(in, value);
    case MCP_FLAG:
        return request_take_flag(in, value);
    case MCP_TEXTS:
    case MCP_FACTORS:
    case MCP_SESSIONS:
        return request_take_list(in, value);
    default: {
        const char *text = request_text(in, value);
        return text && request_take_text(in, type, text);
    }
    }
}

/* What an argument is that was not given. */
static bool request_take_usual(const struct request_input *in)
{
    const struct mcp_argument *a = in->argument;
    if (a->required)
        return request_refuse(in, "is missing");
    if (a->type == MCP_ROOM)
        in->request->room = (unsigned long)a->usual;
    else if (a->type == MCP_SECONDS)
        in->request->limit = (unsigned long)a->usual;
    else if (a->type == MCP_SESSION && a->ends_options)
        request_add(in->request, need_text("--"));
    return (a->type != MCP_SESSION && a->type != MCP_OUTPUT) || request_take_text(in, a->type, DWELL_USUAL_FILE);
}

/* There is no argument that the tool does not know. */
static bool request_check_names(const struct mcp_tool *tool, struct json_object *arguments, struct error *error)
{
    const char *names[MCP_MOST_ARGUMENTS];
    size_t count = 0;
    for (; tool->arguments[count]; count++)
        names[count] = tool->arguments[count]->name;
    json_object_object_foreach(arguments, key, value)
    {
        bool known = false;
        (void)value;
        for (size_t i = 0; i < count; i++)
            known |= strcmp(names[i], key) == 0;
        if (!known)
            return error_set(error, "%s: no argument '%s'%s", tool->name, key, suggestion(key, names, count, ""));
    }
    return true;
}

/* Begins with the command and the options that it always gets. */
static void request_begin(struct mcp_request *r, const struct mcp_tool *tool)
{
    *r = (struct mcp_request){ 0 };
    request_add(r, need_text("dwell"));
    request_add(r, need_text("%s", tool->name));
    if (tool->options)
        request_add(r, need_text("%s", tool->options));
}

/* Words come after options, so they are taken then. */
static bool request_take_all(struct request_input *in, struct json_object *arguments, bool words)
{
    for (const struct mcp_argument *const *a = in->tool->arguments; *a; a++) {
        const bool is_word = !(*a)->option && (*a)->type != MCP_FOLDER && (*a)->type < MCP_ROOM;
        struct json_object *value = NULL;
        in->argument = *a;
        if (is_word != words)
            continue;
        const bool given = arguments && json_object_object_get_ex(arguments, (*a)->name, &value) && value;
        if (!(given ? request_take_value(in, value) : request_take_usual(in)))
            return false;
    }
    return true;
}

bool mcp_request_make(struct mcp_request *r, const struct mcp_tool *tool, const struct mcp_folders *folders,
                      struct json_object *arguments, struct error *error)
{
    struct request_input in = { .request = r, .tool = tool, .folders = folders, .error = error };
    request_begin(r, tool);
    if ((!arguments || request_check_names(tool, arguments, error)) && request_take_all(&in, arguments, false) &&
        request_take_all(&in, arguments, true)) {
        if (!r->folder)
            r->folder = need_text("%s", folders->paths[0]);
        r->source_folders = mcp_folders_text(folders, "\n");
        request_add(r, NULL);
        return true;
    }
    mcp_request_drop(r);
    return false;
}

void mcp_request_drop(struct mcp_request *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->words[i]);
    free(r->words);
    free(r->folder);
    free(r->source_folders);
    *r = (struct mcp_request){ 0 };
}
