/* dwell record --push: what the store gets, and what is left where it takes nothing. tests/consumers/fleet_store.py
 * answers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/http.h"
#include "support/run.h"
#include "support/scenario.h"

static void push_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
    setenv("XDG_CONFIG_HOME", test_folder(), 1);
}

TestSuite(e2e_push, .init = push_begin, .timeout = 600);

/* Shell functions. `store` starts the store, which answers in the given way; `service` records a service with a delta
 * every 100 ms until the command that follows succeeds, and checks that its status is dwell's. */
#define SCRIPT                                                                                                         \
    "set -e; mkdir store; trap 'kill $(cat store/pid) 2>/dev/null' EXIT; unset DWELL_FLEET_URL DWELL_FLEET_USER\n"     \
    "mode() { echo $1 >store/part; mv store/part store/mode; }\n"                                                      \
    "store() { mode $1; python3 -B " DWELL_CONSUMERS "/fleet_store.py store $2 >store/out 2>&1 &\n"                    \
    "  echo $! >store/pid; until [ -e store/url ]; do sleep 0.05; done; url=$(cat store/url); }\n"                     \
    "files() { ls spool 2>/dev/null | grep -c '\\.sums$' || true; }\n"                                                 \
    "runs() { cat store/runs 2>/dev/null | wc -l; }\n"                                                                 \
    "begin() { rm -f stop; $DWELL record -o run.data --mode profile --push $url --every 100ms --spool spool "          \
    "--label commit=1f0c \"$@\" $PROGRAMS/service stop alone 2>said & recorder=$!; }\n"                                \
    "finish() { touch stop; status=0; wait $recorder || status=$?; [ $status = 7 ] || { cat said >&2; exit 1; }; }\n"  \
    "whole() { $DWELL profile run.data -o whole && $DWELL merge $1/*.sums -o merged && cmp whole merged; }\n"

static void expect_script(const char *commands)
{
    char *out = run_well(SCRIPT "%s", commands);
    cr_assert(eq(str, out, ""));
    free(out);
}

Test(e2e_push, deltas_arrive_while_the_program_runs)
{
    expect_script(
        "store well; DWELL_FLEET_USER=writer begin; until [ $(runs) -ge 3 ]; do sleep 0.05; done\n"
        "[ ! -e stop ]; finish; [ $(files) = 0 ]\n"
        "[ $(grep -c 'program=service user=writer commit=1f0c session=[0-9a-f]* delta=' store/runs) = $(runs) ]\n"
        "seq $(runs) >numbers; sed 's/.* delta=//' store/runs | cmp - numbers\n"
        "[ $(cut -d' ' -f1 store/runs | sort -u | wc -l) = $(runs) ]\n"
        "[ $(sed 's/.* session=//; s/ .*//' store/runs | sort -u | wc -l) = 1 ]\n"
        "grep -q \"^dwell: pushed $(runs) deltas to $url$\" said");
}

/* The sums are exact while threads and processes come and go. */
Test(e2e_push, what_is_not_taken_waits_and_adds_up_to_the_whole)
{
    expect_script(
        "store error; begin; until [ $(files) -ge 4 ]; do sleep 0.05; done; finish; [ $(runs) = 0 ]\n"
        "grep -q \"^dwell: pushed 0 deltas to $url; $(files) left in spool, as $url: the server answered 503: \" "
        "said\n"
        "whole spool; count=$(files); cp -r spool kept\n"
        "mode well; $DWELL fleet push --spool spool --url $url --label late=yes >out\n"
        "echo \"spool: pushed $count, 0 left\" | cmp - out; [ $(files) = 0 ]; [ $(runs) = $count ]\n"
        "[ $(grep -c ' late=yes commit=1f0c session=' store/runs) = $count ]\n"
        "seq $count >numbers; sed 's/.* delta=//' store/runs | cmp - numbers\n"
        "$DWELL fleet push --url $url kept/*.sums >again; [ $(grep -c 'is there already$' again) = $count ]\n"
        "[ $(runs) = $count ]");
}

/* Connections are cut and refused, and then the store is there again, while the program runs. */
Test(e2e_push, a_store_that_comes_back_gets_everything_once)
{
    expect_script("store cut; begin; until [ $(files) -ge 2 ]; do sleep 0.05; done; mode refuse\n"
                  "count=$(files); until [ $(files) -gt $count ]; do sleep 0.05; done; [ $(runs) = 0 ]\n"
                  "mode well; until [ $(runs) -gt $count ]; do sleep 0.05; done; finish; [ $(files) = 0 ]\n"
                  "seq $(runs) >numbers; sed 's/.* delta=//' store/runs | cmp - numbers");
}

