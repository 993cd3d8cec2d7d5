/* dwell mcp as a client sees it: the protocol, the list of tools, and the answers of all views. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void mcp_save_session(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
}

TestSuite(golden_mcp, .init = mcp_save_session, .timeout = 300);

static void mcp_write_lines(const char *const lines[])
{
    FILE *file = fopen(test_path("script"), "w");
    cr_assert(file != NULL);
    for (size_t i = 0; lines[i]; i++)
        fputs(lines[i], file);
    fclose(file);
}

static void mcp_write_script(const char *text)
{
    mcp_write_lines((const char *const[]){ text, NULL });
}

#define REQUEST(id, method, params)                                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":" params "}\n"

/* Each bad line has its error, and the next line is answered. */
Test(golden_mcp, protocol)
{
    static const char *const lines[] = {
        REQUEST("0", "initialize", "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        REQUEST("1", "initialize", "{\"protocolVersion\":\"2025-03-26\"}"),
        REQUEST("2", "initialize", "{\"protocolVersion\":\"2099-01-01\"}"),
        REQUEST("3", "initialize", "{}"),
        REQUEST("\"text\"", "ping", "{}"),
        REQUEST("4", "resources/list", "{}"),
        REQUEST("5", "tools/call", "{}"),
        REQUEST("6", "tools/call", "{\"name\":\"record\",\"arguments\":{\"program\":\"x\"}}"),
        REQUEST("7", "tools/call", "{\"name\":\"report\",\"arguments\":[]}"),
        REQUEST("8", "ping", "[]"),
        "nonsense\n",
        "\n",
        "\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":9\n",
        "[",
        REQUEST("10", "ping", "{}"),
        "{\"jsonrpc\":\"2.0\",\"id\":11,\"result\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"1.0\",\"id\":12,\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody-knows\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"ping\"}", /* without an end of the line */
        NULL,
    };
    mcp_write_lines(lines);
    char *text = run_well("{ cat script; } | $DWELL mcp | sed \"s,$PWD,HERE,g\"");
    check_text(text, "mcp-protocol.txt");
    free(text);
}

Test(golden_mcp, lines_that_are_long_or_deep)
{
    char *text =
        run_well("{ head -c 3000000 /dev/zero | tr '\\0' x; echo; head -c 100000 /dev/zero | tr '\\0' '['; echo\n"
                 "printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\\n'; } | $DWELL mcp");
    cr_assert(
        eq(str, text,
           "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"parse error: the line has more "
           "than 1 MiB\"}}\n"
           "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"parse error: it is nested too "
           "deeply\"}}\n"
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
    free(text);
}

/* Only --allow-record lists what runs a program. */
Test(golden_mcp, tools)
{
    mcp_write_script(REQUEST("1", "tools/list", "{}"));
    char *text = run_well("$DWELL mcp --allow-record <script | python3 -m json.tool");
    check_text(text, "mcp-tools.txt");
    free(text);
    text = run_well("$DWELL mcp <script");
    cr_assert(has(text, "\"name\":\"report\"") && !has(text, "\"name\":\"record\""));
    free(text);
}

Test(golden_mcp, answers)
{
    static const char *const calls[] = {
        "report\", \"arguments\":{}",
        "report\", \"arguments\":{\"by\":\"module\",\"limit\":1}",
        "report\", \"arguments\":{\"max_characters\":1000,\"by\":\"function\"}",
        "tree\", \"arguments\":{\"depth\":3}",
        "callers\", \"arguments\":{\"function\":\"price_of\"}",
        "waits\"",
        "critical\", \"arguments\":{\"by\":\"thread\"}",
        "whatif\", \"arguments\":{\"functions\":[\"handle=0.5\"]}",
        "why\", \"arguments\":{\"function\":\"price_of\",\"call\":\"1\"}",
        "diff\", \"arguments\":{\"before\":[\"dwell.data\"],\"after\":[\"dwell.data\"]}",
        "info\", \"arguments\":{\"session\":\"./dwell.data\"}",
        "callers\", \"arguments\":{\"function\":\"--help\"}",
        "annotate\", \"arguments\":{\"function\":\"handle\"}",
        "report\", \"arguments\":{\"session\":\"none.data\"}",
        "advise\", \"arguments\":{\"overhead\":\"x\"}",
    };
    FILE *all = fopen(test_path("all"), "w");
    cr_assert(all != NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char script[256];
        snprintf(script, sizeof script, REQUEST("1", "tools/call", "{\"name\":\"%s}"), calls[i]);
        mcp_write_script(script);
        char *text = run_well("$DWELL mcp <script | sed \"s,$PWD,HERE,g\" | python3 -c 'import json, sys\n"
                              "for line in sys.stdin:\n"
                              "    result = json.loads(line)[\"result\"]\n"
                              "    print(\"isError\", result[\"isError\"])\n"
                              "    print(result[\"content\"][0][\"text\"])'");
        fprintf(all, "-- %s\n%s", calls[i], text);
        free(text);
    }
    fclose(all);
    char *text = run_well("cat all");
    check_text(text, "mcp-answers.txt");
    free(text);
}
