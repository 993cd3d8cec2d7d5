/* dwell view --live serves a session while the program runs, only to those who know the token, and only on this
 * machine. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/http.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed_report.h"

TestSuite(e2e_view_live, .timeout = 300);

enum { PATIENCE = 600 }; /* tenths of a second: only a failing test waits that long */

struct live {
    uint16_t port;
    char token[64];
};

/* The address is printed before the session has been read. */
static void live_await_session(const struct live *l)
{
    char target[128];
    snprintf(target, sizeof target, "/session?token=%s", l->token);
    for (int i = 0, status = 202; status == 202 && i < PATIENCE; i++) {
        struct answer a = ask("127.0.0.1", l->port, "GET", target, NULL);
        status = a.status;
        answer_drop(&a);
        if (status == 202)
            free(run_well("sleep 0.1"));
    }
}

/* Starts serving in the background, for a limited time in case the test fails. Its process is `pid` in the folder. */
static struct live live_begin(const char *arguments)
{
    char *line =
        run_well("rm -f address; timeout 240 $DWELL view --live %s >address 2>said & echo $! >pid\n"
                 "i=0; until grep -qs token address || test $i = %d; do sleep 0.1; i=$((i + 1)); done; cat address",
                 arguments, PATIENCE);
    struct live l = { 0 };
    unsigned port;
    cr_assert(eq(int, sscanf(line, "http://127.0.0.1:%u/?token=%63[0-9a-f]\n", &port, l.token), 2), "%s", line);
    cr_assert(eq(sz, strlen(l.token), 32));
    l.port = (uint16_t)port;
    free(line);
    live_await_session(&l);
    return l;
}

/* Interrupts the server. Returns its stderr, which the caller frees. */
static char *live_end(void)
{
    return run_well("kill -INT $(cat pid); i=0\n"
                    "while kill -0 $(cat pid) 2>/dev/null && test $i -lt %d; do sleep 0.1; i=$((i + 1)); done\n"
                    "! kill -0 $(cat pid) 2>/dev/null && cat said",
                    PATIENCE);
}

static struct answer live_get(const struct live *l, const char *target)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%ctoken=%s", target, strchr(target, '?') ? '&' : '?', l->token);
    return ask("127.0.0.1", l->port, "GET", whole, NULL);
}

static void live_expect(struct answer a, int status)
{
    cr_assert(eq(int, a.status, status), "%s", a.head);
    check_headers(&a);
    answer_drop(&a);
}

Test(e2e_view_live, a_session_that_is_complete)
{
    free(run_well("$DWELL record -q $SAMPLES/threads 4 1000"));
    struct live l = live_begin("");
    struct answer page = live_get(&l, "/");
    cr_assert(eq(int, page.status, 200));
    cr_assert(
        has(page.body, "<script type=\"application/x-dwell\" data-part=\"live\" data-interval=\"1000\"></script>"));
    cr_assert(has(page.head, "Cache-Control: no-store\r\n") && has(page.head, "default-src 'none'") &&
              has(page.head, "connect-src 'self'") && has(page.head, "frame-ancestors 'none'") &&
              has(page.head, "X-Content-Type-Options: nosniff\r\n") &&
              has(page.head, "Referrer-Policy: no-referrer\r\n"));
    check_headers(&page);
    FILE *out = fopen(test_path("page.html"), "wb");
    fputs(page.body, out);
    fclose(out);
    char *hash = run_well("python3 -c 'import base64, hashlib, re, sys\n"
                          "page = open(\"page.html\", \"rb\").read()\n"
                          "script = re.search(rb\"<script>(.*?)</script>\", page, re.S).group(1)\n"
                          "print(base64.b64encode(hashlib.sha256(script).digest()).decode(), end=\"\")'");
    cr_assert(has(page.head, hash), "sha256 %s in:\n%s", hash, page.head);
    free(hash);
    answer_drop(&page);
    struct answer session = live_get(&l, "/session");
    cr_assert(eq(int, session.status, 200));
    check_headers(&session);
    cr_assert(has(session.head, "Content-Type: application/octet-stream\r\n") &&
              has(session.head, "Cache-Control: no-store\r\n"));
    struct viewed v = viewed_packed(session.body, session.length);
    check_viewed(&v, "dwell.data");
    cr_assert(json_object_get_boolean(viewed_get(v.header, "complete")));
    cr_assert(has(session.head, "X-Dwell-Generation: 1\r\n"));
    viewed_drop(&v);
    answer_drop(&session);
    struct answer block = live_get(&l, "/block/0?generation=1");
    cr_assert(eq(int, block.status, 200));
    v = viewed_packed(block.body, block.length);
    cr_assert(gt(sz, viewed_rows(&v, "spans"), 4));
    viewed_drop(&v);
    answer_drop(&block);
    live_expect(live_get(&l, "/session?since=1"), 204);
    live_expect(live_get(&l, "/session?since=0"), 200);
    live_expect(live_get(&l, "/block/0?generation=2"), 204);
    live_expect(live_get(&l, "/block/1000000"), 404);
    live_expect(live_get(&l, "/block/-1"), 404);
    live_expect(live_get(&l, "/block/"), 404);
    live_expect(live_get(&l, "/dwell.data"), 404);
    live_expect(live_get(&l, "/../dwell.data"), 404);
    char *said = live_end();
    cr_assert(eq(str, said, "dwell: dwell.data: the recording has ended; the page stays until Ctrl-C\n"));
    free(said);
}

