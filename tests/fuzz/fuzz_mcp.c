/*
 * The fuzzer's target for what a client of dwell mcp sends: a byte, the length of the pieces in which the lines arrive,
 * then the lines. What is refused has a message, and a command line names no file outside of the client's folder.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "mcp/client_lines.h"
#include "mcp/request.h"
#include "mcp/rpc_message.h"

static char mcp_folder[] = "/tmp/dwell-fuzz-mcp-XXXXXX";
static struct mcp_folders mcp_folders;
static FILE *mcp_answers;

static void mcp_remove_folder(void)
{
    char path[sizeof mcp_folder + 8];
    snprintf(path, sizeof path, "%s/a", mcp_folder);
    unlink(path);
    rmdir(mcp_folder);
}

static void mcp_begin(void)
{
    char path[sizeof mcp_folder + 8];
    struct error error = { NULL };
    fuzz_require(mkdtemp(mcp_folder) != NULL);
    snprintf(path, sizeof path, "%s/a", mcp_folder);
    FILE *file = fopen(path, "w");
    fuzz_require(file != NULL && fclose(file) == 0);
    fuzz_require(mcp_folders_add(&mcp_folders, mcp_folder, &error));
    mcp_answers = fopen("/dev/null", "w");
    fuzz_require(mcp_answers != NULL);
    atexit(mcp_remove_folder);
}

/* What a view opens. The words of options are texts, and those of a program are its own affair. */
static void mcp_check_words(const struct mcp_request *r)
{
    const size_t length = strlen(mcp_folder);
    for (size_t i = 1; r->words[i]; i++)
        fuzz_require(r->words[i][0] != '/' || access(r->words[i], F_OK) != 0 ||
                     strncmp(r->words[i], mcp_folder, length) == 0);
}

static void mcp_call(const struct mcp_message *m)
{
    const struct mcp_tool *tool = mcp_tool_find(m->method, true);
    struct mcp_request r;
    struct error error = { NULL };
    if (!tool)
        return;
    if (mcp_request_make(&r, tool, &mcp_folders, m->params, &error)) {
        if (!tool->runs_program)
            mcp_check_words(&r);
        mcp_request_drop(&r);
    } else {
        fuzz_require(error.text && error.text[0]);
        error_drop(&error);
    }
}

/* The name of a tool stands for a call of it. */
static void mcp_take(const char *line, size_t length)
{
    struct mcp_message m;
    mcp_message_read(&m, line, length);
    fuzz_require(m.kind != MCP_BAD || (m.code && m.wrong && m.wrong[0]));
    if (m.kind == MCP_REQUEST) {
        mcp_call(&m);
        mcp_write_result(mcp_answers, m.id, json_object_new_object());
    }
    if (m.kind == MCP_BAD)
        mcp_write_error(mcp_answers, m.id, m.code, m.wrong);
    mcp_message_drop(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcp_lines lines = { 0 };
    char *line;
    size_t length;
    if (!mcp_answers)
        mcp_begin();
    const size_t piece = (size_t)fuzz_byte(&data, &size) + 1;
    for (bool more = true; more;) {
        const size_t some = size < piece ? size : piece;
        mcp_lines_add(&lines, (const char *)data, some);
        data += some;
        size -= some;
        more = size > 0;
        if (!more)
            mcp_lines_end(&lines);
        for (enum mcp_line is; (is = mcp_lines_take(&lines, &line, &length)) != MCP_LINE_NONE;)
            if (is == MCP_LINE_GOOD)
                mcp_take(line, length);
    }
    mcp_lines_drop(&lines);
    return 0;
}
