/* The parts of dwell mcp: lines of a client, its messages, the room of answers, and paths in folders. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "mcp/client_lines.h"
#include "mcp/request.h"
#include "mcp/rpc_message.h"
#include "mcp/tool_answer.h"
#include "support/scenario.h"

TestSuite(unit_mcp, .timeout = 300);

static void mcp_expect_line(struct mcp_lines *l, enum mcp_line is, const char *wanted)
{
    char *line = NULL;
    size_t length = 0;
    cr_assert(eq(int, mcp_lines_take(l, &line, &length), is));
    if (wanted)
        cr_assert(length == strlen(wanted) && memcmp(line, wanted, length) == 0, "%.*s", (int)length, line);
}

Test(unit_mcp, lines_arrive_in_pieces)
{
    struct mcp_lines l = { 0 };
    mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    mcp_lines_add(&l, "one\nt", 5);
    mcp_expect_line(&l, MCP_LINE_GOOD, "one");
    mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    mcp_lines_add(&l, "wo", 2);
    mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    mcp_lines_add(&l, "\n\nlast", 6);
    mcp_expect_line(&l, MCP_LINE_GOOD, "two");
    mcp_expect_line(&l, MCP_LINE_GOOD, "");
    mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    mcp_lines_end(&l);
    mcp_expect_line(&l, MCP_LINE_GOOD, "last");
    mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    mcp_lines_drop(&l);
}

/* Memory does not grow with a line that is too long, and the next one is read. */
Test(unit_mcp, lines_that_are_too_long)
{
    enum { PIECE = 1 << 16 };
    struct mcp_lines l = { 0 };
    char *piece = need_memory(PIECE, 1);
    memset(piece, 'x', PIECE);
    for (int i = 0; i < MCP_LINE_LIMIT / PIECE; i++) {
        mcp_lines_add(&l, piece, PIECE);
        mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    }
    mcp_lines_add(&l, "\n", 1);
    mcp_expect_line(&l, MCP_LINE_GOOD, NULL);
    for (int i = 0; i < 64 * MCP_LINE_LIMIT / PIECE; i++) {
        mcp_lines_add(&l, piece, PIECE);
        mcp_expect_line(&l, MCP_LINE_NONE, NULL);
    }
    cr_assert(le(sz, l.room, (size_t)2 * (MCP_LINE_LIMIT + PIECE)));
    mcp_lines_add(&l, "x\nnext\n", 7);
    mcp_expect_line(&l, MCP_LINE_TOO_LONG, NULL);
    mcp_expect_line(&l, MCP_LINE_GOOD, "next");
    mcp_lines_drop(&l);
    free(piece);
}

static void mcp_expect_message(const char *line, size_t length, enum mcp_kind kind, int code)
{
    struct mcp_message m;
    mcp_message_read(&m, line, length);
    cr_assert(eq(int, m.kind, kind), "%.100s", line);
    cr_assert(eq(int, m.code, code), "%.100s: %s", line, m.wrong);
    cr_assert(kind != MCP_BAD || (m.wrong && m.wrong[0]));
    mcp_message_drop(&m);
}