Test(e2e_view_live, only_with_the_token_and_from_here)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    struct live l = live_begin("");
    char other[160], right[128], host[64];
    snprintf(right, sizeof right, "/session?token=%s", l.token);
    static const char *const targets[] = { "/",        "/session",           "/block/0", "/?token=", "/session?token=0",
                                           "/nothing", "/session?tok%00en=1" };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        live_expect(ask("127.0.0.1", l.port, "GET", targets[i], NULL), 403);
    for (size_t i = 0; i < strlen(l.token); i += 31) { /* wrong at the beginning, and at the end */
        strcpy(other, right);
        char *digit = strchr(other, '=') + 1 + i;
        *digit = *digit == '0' ? '1' : '0';
        live_expect(ask("127.0.0.1", l.port, "GET", other, NULL), 403);
    }
    snprintf(other, sizeof other, "%s0", right); /* longer, and shorter */
    live_expect(ask("127.0.0.1", l.port, "GET", other, NULL), 403);
    other[strlen(other) - 2] = '\0';
    live_expect(ask("127.0.0.1", l.port, "GET", other, NULL), 403);
    /* another name of the same address */
    snprintf(host, sizeof host, "rebound.example:%u", l.port);
    live_expect(ask("127.0.0.1", l.port, "GET", right, host), 403);
    live_expect(ask("127.0.0.1", l.port, "GET", right, "127.0.0.1"), 403);
    live_expect(ask("127.0.0.1", l.port, "GET", right, "127.0.0.1:1"), 403);
    snprintf(host, sizeof host, "localhost:%u", l.port);
    live_expect(ask("127.0.0.1", l.port, "GET", right, host), 200);
    live_expect(ask("127.0.0.1", l.port, "HEAD", right, NULL), 200);
    live_expect(ask("127.0.0.1", l.port, "POST", right, NULL), 405);
    live_expect(ask("127.0.0.1", l.port, "DELETE", right, NULL), 405);
    unsigned tried;
    cr_assert(eq(u32, reachable_elsewhere(l.port, &tried), 0));
    cr_assert(ge(u32, tried, 1));
    char *listening = run_well("ss -Hltn 2>/dev/null || cat /proc/net/tcp6"); /* not on IPv6 either */
    snprintf(other, sizeof other, "]:%u", l.port);
    cr_assert(eq(int, has(listening, other), false), "%s", listening);
    free(listening);
    free(live_end());
}

/* Each has a token of its own. */
Test(e2e_view_live, ports_and_tokens)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    struct live first = live_begin("");
    char arguments[32];
    struct ran r = run("$DWELL view --live --port %u", first.port);
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "Address already in use"), "%s", r.err);
    ran_drop(&r);
    free(live_end());
    snprintf(arguments, sizeof arguments, "--port %u", first.port);
    struct live second = live_begin(arguments);
    cr_assert(eq(u16, second.port, first.port));
    cr_assert(ne(str, second.token, first.token));
    free(live_end());
}

static uint64_t calls_of(const struct live *l, const char *name, bool *complete)
{
    struct answer a = live_get(l, "/session");
    cr_assert(eq(int, a.status, 200));
    struct viewed v = viewed_packed(a.body, a.length);
    struct json_object *functions = viewed_get(v.header, "functions");
    uint64_t calls = 0;
    for (size_t i = 0; i < json_object_array_length(functions); i++)
        if (strcmp(viewed_text(json_object_array_get_idx(functions, i), "name"), name) == 0)
            calls += (uint64_t)viewed_number(&v, "functions", "calls", i);
    *complete = json_object_get_boolean(viewed_get(v.header, "complete"));
    viewed_drop(&v);
    answer_drop(&a);
    return calls;
}

