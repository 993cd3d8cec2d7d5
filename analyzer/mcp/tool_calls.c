/* Runs the commands of calls, a few at a time, until they end by themselves, at their limit, or because the client has
 * cancelled them. */
#include "mcp/tool_calls.h"

#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"
#include "clock.h"
#include "mcp/rpc_message.h"
#include "mcp/tool_answer.h"

/* What a recording has to be completed after SIGTERM, in nanoseconds. */
static const uint64_t second = 1000000000, grace = 10 * UINT64_C(1000000000);

void mcp_write_tool_text(FILE *out, struct json_object *id, const char *text, bool failed)
{
    struct json_object *result = json_object_new_object(), *list = json_object_new_array();
    struct json_object *content = json_object_new_object();
    mcp_add_text(content, "type", "text");
    mcp_add_text(content, "text", text);
    json_object_array_add(list, content);
    json_object_object_add(result, "content", list);
    json_object_object_add(result, "isError", json_object_new_boolean(failed));
    mcp_write_result(out, id, result);
}

void mcp_calls_add(struct mcp_calls *c, struct json_object *id, const struct mcp_tool *tool,
                   struct mcp_request *request)
{
    c->list[c->count++] = (struct mcp_call){ .id = json_object_get(id), .tool = tool, .request = *request };
}

static void calls_remove(struct mcp_calls *c, size_t i)
{
    if (c->list[i].runs)
        mcp_child_drop(&c->list[i].child);
    mcp_request_drop(&c->list[i].request);
    json_object_put(c->list[i].id);
    memmove(c->list + i, c->list + i + 1, (c->count - i - 1) * sizeof *c->list);
    c->count--;
}

/* Ends a running call. At the second time, and a view at the first one, it is killed. */
static void calls_stop(struct mcp_call *call, const char *why)
{
    mcp_child_end(&call->child, !call->ended && call->tool->runs_program);
    call->ended = why;
    call->until = clock_monotonic() + grace;
}

void mcp_calls_cancel(struct mcp_calls *c, struct json_object *id)
{
    for (size_t i = c->count; i-- > 0;) {
        struct mcp_call *call = &c->list[i];
        if (!json_object_equal(call->id, id) || call->cancelled)
            continue;
        call->cancelled = true;
        if (call->runs)
            calls_stop(call, "cancelled");
        else
            calls_remove(c, i);
    }
}

size_t mcp_calls_poll(struct mcp_calls *c, struct pollfd *polled)
{
    for (size_t i = 0; i < c->count; i++) {
        struct mcp_call *call = &c->list[i];
        polled[2 * i] = (struct pollfd){ call->runs ? call->child.out.fd : -1, POLLIN, 0 };
        polled[2 * i + 1] = (struct pollfd){ call->runs ? call->child.err.fd : -1, POLLIN, 0 };
    }
    return 2 * c->count;
}

void mcp_calls_read(struct mcp_calls *c, const struct pollfd *polled)
{
    for (size_t i = 0; i < c->count; i++) {
        if (polled[2 * i].revents)
            mcp_child_read(&c->list[i].child.out);
        if (polled[2 * i + 1].revents)
            mcp_child_read(&c->list[i].child.err);
    }
}

int mcp_calls_wait(const struct mcp_calls *c)
{
    enum { MILLION = 1000000, LONGEST = 60000 };
    const uint64_t now = clock_monotonic();
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t until = c->list[i].runs ? c->list[i].until : UINT64_MAX;
        const uint64_t left = until > now ? until - now : 0;
        least = left < least ? left : least;
    }
    if (least == UINT64_MAX)
        return -1;
    return least / MILLION < LONGEST ? (int)(least / MILLION) + 1 : LONGEST;
}

static void calls_answer(const struct mcp_call *call, FILE *out)
{
    bool failed;
    char *text = mcp_answer_of(call->tool, &call->child, call->request.room, call->ended, &failed);
    if (!call->cancelled)
        mcp_write_tool_text(out, call->id, text, failed);
    free(text);
}

/* Starts a call that waits. Returns false if it is answered instead. */
static bool calls_start(const struct mcp_calls *c, struct mcp_call *call, FILE *out)
{
    struct error error = { NULL };
    call->child.runs_program = call->tool->runs_program;
    call->child.with_values = c->with_values;
    call->runs =
        mcp_child_start(&call->child, call->request.words, call->request.folder, call->request.source_folders, &error);
    call->until = clock_monotonic() + call->request.limit * second;
    if (!call->runs)
        mcp_write_tool_text(out, call->id, error.text, true);
    error_drop(&error);
    return call->runs;
}

void mcp_calls_step(struct mcp_calls *c, FILE *out)
{
    size_t running = 0;
    for (size_t i = 0; i < c->count;) {
        struct mcp_call *call = &c->list[i];
        bool stays = true;
        if (!call->runs) {
            stays = running == MCP_MOST_RUNNING || calls_start(c, call, out);
        } else if (mcp_child_has_ended(&call->child)) {
            calls_answer(call, out);
            stays = false;
        } else if (clock_monotonic() >= call->until) {
            calls_stop(call, "it took longer than timeout_seconds, and was ended");
        }
        running += stays && call->runs;
        if (stays)
            i++;
        else
            calls_remove(c, i);
    }
}

/* Waits for a process that was asked to end, and kills it if it does not. */
static void calls_await_end(struct mcp_child *child, uint64_t until)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    while (!mcp_child_has_ended(child)) {
        if (clock_monotonic() >= until)
            mcp_child_end(child, false);
        nanosleep(&pause, NULL);
    }
}

void mcp_calls_end(struct mcp_calls *c)
{
    const uint64_t until = clock_monotonic() + second;
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].runs)
            mcp_child_end(&c->list[i].child, c->list[i].tool->runs_program);
    while (c->count) {
        if (c->list[0].runs)
            calls_await_end(&c->list[0].child, until);
        calls_remove(c, 0);
    }
}