Test(e2e_push, a_store_that_never_answers_does_not_keep_dwell)
{
    expect_script(
        "store hang; begin; until [ $(files) -ge 3 ]; do sleep 0.05; done; finish\n"
        "grep -q \"left in spool, as $url: it took too long: push them with dwell fleet push --url $url --spool spool\" \\\n"
        "said\n"
        "whole spool");
}

Test(e2e_push, the_oldest_are_dropped_at_the_limit_and_counted)
{
    expect_script(
        "store error; begin --spool-limit 1; sleep 1; finish; [ $(files) = 0 ]\n"
        "grep -q '^dwell: pushed 0 deltas to .*; [0-9]* dropped, as the spool had its limit (--spool-limit)$' said\n"
        "$DWELL info run.data | grep -qE '(1 delta was|[0-9]+ deltas were) dropped, as the spool had its limit' || "
        "grep -q '; 1 dropped' said\n"
        "rm -r spool; begin; until [ $(files) -ge 4 ]; do sleep 0.05; done; finish\n"
        "ls spool >before; size=$(du -s --block-size=1 spool/$(tail -1 before) | cut -f1)\n"
        "last=$(tail -1 before); begin --spool-limit $((2 * size)); until ! [ -e spool/$last ]; do sleep 0.05; done\n"
        "finish; [ $(du -s --block-size=1 spool | cut -f1) -le $((2 * size + 65536)) ]; ! grep -qxf before <<EOF\n$(ls spool)\nEOF\n");
}

/* What is in the spool when the recorder is killed stays, and can be read. */
Test(e2e_push, a_killed_recorder_leaves_its_deltas)
{
    expect_script(
        "store error; begin; until [ $(files) -ge 3 ]; do sleep 0.05; done; kill -KILL $recorder\n"
        "wait $recorder 2>/dev/null || true; touch stop; [ $(files) -ge 3 ]\n"
        "$DWELL merge spool/*.sums -o merged; $DWELL report --format csv merged >rows; grep -q '^work,service,' rows");
}

/* A child that outlives the recorder would be in the session, and not in the last delta. */
Test(e2e_push, signals_reach_the_program_and_the_last_delta_is_made)
{
    expect_script(
        "store error; begin; until [ $(files) -ge 2 ] && [ -e alone ]; do sleep 0.05; done; kill -TERM $recorder; status=0\n"
        "wait $recorder || status=$?; [ $status = 143 ]; whole spool");
}

/* Each mode is pushed at the end, as the run that dwell fleet push would make of the session. */
Test(e2e_push, a_session_is_pushed_at_its_end)
{
    expect_script(
        "store well; for mode in trace profile ring; do rm -f store/runs\n"
        "$DWELL record -q -o run.data --mode $mode --push $url --label mode=$mode $SAMPLES/fib 12 >/dev/null\n"
        "[ $(runs) = 1 ]; grep -q \" program=fib user=None mode=$mode$\" store/runs\n"
        "$DWELL fleet push --url $url run.data | grep -q 'is there already$'; [ $(runs) = 1 ]; done\n"
        "export XDG_STATE_HOME=$PWD/state DWELL_FLEET_URL=$url; mode refuse\n"
        "$DWELL record -q -o run.data --push - $SAMPLES/fib 12 >/dev/null 2>said\n"
        "grep -q \"^dwell: pushed 0 runs to $url; 1 left in $PWD/state/dwell/spool/[0-9a-f]*, as $url: the server "
        "answered 500: Code: 62, not now: push it with dwell fleet push --spool$\" said || { cat said >&2; exit 1; }\n"
        "mode well; $DWELL fleet push --spool >/dev/null; [ $(runs) = 2 ]\n"
        "$DWELL fleet push run.data | grep -q 'is there already$'");
}

/* Shell functions for TLS. `authority NAME` makes NAME.pem; `certificate NAME HOST` lets it sign a certificate for the
 * store. `refused TEXT COMMAND...` expects one line that ends with TEXT, and a store that has got no request. */
#define TLS                                                                                                            \
    "new() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \"$@\" 2>/dev/null; }\n"     \
    "authority() { new -subj /CN=$1 -keyout $1.key -out $1.pem; }\n"                                                   \
    "certificate() { new -subj /CN=store -CA $1.pem -CAkey $1.key -addext basicConstraints=CA:FALSE "                  \
    "-addext subjectAltName=$2 -keyout key -out cert; cat key cert >store/tls.pem; }\n"                                \
    "refused() { text=$1; shift; status=0; \"$@\" >out 2>said || status=$?; [ $status != 0 ]; [ ! -s out ]\n"          \
    "  [ $(wc -l <said) = 1 ]; grep -q \"^dwell: .*$text\\$\" said || { cat said >&2; exit 1; }\n"                     \
    "  [ ! -e store/passwords ]; }\n"                                                                                  \
    "unset DWELL_FLEET_CA; export DWELL_FLEET_PASSWORD=secret; authority ours; authority other\n"                      \
    "$DWELL record -q -o run.data $SAMPLES/fib 12 >/dev/null\n"