/* The page grows with what the program does, and shows when the program has ended. */
static void live_check_growth(const char *mode)
{
    free(run_well("cat >slow.c <<'END'\n"
                  "#include <stdio.h>\n"
                  "#include <unistd.h>\n"
                  "static int go(void) { return access(\"stop\", F_OK) != 0; }\n"
                  "void step(void) { usleep(10000); }\n"
                  "int main(void)\n"
                  "{\n"
                  "    int steps = 0;\n"
                  "    for (; go() && steps < 20000; steps++)\n"
                  "        step();\n"
                  "    printf(\"calls step %%d\\n\", steps);\n"
                  "    return 0;\n"
                  "}\n"
                  "END\n"
                  "gcc -g -finstrument-functions slow.c -o slow\n"
                  "rm -f stop live.data; $DWELL record -q --mode %s -o live.data ./slow >counted & echo $! >recorder\n"
                  "i=0; until $DWELL report --format csv live.data 2>/dev/null | grep -q ^step || test $i = %d; do "
                  "sleep 0.1; i=$((i + 1)); done",
                  mode, PATIENCE));
    struct live l = live_begin("live.data");
    bool complete = true;
    uint64_t before = calls_of(&l, "step", &complete), now = before;
    cr_assert(eq(int, complete, false));
    cr_assert(gt(u64, before, 0));
    for (int i = 0; now <= before + 20 && i < PATIENCE; i++, usleep(100000))
        now = calls_of(&l, "step", &complete);
    cr_assert(gt(u64, now, before + 20));
    cr_assert(eq(int, complete, false));
    free(run_well(
        ": >stop; i=0; while kill -0 $(cat recorder) 2>/dev/null && test $i -lt %d; do sleep 0.1; i=$((i + 1)); done",
        PATIENCE));
    for (int i = 0; !complete && i < PATIENCE; i++, usleep(100000))
        now = calls_of(&l, "step", &complete);
    char *counted = run_well("cat counted");
    cr_assert(complete);
    cr_assert(eq(u64, now, truth(counted, "step")));
    free(counted);
    struct answer a = live_get(&l, "/session");
    struct viewed v = viewed_packed(a.body, a.length);
    check_viewed(&v, "live.data");
    viewed_drop(&v);
    answer_drop(&a);
    char *said = live_end();
    cr_assert(eq(str, said, "dwell: live.data: the recording has ended; the page stays until Ctrl-C\n"));
    free(said);
}

Test(e2e_view_live, while_the_program_runs)
{
    live_check_growth("trace");
    live_check_growth("profile");
}

/* The page keeps the data that was read. */
Test(e2e_view_live, the_session_is_gone)
{
    free(run_well("cat >asleep.c <<'END'\n#include <unistd.h>\nint main(void) { sleep(240); return 0; }\nEND\n"
                  "gcc -finstrument-functions asleep.c -o forever; $DWELL record -q ./forever & echo $! >recorder\n"
                  "i=0; until $DWELL report --format csv 2>/dev/null | grep -q main || test $i = %d; do "
                  "sleep 0.1; i=$((i + 1)); done",
                  PATIENCE));
    struct live l = live_begin("");
    free(run_well("rm dwell.data; i=0; until grep -q previous said || test $i = %d; do sleep 0.1; i=$((i + 1)); done",
                  PATIENCE));
    bool complete = true;
    cr_assert(eq(u64, calls_of(&l, "main", &complete), 1));
    cr_assert(eq(int, complete, false));
    char *said = live_end();
    cr_assert(
        eq(str, said, "dwell: dwell.data: No such file or directory: the page still shows the previous version\n"));
    free(said);
    free(run_well("kill -TERM $(cat recorder)"));
}

static unsigned live_generation_of(const struct answer *a)
{
    const char *header = strstr(a->head, "X-Dwell-Generation: ");
    cr_assert(header != NULL, "%s", a->head);
    return (unsigned)strtoul(header + strlen("X-Dwell-Generation: "), NULL, 10);
}

/* Asks, as a page does, for the data since its generation, until the server answers with that status. */
static struct answer live_poll_session(const struct live *l, unsigned *generation, int status)
{
    struct answer a = { 0 };
    for (int i = 0; a.status != status && i < PATIENCE; i++) {
        char target[64];
        if (i > 0) {
            answer_drop(&a);
            usleep(100000);
        }
        snprintf(target, sizeof target, "/session?since=%u", *generation);
        a = live_get(l, target);
        if (a.status == 200)
            *generation = live_generation_of(&a);
    }
    cr_assert(eq(int, a.status, status));
    return a;
}

/* The command damages the file. A page that has the data gets the error, another page gets the data, and both get new
 * data when the file is whole again. */
static void live_damage_and_restore(const struct live *l, unsigned *generation, const char *command, const char *wrong)
{
    char text[256];
    bool complete = true;
    free(run_well("%s", command));
    struct answer a = live_poll_session(l, generation, 500);
    snprintf(text, sizeof text, "live.data: %s\n", wrong);
    cr_assert(eq(str, a.body, text), "%s", command);
    check_headers(&a);
    cr_assert(has(a.head, "Content-Type: text/plain; charset=utf-8\r\n"));
    answer_drop(&a);
    live_expect(live_get(l, "/"), 200);
    cr_assert(eq(u64, calls_of(l, "main", &complete), 1));
    cr_assert(eq(int, complete, false));
    free(run_well("cp whole.data part.data; mv part.data live.data"));
    const unsigned before = *generation;
    a = live_poll_session(l, generation, 200);
    cr_assert(gt(u32, *generation, before));
    struct viewed v = viewed_packed(a.body, a.length);
    check_viewed(&v, "live.data");
    viewed_drop(&v);
    answer_drop(&a);
}

