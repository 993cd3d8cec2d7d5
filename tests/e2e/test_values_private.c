/* Recorded values are secrets: what is passed on has none of them. tests/consumers/holds.py looks for them in bytes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"

TestSuite(e2e_values_private, .timeout = 600);

#define PASSWORD "swordfish-4711"
#define PIN "8102661087213904741"
#define HOLDS "python3 -B " DWELL_CONSUMERS "/holds.py " PASSWORD " " PIN " "

/* The session one.data holds both values, as bytes and for who asks. */
static void private_record_with(const char *options)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o secret " DWELL_CONSUMERS "/../e2e/programs/values/secret.c && "
                  "echo " PASSWORD " " PIN " >in && $DWELL record -q %s -o one.data --values login ./secret in",
                  options));
    char *text = run_well("$DWELL values login:password one.data --format csv | grep -c " PASSWORD "; "
                          "$DWELL values login:pin one.data --format json | jq -r '.rows[].values.pin' | head -c 8; "
                          "echo; gzip -c one.data | base64 -w 0 >packed; " HOLDS "one.data packed in secret");
    cr_assert(eq(str, text, "1\n81026610\none.data\npacked\nin\n"));
    free(text);
}

static void private_record(void)
{
    private_record_with("");
}

/* None of the files holds a value, and there are so many. */
static void private_expect(const char *make, const char *files)
{
    free(run_well("mkdir out && %s", make));
    char *text = run_well("find out -type f | wc -l; " HOLDS "out");
    cr_assert(eq(str, text, (char *)files), "%s", make);
    free(text);
}

Test(e2e_values_private, merged_sessions_have_none)
{
    private_record();
    private_expect("$DWELL record -q -o two.data --values login ./secret in && "
                   "$DWELL merge -o out/both.data one.data two.data",
                   "1\n");
}