/* The password is in the head of a request, so a store without a request has none. */
Test(e2e_push, a_store_of_an_unknown_authority_gets_no_password)
{
    expect_script(TLS
                  "certificate ours IP:127.0.0.1; store well; push=\"$DWELL fleet push run.data --url $url\"\n"
                  "unknown='certificate is of an unknown authority or out of date: give the authority.s certificate by "
                  "--ca FILE, DWELL_FLEET_CA, or a line .ca = FILE. in ~/.config/dwell/fleet'\n"
                  "refused \"$url: the server's $unknown\" $push\n"
                  "refused \"$url: the server's $unknown\" $push --ca other.pem\n"
                  "refused 'none.pem: No such file or directory' $push --ca none.pem\n"
                  "refused \"$url: .: holds no certificate\" $push --ca .\n"
                  "$push --ca ours.pem >out; [ $(runs) = 1 ]; grep -qx secret store/passwords");
}

Test(e2e_push, the_authority_is_an_option_a_variable_or_a_setting)
{
    expect_script(
        TLS "certificate ours IP:127.0.0.1; store well; $DWELL fleet push run.data --url $url --ca ours.pem >out\n"
            "again() { $DWELL fleet push run.data --url $url | grep -q 'is there already$'; }\n"
            "DWELL_FLEET_CA=ours.pem again; export XDG_CONFIG_HOME=$PWD; mkdir dwell\n"
            "echo \"ca = $PWD/ours.pem\" >dwell/fleet; again\n"
            "$DWELL record -q -o more.data --push $url $SAMPLES/fib 12 >/dev/null; [ $(runs) = 2 ]");
}

Test(e2e_push, a_certificate_of_another_host_is_refused)
{
    expect_script(
        TLS
        "certificate ours DNS:elsewhere.example; store well\n"
        "refused \"$url: the server's certificate is refused: .* (store) does not match target host name '127.0.0.1'\" "
        "$DWELL fleet push run.data --url $url --ca ours.pem");
}

static void expect_error(const char *options, const char *message)
{
    struct ran r = run("$DWELL record %s true", options);
    cr_assert(eq(int, r.status, 125), "%s", options);
    cr_assert(eq(str, r.err, (char *)message), "%s", options);
    ran_drop(&r);
}

Test(e2e_push, wrong_options_are_errors_before_the_program_starts)
{
    unsetenv("DWELL_FLEET_URL");
    expect_error("--push http://u:p@h:1",
                 "dwell: --push: the URL holds a user or a password: give them by DWELL_FLEET_USER and "
                 "DWELL_FLEET_PASSWORD, or in ~/.config/dwell/fleet\n");
    expect_error("--push -",
                 "dwell: --push: no server is known: give --url http://HOST:8123, DWELL_FLEET_URL, or a line "
                 "'url = ...' in ~/.config/dwell/fleet\n");
    expect_error("--push http://h:1 --every 1s",
                 "dwell: --every: only mode profile has sums while the program runs; use --mode profile\n");
    expect_error("--push http://h:1 --mode profile --every 1ms",
                 "dwell: --every: '1ms' is not between 100ms and a day\n");
    expect_error("--mode profile --every 1s", "dwell: --every, --label and --spool are for --push URL\n");
    expect_error("--push http://h:1 --label x", "dwell: --label: 'x' is not KEY=VALUE\n");
    expect_error("--push http://h:1 --spool /dev/null/x", "dwell: --spool: /dev/null/x: Not a directory\n");
}

static void push_check_library(const char *variables, const char *wrong)
{
    struct ran r = run("%s $DWELL fleet runs --url http://127.0.0.1:1", variables);
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, wrong), "%s", r.err);
    ran_drop(&r);
    r = run("%s $DWELL record --push http://127.0.0.1:1 $SAMPLES/fib 1", variables);
    cr_assert(eq(int, r.status, 125));
    cr_assert(has(r.err, wrong), "%s", r.err);
    ran_drop(&r);
    free(run_well("%s $DWELL record -q $SAMPLES/fib 1", variables)); /* all else works without it */
}

Test(e2e_push, libcurl_is_missing_or_too_old)
{
    free(run_well("mkdir none old; : >none/libcurl-gnutls.so.4; : >none/libcurl.so.4\n"
                  "echo 'int curl_global_init(long f) { return (int)f; }' | cc -shared -x c - -o old/libcurl.so.4\n"
                  "cp old/libcurl.so.4 old/libcurl-gnutls.so.4"));
    push_check_library("LD_LIBRARY_PATH=none", "libcurl is missing: install libcurl3-gnutls or libcurl4\n");
    push_check_library("LD_LIBRARY_PATH=old", "libcurl is too old: version 7.85 is needed\n");
}
