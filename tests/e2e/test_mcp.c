/* dwell mcp and programs: what a recorded program prints, programs that do not end, and clients that are gone. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_mcp, .timeout = 600);

#define CALL "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"record\",\"arguments\":"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"

/* Each line of standard output is a message, whatever the program prints. */
Test(e2e_mcp, a_program_is_recorded)
{
    char *text = run_well("cp $SAMPLES/fib . && echo '" CALL "{\"program\":\"fib\",\"arguments\":[\"10\"],\"output\":"
                          "\"new.data\"}}}' | $DWELL mcp --allow-record | python3 -c 'import json, sys\n"
                          "for line in sys.stdin: print(json.loads(line)[\"result\"][\"content\"][0][\"text\"])'");
    cr_assert(has(text, "the program ended with exit status 0\ndwell: "), "%s", text);
    cr_assert(has(text, "\nstandard output of the program:\n| "), "%s", text);
    free(text);
    text = run_well("$DWELL report --by function --format csv new.data");
    cr_assert(has(text, "fib"), "%s", text);
    free(text);
}

/* Other requests are answered while it runs. */
Test(e2e_mcp, programs_that_do_not_end)
{
    char *text = run_well("printf '#!/bin/sh\\nexec sleep 1000\\n' >prog && chmod +x prog && "
                          "printf '%%s\\n' '" CALL "{\"program\":\"prog\",\"timeout_seconds\":3}}}' '" PING "' | "
                          "$DWELL mcp --allow-record");
    static const char pong[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n";
    cr_assert(eq(int, strncmp(text, pong, strlen(pong)), 0), "%s", text);
    cr_assert(has(text, "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"record: it took longer than "
                        "timeout_seconds, and was ended\\n"),
              "%s", text);
    cr_assert(has(text, "\"isError\":true"));
    free(text);
}

Test(e2e_mcp, calls_that_are_cancelled)
{
    char *text = run_well("printf '#!/bin/sh\\nexec sleep 1000\\n' >prog && chmod +x prog && "
                          "{ echo '" CALL "{\"program\":\"prog\"}}}'; sleep 1; echo '{\"jsonrpc\":\"2.0\",\"method\":"
                          "\"notifications/cancelled\",\"params\":{\"requestId\":1}}'; echo '" PING "'; } | "
                          "$DWELL mcp --allow-record");
    cr_assert(eq(str, text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"));
    free(text);
}

/* Without a reader, nothing is worth running. */
Test(e2e_mcp, clients_that_are_gone)
{
    char *text =
        run_well("printf '#!/bin/sh\\nexec sleep 1000\\n' >prog && chmod +x prog && mkfifo in && "
                 "{ { echo '" CALL "{\"program\":\"prog\"}}}'; sleep 1; } >in & } && "
                 "$DWELL mcp --allow-record <in | true; wait; $DWELL mcp </dev/null; $DWELL mcp <&-; echo done");
    cr_assert(eq(str, text, "done\n"));
    free(text);
    struct ran r = run("$DWELL mcp nothing-here </dev/null");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: nothing-here: No such file or directory\n"));
    ran_drop(&r);
}

/* A session names source by a path, and by a link. What lies outside of the folders looks like missing. */
Test(e2e_mcp, source_outside_of_the_folders)
{
    free(run_well(
        "mkdir in out && printf 'int secret(int n) { return n + 1; }\nint main(void) { return secret(-1); }\n' "
        ">out/made.c && ln -s ../out/made.c in/link.c && $DWELL cc -g -o in/made out/made.c && "
        "$DWELL cc -g -o in/linked in/link.c && $DWELL record -q -o in/made.data in/made && "
        "$DWELL record -q -o in/linked.data in/linked"));
    static const char annotate[] =
        "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"annotate\","
        "\"arguments\":{\"function\":\"secret\",\"session\":\"%s\"}}}' | $DWELL mcp %s";
    static const char *const sessions[] = { "made.data", "linked.data" };
    for (int i = 0; i < 2; i++) {
        char *text = run_well(annotate, sessions[i], "in");
        cr_assert(has(text, "\"isError\":true") && has(text, "no such source file in the folders of dwell mcp") &&
                      !has(text, "n + 1"),
                  "%s", text);
        free(text);
        text = run_well(annotate, sessions[i], "in out");
        cr_assert(has(text, "\"isError\":false") && has(text, "n + 1"), "%s", text);
        free(text);
    }
    struct ran r = run("mkdir 'a\nb' && $DWELL mcp 'a\nb' </dev/null");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "its path has a line break, which dwell mcp can't take"), "%s", r.err);
    ran_drop(&r);
}

/* The protocol's own client, from npm, shares no code with dwell. It checks each message against its schemas. */
Test(e2e_mcp, the_client_of_the_protocol)
{
    free(run_well("printf 'int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                  "int main(void) { return fib(15) == 0; }\n' >fib.c && $DWELL cc -g -o fib fib.c && "
                  "$DWELL record -q -o fib.data ./fib"));
    char *text =
        run_well(DWELL_CONSUMERS "/node " DWELL_CONSUMERS "/mcp_client.mjs fib.data $DWELL mcp --allow-record");
    cr_assert(eq(
        str, text,
        "server: dwell\nrecord: ok\nreport: ok\ntree: ok\ncallers: ok\nwaits: ok\ncritical: ok\nwhatif: ok\nwhy: ok\n"
        "diff: ok\nadvise: ok\nannotate: ok\ninfo: ok\nno such file: true, nothing.data\n"
        "no such tool: -32602\n"));
    free(text);
    text = run_well("$DWELL report --by function --format csv by-client.data");
    cr_assert(has(text, "fib"), "%s", text);
    free(text);
}

/* What the session is comes after the result, also in an answer that is cut. */
Test(e2e_mcp, answers_begin_with_the_result)
{
    char *text = run_well(
        "printf '__attribute__((noinline)) int next(int n)\n{ return n + 1; }\n"
        "int main(void) { int n = 0; for (int i = 0; i < 300; i++) n = next(n); return n != 300; }\n' >made.c && "
        "$DWELL cc -O0 -g -o made made.c && $DWELL record -q --overhead none -o dwell.data ./made && "
        "cat >ask.py <<'END'\n"
        "import json\n"
        "for tool in 'report tree callers critical whatif why advise annotate'.split():\n"
        "    arguments = {'function': 'next'} if tool in ('callers', 'why', 'annotate') else {}\n"
        "    arguments.update({'whatif': {'rank': True}, 'tree': {'max_characters': 1000}}.get(tool, {}))\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': tool, 'method': 'tools/call',\n"
        "                      'params': {'name': tool, 'arguments': arguments}}))\n"
        "END\n"
        "python3 ask.py | $DWELL mcp | jq -r '[.id, (.result.content[0].text | (split(\"\\n\")[0] | sub(\"^/.*/\"; \"\") | "
        ".[0:9]), (test(\"(^|\\n)/[^\\n]*dwell.data: ran \") | tostring))] | join(\"|\")' | sort");
    cr_assert(eq(str, text,
                 "advise|all funct|true\nannotate|next (mad|true\ncallers| CPU % CP|true\ncritical|critical |true\n"
                 "report|dwell.dat|true\ntree|Waits: no|true\nwhatif|recorded |true\nwhy|the slowe|true\n"));
    free(text);
}