static void private_shows(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* Of one program twice, and of another one. Names of enumerations are there once. */
Test(e2e_values_private, merged_sessions_have_them_if_asked)
{
    private_record();
    free(run_well("gcc -O2 -g -finstrument-functions -o valued " DWELL_CONSUMERS
                  "/../e2e/programs/values/valued.c -lpthread -lm && echo other 5 >in && "
                  "$DWELL record -q -o two.data --values login ./secret in && "
                  "$DWELL record -q -o three.data --values choose:access,change ./valued enums 100 >/dev/null && "
                  "$DWELL record -q -o four.data --values choose:access,change ./valued enums 300 >/dev/null && "
                  "$DWELL merge --with-values -o all.data three.data one.data two.data four.data"));
    private_shows("$DWELL values login:password all.data --format csv | cut -d, -f1-2 | LC_ALL=C sort",
                  "other,1000\n" PASSWORD ",1000\nvalues.password,calls\n");
    private_shows("$DWELL values login:pin all.data --format csv | cut -d, -f1-2",
                  "values.pin,calls\n5,1000\n" PIN ",1000\n");
    private_shows("$DWELL values choose:access all.data --format csv | cut -d, -f1-2",
                  "values.access,calls\nACCESS_NONE,100\nACCESS_BOTH,100\nACCESS_WRITE|ACCESS_RUN,100\n20,100\n");
    private_shows("$DWELL info all.data | grep -c '^values'", "2\n");
    private_shows("$DWELL merge -o none.data one.data two.data && $DWELL info none.data | grep -c '^values'; true",
                  "0\n");
}

/* One function cannot have two lists of values. */
Test(e2e_values_private, merged_sessions_have_the_same_values)
{
    private_record();
    free(run_well("$DWELL record -q -o two.data --values login:pin ./secret in"));
    private_shows(
        "$DWELL merge --with-values -o all.data one.data two.data 2>&1; test $? -eq 2 && ls all* 2>/dev/null; "
        "true",
        "dwell: all.data: two.data: holds other values of a function (pin and so on) than a session before "
        "it; record the same ones, or leave out --with-values\n");
}

Test(e2e_values_private, sums_have_none)
{
    private_record();
    private_expect("$DWELL profile -o out/sums.data one.data", "1\n");
}

Test(e2e_values_private, pages_have_none)
{
    private_record();
    private_expect("$DWELL view -o out/page.html one.data 2>said", "1\n");
}

/* All formats that the build has, without and with a filter of calls. */
Test(e2e_values_private, exports_have_none)
{
    private_record();
    free(run_well("mkdir out && for format in $($DWELL export --list | cut -d' ' -f1); do\n"
                  "$DWELL export $format -o out/$format one.data && "
                  "$DWELL export $format --only login -o out/$format.only one.data || exit 1\ndone"));
    char *text = run_well("[ $(ls out | wc -l) -ge $(($($DWELL export --list | wc -l) * 2)) ]; " HOLDS "out");
    cr_assert(eq(str, text, ""));
    free(text);
}

/* The program makes 1000 calls. The number has all its digits. */
Test(e2e_values_private, exports_have_them_if_asked)
{
    private_record();
    char *text = run_well("$DWELL export chrome --with-values one.data | grep -c '\"ph\":\"X\",\"name\":\"login\".*"
                          "\"args\":{\"password\":\"" PASSWORD "\",\"pin\":" PIN "},'");
    cr_assert(eq(str, text, "1000\n"));
    free(text);
    text = run_well("$DWELL export chrome --with-values one.data | jq '[.traceEvents[] | select(.name == "
                    "\"login\")] | length'");
    cr_assert(eq(str, text, "1000\n"));
    free(text);
    text = run_well("$DWELL export collapsed --with-values one.data 2>&1; test $? -eq 2");
    cr_assert(
        eq(str, text, "dwell: --with-values: format collapsed has no values of arguments; try sqlite or chrome\n"));
    free(text);
}

#define PUSH                                                                                                           \
    "mkdir store && echo well >store/mode && mkdir store/bodies && "                                                   \
    "{ python3 -B " DWELL_CONSUMERS "/fleet_store.py store & } && "                                                    \
    "trap 'kill $!' EXIT && until [ -e store/url ]; do sleep 0.05; done && "                                           \
    "XDG_CONFIG_HOME=. $DWELL fleet push --url $(cat store/url) one.data && "                                          \
    "grep -q 'program=secret' store/runs && cp store/bodies/paths store/bodies/files out"

/* What the store gets of a recorded session. */
Test(e2e_values_private, pushes_have_none)
{
    need_features("fleet");
    private_record();
    private_expect(PUSH, "2\n");
}

/* What an assistant gets of the slow calls: their argument only with --with-values, and whoever starts the server. */
#define ASK                                                                                                            \
    "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"why\",\"arguments\":"        \
    "{\"session\":\"slow.data\",\"function\":\"handle\",\"slow\":\">1ms\"}}}' | "

Test(e2e_values_private, answers_to_assistants_have_none)
{
    need_features("mcp causes");
    free(run_well("gcc -O2 -g -finstrument-functions -o slow " DWELL_CONSUMERS
                  "/../e2e/programs/values/slow_argument.c && $DWELL record -q -o slow.data --values handle:n,kind "
                  "./slow planted"));
    char *text = run_well(ASK "$DWELL mcp >without; " ASK "$DWELL mcp --with-values >with; "
                              "grep -c 'above 1.000 ms take' without with; grep -c 'n=100000' without with; "
                              "grep -c argument without with; "
                              "$DWELL why --slow '>1ms' handle slow.data | grep -c ' argument  *n=100000$'");
    cr_assert(eq(str, text, "without:1\nwith:1\nwithout:0\nwith:1\nwithout:0\nwith:1\n1\n"));
    free(text);
}

/* ---- mode profile, whose session holds sums by value ---- */

/* Formats that need single calls refuse the session. */
Test(e2e_values_private, sums_by_value_are_not_passed_on)
{
    private_record_with("--mode profile");
    free(
        run_well("mkdir out && $DWELL record -q --mode profile -o two.data --values login ./secret in && "
                 "$DWELL merge -o out/both.data one.data two.data && $DWELL profile -o out/sums.data one.data && "
                 "$DWELL view -o out/page.html one.data 2>said && "
                 "for format in $($DWELL export --list | cut -d' ' -f1); do "
                 "$DWELL export $format -o out/$format one.data 2>refused || grep -q 'single calls\\|order of events\\|"
                 "mode profile' refused || { cat refused; exit 1; }; done"));
    char *text = run_well("[ $(ls out | wc -l) -ge 6 ] || ls out; " HOLDS "out");
    cr_assert(eq(str, text, ""));
    free(text);
    private_shows("$DWELL merge --with-values -o all.data one.data two.data && $DWELL values login:password all.data "
                  "--format csv | cut -d, -f1-2",
                  "values.password,calls\n" PASSWORD ",2000\n");
}

Test(e2e_values_private, pushes_of_sums_by_value_have_none)
{
    need_features("fleet");
    private_record_with("--mode profile");
    private_expect(PUSH, "2\n");
}

/* A tool for each view that reads the session. */
Test(e2e_values_private, answers_about_sums_by_value_have_none)
{
    need_features("mcp");
    private_record_with("--mode profile");
    private_shows("for tool in report tree advise info; do echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                  "\"tools/call\",\"params\":{\"name\":\"'$tool'\",\"arguments\":{\"session\":\"one.data\"}}}' | "
                  "$DWELL mcp; done >answers; grep -q login answers && echo named; " HOLDS "answers",
                  "named\n");
}
