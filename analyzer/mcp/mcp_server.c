/* The loop of the server: takes lines, answers them, and looks after the commands that calls have started. */
#include "mcp/mcp_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "mcp/client_lines.h"
#include "mcp/request.h"
#include "mcp/rpc_message.h"
#include "mcp/tool_answer.h"
#include "mcp/tool_calls.h"

enum { PIECE = 64 << 10 };

struct mcp_server {
    const struct mcp_options *options;
    FILE *out;
    struct mcp_lines lines;
    struct mcp_calls calls;
    bool in_ended, ends;
};

/* ---- methods ---- */

/* The newest version first. 2025-03-26 is not there: its batches are not for this server, and its clients know the
 * version before. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2024-11-05" };

/* The version of the answer: the client's, or the newest one before it, which it may know. */
static const char *server_choose_version(const char *wanted)
{
    for (size_t i = 0; wanted && i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i], wanted) <= 0)
            return versions[i];
    return versions[0];
}

static char *server_instructions(const struct mcp_options *o)
{
    char *folders = mcp_folders_text(&o->folders, ", ");
    char *text = need_text(
        "dwell measures where the time of C and C++ programs goes, from recorded sessions. %sBegin with report. For a "
        "function that uses the CPU, ask callers and annotate; for threads that wait, waits and critical. Change one "
        "thing, record again to another file, and compare both by diff. Doubt what remarks (!) doubt. Paths are "
        "limited to: %s",
        o->allow_record ? "Record a session by record. " : "The user records sessions: dwell record ./prog. ", folders);
    free(folders);
    return text;
}

static struct json_object *server_initialize(const struct mcp_server *s, const struct mcp_message *m)
{
    struct json_object *result = json_object_new_object(), *capabilities = json_object_new_object();
    struct json_object *info = json_object_new_object();
    char *instructions = server_instructions(s->options);
    json_object_object_add(capabilities, "tools", json_object_new_object());
    mcp_add_text(info, "name", "dwell");
    mcp_add_text(info, "version", DWELL_VERSION_TEXT);
    mcp_add_text(result, "protocolVersion",
                 server_choose_version(m->params ? mcp_text(m->params, "protocolVersion") : NULL));
    json_object_object_add(result, "capabilities", capabilities);
    json_object_object_add(result, "serverInfo", info);
    mcp_add_text(result, "instructions", instructions);
    free(instructions);
    return result;
}

static struct json_object *server_list_tools(const struct mcp_server *s)
{
    struct json_object *result = json_object_new_object(), *list = json_object_new_array();
    for (size_t i = 0; i < mcp_tool_count; i++)
        if (s->options->allow_record || !mcp_tools[i].runs_program)
            json_object_array_add(list, mcp_tool_describe(&mcp_tools[i]));
    json_object_object_add(result, "tools", list);
    return result;
}

static void server_call_tool(struct mcp_server *s, const struct mcp_message *m)
{
    struct json_object *arguments = NULL;
    struct mcp_request request;
    struct error error = { NULL };
    const char *name = m->params ? mcp_text(m->params, "name") : NULL;
    const struct mcp_tool *tool = name ? mcp_tool_find(name, s->options->allow_record) : NULL;
    if (m->params)
        json_object_object_get_ex(m->params, "arguments", &arguments);
    if (!name || !tool) {
        char *text = name ? need_text("no tool '%s'", name) : need_text("tools/call: the name is missing");
        mcp_write_error(s->out, m->id, MCP_INVALID_PARAMS, text);
        free(text);
    } else if (arguments && !json_object_is_type(arguments, json_type_object)) {
        mcp_write_error(s->out, m->id, MCP_INVALID_PARAMS, "tools/call: the arguments are no object");
    } else if (!mcp_request_make(&request, tool, &s->options->folders, arguments, &error)) {
        mcp_write_tool_text(s->out, m->id, error.text, true);
        error_drop(&error);
    } else if (s->calls.count == MCP_MOST_CALLS) {
        mcp_write_tool_text(s->out, m->id, "too many calls at a time: wait for the answers", true);
        mcp_request_drop(&request);
    } else {
        mcp_calls_add(&s->calls, m->id, tool, &request);
    }
}