Test(unit_mcp, messages)
{
    static const struct {
        const char *line;
        enum mcp_kind kind;
        int code;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", MCP_REQUEST, 0 },
        { " {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{}}\r", MCP_REQUEST, 0 },
        { "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", MCP_NOTIFICATION, 0 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MCP_RESPONSE, 0 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", MCP_RESPONSE, 0 },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", MCP_BAD, MCP_INVALID_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", MCP_BAD, MCP_INVALID_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[1]}", MCP_BAD, MCP_INVALID_PARAMS },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", MCP_BAD, MCP_INVALID_REQUEST },
        { "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", MCP_BAD, MCP_INVALID_REQUEST },
        { "{\"id\":1,\"method\":\"m\"}", MCP_BAD, MCP_INVALID_REQUEST },
        { "{}", MCP_BAD, MCP_INVALID_REQUEST },
        { "[]", MCP_BAD, MCP_INVALID_REQUEST },
        { "\"text\"", MCP_BAD, MCP_INVALID_REQUEST },
        { "{", MCP_BAD, MCP_PARSE_ERROR },
        { "nonsense", MCP_BAD, MCP_PARSE_ERROR },
        { "{} {}", MCP_BAD, MCP_PARSE_ERROR },
        { "{\"a\":\"\xff\"}", MCP_BAD, MCP_PARSE_ERROR },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        mcp_expect_message(cases[i].line, strlen(cases[i].line), cases[i].kind, cases[i].code);
    mcp_expect_message("{}\0{}", 5, MCP_BAD, MCP_PARSE_ERROR);
}

Test(unit_mcp, messages_that_are_deep)
{
    enum { DEEP = 100000 };
    char *deep = need_memory(DEEP, 1);
    memset(deep, '[', DEEP);
    mcp_expect_message(deep, DEEP, MCP_BAD, MCP_PARSE_ERROR);
    free(deep);
}

static void mcp_expect_cut(const char *text, size_t room, uint64_t lost, const char *wanted)
{
    char *cut = mcp_answer_cut(text, room, lost);
    cr_assert(eq(str, cut, (char *)wanted));
    cr_assert(strlen(cut) <= room || room < 100);
    free(cut);
}

/* The longest part loses rows, and the parts behind it stay. */
Test(unit_mcp, answers_are_cut_at_rows)
{
    static const char *const rows = "title\nrow 1\nrow 2\nrow 3\nrow 4\nrow 5\nrow 6\nrow 7\nrow 8\nrow 9\nrow 10\n"
                                    "row 11\nrow 12\nrow 13\nrow 14\nrow 15\nrow 16\nrow 17\nrow 18\n";
    char *text = need_text("answer\n\n%s\n! remark", rows);
    mcp_expect_cut("", 100, 0, "");
    mcp_expect_cut("short\n", 100, 0, "short\n");
    mcp_expect_cut("short\n", 100, 7, "short\n(7 rows left out)\n");
    mcp_expect_cut(text, 1000, 0, text);
    mcp_expect_cut(text, 100, 0, "answer\n\ntitle\nrow 1\nrow 2\nrow 3\nrow 4\n(14 rows left out)\n\n! remark");
    mcp_expect_cut(text, 0, 0, "(1 row left out)\n\n(19 rows left out)\n\n(1 row left out)\n");
    free(text);
}

static void mcp_expect_words(const struct mcp_folders *f, const char *tool, const char *arguments, const char *wanted)
{
    struct mcp_request r;
    struct error error = { NULL };
    struct json_object *parsed = json_tokener_parse(arguments);
    cr_assert(parsed != NULL, "%s", arguments);
    char *text, *shown;
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (mcp_request_make(&r, mcp_tool_find(tool, true), f, parsed, &error)) {
        for (size_t i = 0; r.words[i]; i++)
            fprintf(out, "%s%s", i ? "|" : "", r.words[i]);
        mcp_request_drop(&r);
    } else {
        fputs(error.text, out);
        error_drop(&error);
    }
    need_stream_end(out);
    shown = need_text("%s", text);
    for (char *at; (at = strstr(shown, f->paths[0]));) { /* HERE instead of the test's folder */
        memcpy(at, "HERE", 4);
        memmove(at + 4, at + strlen(f->paths[0]), strlen(at + strlen(f->paths[0])) + 1);
    }
    cr_assert(eq(str, shown, (char *)wanted), "%s %s", tool, arguments);
    json_object_put(parsed);
    free(shown);
    free(text);
}

static void mcp_make_file(const char *name)
{
    FILE *file = fopen(test_path(name), "w");
    cr_assert(file != NULL);
    fclose(file);
}

/* A folder "in" with dwell.data and links, beside a file that is outside of it. */
static void mcp_make_folders(struct mcp_folders *f)
{
    struct error error = { NULL };
    cr_assert(eq(int, mkdir(test_path("in"), 0700), 0));
    cr_assert(eq(int, mkdir(test_path("in/sub"), 0700), 0));
    cr_assert(eq(int, mkdir(test_path("in-beside"), 0700), 0));
    mcp_make_file("in/dwell.data");
    mcp_make_file("in/-o");
    mcp_make_file("in-beside/out.data");
    cr_assert(eq(int, symlink("../in-beside/out.data", test_path("in/link.data")), 0));
    cr_assert(eq(int, symlink("../in-beside", test_path("in/folder")), 0));
    cr_assert(eq(int, symlink("dwell.data", test_path("in/same.data")), 0));
    cr_assert(mcp_folders_add(f, test_path("in"), &error), "%s", error.text);
}

#define OUTSIDE(path, what) path ": no such " what " in the folders of dwell mcp: HERE"

Test(unit_mcp, command_lines)
{
    struct mcp_folders f = { 0 };
    mcp_make_folders(&f);
    mcp_expect_words(&f, "report", "{}", "dwell|report|--no-config|--|HERE/dwell.data");
    mcp_expect_words(&f, "report",
                     "{\"session\":\"same.data\",\"limit\":3,\"filter\":[\"-x\",\"a>1\"],\"by\":\"line\"}",
                     "dwell|report|--no-config|--by=line|--limit=3|--filter=-x|--filter=a>1|--|HERE/dwell.data");
    mcp_expect_words(&f, "callers", "{\"function\":\"--output=x\"}",
                     "dwell|callers|--no-config|--|--output=x|HERE/dwell.data");
    mcp_expect_words(&f, "diff", "{\"before\":[\"-o\"],\"after\":[\"dwell.data\",\"./sub/../-o\"]}",
                     "dwell|diff|--no-config|HERE/-o|--|HERE/dwell.data|HERE/-o");
    mcp_expect_words(&f, "whatif", "{\"rank\":true,\"cpus\":8}",
                     "dwell|whatif|--no-config|--rank|--cpus=8|HERE/dwell.data");
    mcp_expect_words(&f, "whatif", "{\"rank\":false,\"functions\":[\"a=0.5\",\"-b=2\"]}",
                     "dwell|whatif|--no-config|--|a=0.5|-b=2|HERE/dwell.data");
    mcp_expect_words(&f, "why", "{\"function\":\"-f\",\"slow\":\">2ms\",\"against\":\"p25-p75\"}",
                     "dwell|why|--no-config|--slow=>2ms|--against=p25-p75|--|-f|HERE/dwell.data");
    mcp_expect_words(&f, "why", "{\"function\":\"f\",\"more_sessions\":[\"-o\",\"sub/../-o\"]}",
                     "dwell|why|--no-config|--|f|HERE/dwell.data|HERE/-o|HERE/-o");
    mcp_expect_words(&f, "record",
                     "{\"program\":\"dwell.data\",\"arguments\":[\"-o\",\"/etc/x\"],\"output\":\"sub/n\"}",
                     "dwell|record|--output=HERE/sub/n|--|HERE/dwell.data|-o|/etc/x");
    mcp_folders_drop(&f);
}

Test(unit_mcp, nothing_leads_out_of_the_folders)
{
    struct mcp_folders f = { 0 };
    mcp_make_folders(&f);
    mcp_expect_words(&f, "report", "{\"session\":\"link.data\"}", OUTSIDE("link.data", "file"));
    mcp_expect_words(&f, "report", "{\"session\":\"folder/out.data\"}", OUTSIDE("folder/out.data", "file"));
    mcp_expect_words(&f, "report", "{\"session\":\"../in-beside/out.data\"}", OUTSIDE("../in-beside/out.data", "file"));
    mcp_expect_words(&f, "report", "{\"session\":\"/etc/passwd\"}", OUTSIDE("/etc/passwd", "file"));
    mcp_expect_words(&f, "report", "{\"session\":\"/etc/not-there\"}", OUTSIDE("/etc/not-there", "file"));
    mcp_expect_words(&f, "report", "{\"session\":\"sub\"}", OUTSIDE("sub", "file"));
    mcp_expect_words(&f, "diff", "{\"before\":[\"dwell.data\"],\"after\":[\"link.data\"]}",
                     OUTSIDE("link.data", "file"));
    mcp_expect_words(&f, "record", "{\"program\":\"/bin/sh\"}", OUTSIDE("/bin/sh", "file"));
    mcp_expect_words(&f, "record", "{\"program\":\"-o\",\"output\":\"link.data\"}",
                     OUTSIDE("link.data", "place for a file"));
    mcp_expect_words(&f, "record", "{\"program\":\"-o\",\"output\":\"folder/n\"}",
                     OUTSIDE("folder/n", "place for a file"));
    mcp_expect_words(&f, "record", "{\"program\":\"-o\",\"output\":\"sub/..\"}", OUTSIDE("sub/..", "place for a file"));
    mcp_expect_words(&f, "record", "{\"program\":\"-o\",\"folder\":\"..\"}", OUTSIDE("..", "folder"));
    mcp_expect_words(&f, "callers", "{\"function\":\"../in-beside/out.data\"}",
                     "callers: argument 'function' is the path of a file outside of the folders of dwell mcp");
    mcp_folders_drop(&f);
}

Test(unit_mcp, arguments_that_are_wrong)
{
    struct mcp_folders f = { 0 };
    mcp_make_folders(&f);
    mcp_expect_words(&f, "report", "{\"limt\":1}", "report: no argument 'limt'; did you mean 'limit'?");
    mcp_expect_words(&f, "report", "{\"limit\":\"1\"}", "report: argument 'limit' is no number from 0 to 100000");
    mcp_expect_words(&f, "report", "{\"max_characters\":1}",
                     "report: argument 'max_characters' is no number from 1000 to 200000");
    mcp_expect_words(&f, "report", "{\"session\":1}", "report: argument 'session' is no text");
    mcp_expect_words(&f, "report", "{\"session\":\"a\\u0000b\"}",
                     "report: argument 'session' is no text: it is too long, or has a zero byte");
    mcp_expect_words(&f, "report", "{\"filter\":\"a\"}", "report: argument 'filter' is no list");
    mcp_expect_words(&f, "report", "{\"by\":\"lines\"}",
                     "report: argument 'by': 'lines' is none of function, line, module, module-function, thread, "
                     "thread-name, process");
    mcp_expect_words(&f, "callers", "{}", "callers: argument 'function' is missing");
    mcp_expect_words(&f, "diff", "{\"before\":[],\"after\":[]}", "diff: argument 'before' is empty");
    mcp_expect_words(&f, "whatif", "{\"rank\":1}", "whatif: argument 'rank' is neither true nor false");
    mcp_expect_words(&f, "whatif", "{\"functions\":[\"/etc/passwd\"]}",
                     "whatif: argument 'functions' is no list of FUNCTION=FACTOR, such as parse=0.5");
    mcp_folders_drop(&f);
}