/* A session that breaks while it is served does not end the server. The copy of a running session never ends. */
Test(e2e_view_live, the_session_breaks_and_is_whole_again)
{
    free(run_well("cat >asleep.c <<'END'\n#include <unistd.h>\nint main(void) { sleep(240); return 0; }\nEND\n"
                  "gcc -finstrument-functions asleep.c -o forever; $DWELL record -q ./forever & echo $! >recorder\n"
                  "i=0; until $DWELL report --format csv 2>/dev/null | grep -q main || test $i = %d; do "
                  "sleep 0.1; i=$((i + 1)); done; cp dwell.data whole.data; cp whole.data live.data; "
                  "kill -TERM $(cat recorder)",
                  PATIENCE));
    struct live l = live_begin("live.data");
    unsigned generation = 1;
    live_damage_and_restore(&l, &generation, "truncate -s 0 live.data", "the file is empty");
    live_damage_and_restore(&l, &generation, "truncate -s 100 live.data", "truncated within its header");
    live_damage_and_restore(&l, &generation, "head -c 200000 /dev/zero | tr '\\0' x >part.data; mv part.data live.data",
                            "not a dwell session"); /* at once: a file that is written to is empty at first */
    live_damage_and_restore(&l, &generation, "rm live.data", "No such file or directory");
    free(run_well("truncate -s 6000 live.data; sleep 3")); /* what is left of it is shown */
    live_expect(live_get(&l, "/session"), 200);
    char *said = live_end();
    static const char *const wrong[] = { "the file is empty", "truncated within its header", "not a dwell session",
                                         "No such file or directory" };
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        fprintf(out,
                "dwell: live.data: %s: the page still shows the previous version\n"
                "dwell: live.data: can be read again\n",
                wrong[i]);
    fclose(out);
    cr_assert(eq(str, said, text));
    free(text);
    free(said);
}

/* The browser gets a file that only the user can read. It is removed in the end. */
Test(e2e_view_live, the_browser_gets_the_address_in_a_private_file)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5 && mkdir bin run && "
                  "printf '#!/bin/sh\\ncp \"$1\" seen; stat -c %%%%a \"$1\" >mode; echo \"$1\" >opened.part; mv "
                  "opened.part opened\\n' "
                  ">bin/surf && chmod +x bin/surf"));
    char *seen = run_well(
        "env PATH=\"$PWD/bin:$PATH\" DISPLAY=:0 BROWSER=surf XDG_RUNTIME_DIR=\"$PWD/run\" "
        "script -qec 'timeout 240 $DWELL view --live & echo $! >pid; wait' said </dev/null >out & echo $! >terminal\n"
        "i=0; until test -e opened || test $i = %d; do sleep 0.1; i=$((i + 1)); done\n"
        "cat seen mode; ls run | wc -l; grep -o 'http://127[^ ]*' out | tr -d '\\r' >address\n"
        "grep -q \"url=$(cat address)\" seen || echo another address\n"
        "kill -INT $(cat pid); i=0\n"
        "while kill -0 $(cat terminal) 2>/dev/null && test $i -lt %d; do sleep 0.1; i=$((i + 1)); done; ls run | wc -l",
        PATIENCE, PATIENCE);
    cr_assert(has(seen, "\n600\n1\n0\n"), "%s", seen);
    cr_assert(eq(int, has(seen, "another address"), false), "%s", seen);
    free(seen);
}

/* The server's library is loaded for --live alone: all else works without it. */
Test(e2e_view_live, libmicrohttpd_is_missing_or_too_old)
{
    free(run_well("mkdir none old; : >none/libmicrohttpd.so.12\n"
                  "echo 'int MHD_start_daemon(void) { return 0; }' | cc -shared -x c - -o old/libmicrohttpd.so.12\n"
                  "$DWELL record -q $SAMPLES/fib 1 && LD_LIBRARY_PATH=none $DWELL view --no-open -o page.html"));
    struct ran r = run("LD_LIBRARY_PATH=none $DWELL view --live --no-open");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: libmicrohttpd.so.12 is missing: install libmicrohttpd12\n"));
    ran_drop(&r);
    r = run("LD_LIBRARY_PATH=old $DWELL view --live --no-open");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: libmicrohttpd.so.12 is too old: version 0.9.73 is needed\n"));
    ran_drop(&r);
}