static void server_answer(struct mcp_server *s, const struct mcp_message *m)
{
    if (strcmp(m->method, "initialize") == 0) {
        mcp_write_result(s->out, m->id, server_initialize(s, m));
    } else if (strcmp(m->method, "ping") == 0) {
        mcp_write_result(s->out, m->id, json_object_new_object());
    } else if (strcmp(m->method, "tools/list") == 0) {
        mcp_write_result(s->out, m->id, server_list_tools(s));
    } else if (strcmp(m->method, "tools/call") == 0) {
        server_call_tool(s, m);
    } else {
        char *text = need_text("no method '%s'", m->method);
        mcp_write_error(s->out, m->id, MCP_NO_METHOD, text);
        free(text);
    }
}

static void server_notice(struct mcp_server *s, const struct mcp_message *m)
{
    struct json_object *id;
    if (strcmp(m->method, "notifications/cancelled") == 0 && m->params &&
        json_object_object_get_ex(m->params, "requestId", &id))
        mcp_calls_cancel(&s->calls, id);
}

static void server_take_line(struct mcp_server *s, const char *line, size_t length)
{
    struct mcp_message m;
    if (strspn(line, " \t\r") >= length) /* such as the end of a line of Windows */
        return;
    mcp_message_read(&m, line, length);
    if (m.kind == MCP_BAD)
        mcp_write_error(s->out, m.id, m.code, m.wrong);
    else if (m.kind == MCP_REQUEST)
        server_answer(s, &m);
    else if (m.kind == MCP_NOTIFICATION)
        server_notice(s, &m);
    mcp_message_drop(&m);
}

/* ---- the loop ---- */

static void server_take_lines(struct mcp_server *s)
{
    char *line;
    size_t length;
    for (enum mcp_line is; (is = mcp_lines_take(&s->lines, &line, &length)) != MCP_LINE_NONE;) {
        if (is == MCP_LINE_GOOD)
            server_take_line(s, line, length);
        else
            mcp_write_error(s->out, NULL, MCP_PARSE_ERROR, "parse error: the line has more than 1 MiB");
    }
}

static void server_read(struct mcp_server *s, int in)
{
    static char piece[PIECE];
    const ssize_t length = read(in, piece, sizeof piece);
    if (length > 0)
        mcp_lines_add(&s->lines, piece, (size_t)length);
    else if (length == 0 || (errno != EINTR && errno != EAGAIN))
        s->in_ended = true;
    if (s->in_ended)
        mcp_lines_end(&s->lines);
    server_take_lines(s);
}

/* SIGCHLD only wakes the loop. */
static void server_take_signals(struct mcp_server *s, int signals)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info)
        s->ends |= info.ssi_signo != SIGCHLD;
}

static int server_block_signals(void)
{
    static const int taken[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Waits for what comes next, and handles it. */
static void server_step(struct mcp_server *s, int in, int signals)
{
    enum { IN, OUT, SIGNALS, OWN };
    struct pollfd polled[OWN + 2 * MCP_MOST_CALLS] = {
        [IN] = { s->in_ended ? -1 : in, POLLIN, 0 },
        [OUT] = { fileno(s->out), 0, 0 },
        [SIGNALS] = { signals, POLLIN, 0 },
    };
    const size_t count = mcp_calls_poll(&s->calls, polled + OWN);
    if (poll(polled, OWN + count, mcp_calls_wait(&s->calls)) < 0 && errno != EINTR) {
        s->ends = true;
        return;
    }
    if (polled[SIGNALS].revents)
        server_take_signals(s, signals);
    mcp_calls_read(&s->calls, polled + OWN);
    if (polled[IN].revents)
        server_read(s, in);
    mcp_calls_step(&s->calls, s->out);
    s->ends |= polled[OUT].revents || ferror(s->out);
}

void mcp_serve(const struct mcp_options *options, int in, FILE *out)
{
    struct mcp_server s = { .options = options, .calls.with_values = options->with_values, .out = out };
    const int signals = server_block_signals();
    while (!s.ends && (!s.in_ended || s.calls.count))
        server_step(&s, in, signals);
    mcp_calls_end(&s.calls);
    mcp_lines_drop(&s.lines);
    close(signals);
}
