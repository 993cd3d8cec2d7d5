/* --within and --filter with a value: the calls that have it, in several views, compared with what dwell values counts.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"

#define PROGRAMS DWELL_CONSUMERS "/../e2e/programs/values/"

static void within_begin(void)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o program " PROGRAMS "slow_argument.c && "
                  "$DWELL record -q --values handle:n,kind ./program planted"));
}

TestSuite(e2e_within_values, .timeout = 600);

static void within_compare(const char *first, const char *second)
{
    char *one = run_well("%s", first), *other = run_well("%s", second);
    cr_assert(eq(str, one, other), "%s", first);
    cr_assert(ne(int, *one, '\0'));
    cr_assert(ne(str, one, "0\n"));
    free(one);
    free(other);
}

static void within_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* The calls of the values that the condition of jq takes. */
#define COUNTED(what, condition)                                                                                       \
    "$DWELL values --each -n 0 --format json handle:" what " | jq '[.rows[] | select(.values." what " | " condition    \
    ") | .calls] | add'"
#define REPORTED(condition)                                                                                            \
    "$DWELL report --by function --within '" condition                                                                 \
    "' --format json | jq '.rows[] | select(.function == \"handle\")"                                                  \
    ".calls'"

Test(e2e_within_values, a_report_has_the_calls_with_the_value)
{
    within_begin();
    within_compare(REPORTED("handle: n = 100000"), COUNTED("n", ". == 100000"));
    within_compare(REPORTED("handle: n != 100000"), COUNTED("n", ". != 100000"));
    within_compare(REPORTED("handle: n>=3"), COUNTED("n", ". >= 3"));
    within_compare(REPORTED("handle: n <= 3"), COUNTED("n", ". <= 3"));
    within_compare(REPORTED("handle: n > 2.5"), COUNTED("n", ". > 2.5"));
    within_compare(REPORTED("handle:n < 1"), COUNTED("n", ". < 1"));
    within_compare(REPORTED("handle: kind = GET"), COUNTED("kind", ". == \"GET\""));
    within_compare(REPORTED("handle: kind != GET"), COUNTED("kind", ". != \"GET\""));
    within_compare(REPORTED("handle: kind ~ [GS]ET"), COUNTED("kind", "endswith(\"ET\")"));
    within_compare(REPORTED("handle: kind !~ D*"), COUNTED("kind", "endswith(\"ET\")"));
    within_compare(REPORTED("handle: n = 1' --within 'handle: n = 2"), COUNTED("n", ". == 1 or . == 2"));
}

/* The same as beside the calls of a replay, whose kinds are texts. */
Test(e2e_within_values, the_slowest_calls_show_them)
{
    within_begin();
    within_compare(
        "$DWELL slowest -n 0 --format json handle | jq -c '.rows[].values' | sort | uniq -c",
        "$DWELL replay --format json | jq -c 'select(.function == \"handle\" and .kind != \"end\").values' | "
        "sort | uniq -c");
    within_expect("$DWELL slowest --filter 'handle.n = 100000' --filter 'handle.kind = GET' -n 1 handle | "
                  "grep -o 'n=100000, kind=GET *main$' | tr -s ' '; "
                  "DWELL_WITHHOLD_VALUES=1 $DWELL slowest -n 1 handle | grep -c 'VALUES\\|kind='; true",
                  "n=100000, kind=GET main\n0\n");
}

Test(e2e_within_values, other_views_have_them)
{
    within_begin();
    within_compare("$DWELL slowest -n 0 --within 'handle: n = 100000' --format json handle | jq '.rows | length'",
                   COUNTED("n", ". == 100000"));
    within_compare("$DWELL histogram --within 'handle: n = 4' --format json handle | jq '[.rows[].calls] | add'",
                   COUNTED("n", ". == 4"));
    within_compare(
        "$DWELL tree --min 0 --within 'handle: n = 4' --format json | jq '[.. | objects | select(.function? == "
        "\"handle\") | .calls] | add'",
        COUNTED("n", ". == 4"));
    within_compare(
        "$DWELL replay --within 'handle: n = 4' --format json | jq -s '[.[] | select(.function == \"handle\" "
        "and .kind != \"end\")] | map(select(.values.n == 4)) | length'",
        COUNTED("n", ". == 4"));
    within_compare(
        "$DWELL replay --filter 'handle.kind = GET' --format json | jq -s '[.[] | select(.kind == \"call\" or "
        ".kind == \"begin\")] | map(select(.values.kind == \"GET\")) | length'",
        COUNTED("kind", ". == \"GET\""));
    within_compare("$DWELL values --within 'handle: kind = GET' --format json handle:kind | jq '[.rows[].calls] | add'",
                   COUNTED("kind", ". == \"GET\""));
}

/* Both sets are of calls with the value; these are long, so no two of them are equal. All of the calls with n = 100000
 * are slow, so nothing of that is left without them. They take two milliseconds by another clock. */
Test(e2e_within_values, why_compares_calls_that_have_them)
{
    within_begin();
    within_compare("$DWELL why --within 'handle: n = 100000' --slow 10% --format json handle >why.json; "
                   "jq -e '([.rows[].slow_ns] | add) == .slow.mean_ns and ([.rows[].usual_ns] | add) == "
                   ".usual.mean_ns and .slow.calls + .usual.calls == .calls' why.json >/dev/null && jq .calls why.json",
                   COUNTED("n", ". == 100000"));
    within_compare("$DWELL why --within 'handle: n = 100000' --slow '>1.9ms' --format json handle | jq .slow.calls",
                   COUNTED("n", ". == 100000"));
    within_expect("for within in 'n >= 0' 'n < 100000'; do $DWELL why --within \"handle: $within\" --slow '>1.9ms' "
                  "--format json handle | jq -c '[.factors[] | select(.name == \"argument\").value]'; done",
                  "[\"n=100000\"]\n[]\n");
}

/* Both are rounded to a nanosecond. */
static void within_compare_lengths(const char *first, const char *second)
{
    char *one = run_well("%s", first), *other = run_well("%s", second);
    cr_assert(gt(long, strtol(one, NULL, 10), 1000));
    cr_assert(le(long, labs(strtol(one, NULL, 10) - strtol(other, NULL, 10)), 1), "%s: %s, %s", first, one, other);
    free(one);
    free(other);
}

/* The length is that of the longest call, with its probes. */
#define LONGEST(condition)                                                                                             \
    "$DWELL slowest --raw -n 1 --within '" condition "' --format json handle | jq '.rows[0].elapsed_inclusive_ns'"

Test(e2e_within_values, the_critical_path_of_the_longest_call)
{
    within_begin();
    within_compare_lengths("$DWELL critical --within 'handle: n = 100000' --format json | jq .length_ns",
                           LONGEST("handle: n = 100000"));
    within_compare_lengths("$DWELL critical --within 'handle: n < 100' --format json | jq .length_ns",
                           LONGEST("handle: n < 100"));
    within_compare_lengths("$DWELL critical --filter 'handle.n = 100000' --filter 'handle.kind = GET' --format json | "
                           "jq .length_ns",
                           LONGEST("handle: n = 100000' --filter 'handle.kind = GET"));
}

/* A call writes an event with its size, and those with even sizes another one behind it. */
Test(e2e_within_values, trace_events_of_calls)
{
    need_features("events");
    free(run_well(
        "cat >writing.c <<'END'\n"
        "#include <dwell/event.h>\n"
        "#include <stdio.h>\n"
        "#include <string.h>\n"
        "static struct dwell_event_class shop =\n"
        "    DWELL_EVENT_CLASS(\"shop\", 0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 2, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);\n"
        "static void say(const char *what, int size)\n"
        "{\n"
        "    char text[32];\n"
        "    snprintf(text, sizeof text, \"%%s %%d\", what, size);\n"
        "    dwell_event_write(&shop, EVENT_TRACE_TYPE_INFO, TRACE_LEVEL_INFORMATION, 0, text, strlen(text));\n"
        "}\n"
        "__attribute__((noinline)) static int handle(int size) { say(\"in\", size); return size + 1; }\n"
        "int main(void)\n"
        "{\n"
        "    int sum = 0;\n"
        "    dwell_event_register(&shop);\n"
        "    for (int i = 0; i < 40; i++) { sum += handle(i); if (i %% 2 == 0) say(\"behind\", i); }\n"
        "    return sum == 0;\n"
        "}\n"
        "END\n"
        "gcc -O2 -g -finstrument-functions -I%s/../../include -o writing writing.c $RUNTIME && "
        "$DWELL record -q --event shop --values handle:size -o writing.data ./writing",
        DWELL_CONSUMERS));
    within_expect("$DWELL events --within 'handle: size >= 37' --format csv writing.data | grep -o 'in [0-9][0-9]*\\|"
                  "behind [0-9]*'",
                  "in 37\nin 38\nin 39\n");
    within_expect("$DWELL events --within 'handle: size = 99' writing.data 2>&1; true",
                  "dwell: --within: no completed call has 'handle: size = 99'; dwell values 'handle:size' lists what "
                  "they have\n");
}

#define FILTERED(condition)                                                                                            \
    "$DWELL report --by function --filter '" condition                                                                 \
    "' --format json | jq '.rows[] | select(.function == \"handle\").calls'"

/* Conditions on columns are still those. */
Test(e2e_within_values, filters_take_values_too)
{
    within_begin();
    within_compare(FILTERED("handle.n = 100000"), COUNTED("n", ". == 100000"));
    within_compare(FILTERED("handle: n >= 3"), COUNTED("n", ". >= 3"));
    within_compare(FILTERED("handle.n>1' --filter 'handle.n<=3' --filter 'calls>0"), COUNTED("n", ". == 2 or . == 3"));
    within_compare(FILTERED("handle.n > 2' --within 'handle.n < 4"), COUNTED("n", ". == 3"));
    within_compare(REPORTED("handle.kind ~ [GS]ET"), COUNTED("kind", "endswith(\"ET\")"));
    within_compare("$DWELL slowest -n 0 --filter 'handle.n = 100000' --format json handle | jq '.rows | length'",
                   COUNTED("n", ". == 100000"));
    within_compare(
        "$DWELL tree --min 0 --filter 'handle.n = 4' --format json | jq '[.. | objects | select(.function? == "
        "\"handle\") | .calls] | add'",
        COUNTED("n", ". == 4"));
    within_expect("$DWELL report --filter 'name=handle.n>3' 2>&1 --format csv | wc -l", "1\n");
}

Test(e2e_within_values, filters_that_cannot_be_met)
{
    within_begin();
    within_expect("$DWELL report --filter 'handle.n = 77' 2>&1; true",
                  "dwell: --filter: no completed call has 'handle.n = 77'; dwell values 'handle:n' lists what they "
                  "have\n");
    within_expect("$DWELL report --filter 'handle.n = 1' --filter 'handle.n = 2' 2>&1; true",
                  "dwell: --filter: no call meets all conditions\n");
    within_expect("$DWELL report --filter 'handle.n = GET' 2>&1; true",
                  "dwell: --filter: n is a number: compare it with one, by = != < <= > >=\n");
    within_expect("$DWELL marks --filter 'handle.n = 1' 2>&1; true",
                  "dwell: --filter: 'handle.n = 1': this view takes conditions on columns alone\n");
    within_expect("$DWELL whatif --filter 'handle.n = 1' handle=2 2>&1; true",
                  "dwell: --filter: 'handle.n = 1': this view takes conditions on columns alone\n");
}

Test(e2e_within_values, enumerations_by_name_or_number)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o program " PROGRAMS "valued.c -lpthread -lm && "
                  "$DWELL record -q --values choose:access,change ./program enums 1000"));
    static const char *const conditions[] = { "access = ACCESS_BOTH", "access = 3",  "access = ACCESS_WRITE|ACCESS_RUN",
                                              "access >= 20",         "change < -1", "change ~ *_UP" };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char *text = run_well("$DWELL report --by function --within 'choose: %s' --format json | jq '.rows[] | "
                              "select(.function == \"choose\").calls'",
                              conditions[i]);
        cr_assert(eq(str, text, "250\n"), "%s", conditions[i]);
        free(text);
    }
}

Test(e2e_within_values, conditions_that_cannot_be_met)
{
    within_begin();
    within_expect("$DWELL report --within 'handle: n = 77' 2>&1; true",
                  "dwell: --within: no completed call has 'handle: n = 77'; dwell values 'handle:n' lists what they "
                  "have\n");
    within_expect("$DWELL report --within 'handle: n = GET' 2>&1; true",
                  "dwell: --within: n is a number: compare it with one, by = != < <= > >=\n");
    within_expect("$DWELL report --within 'handle: kind > 3' 2>&1; true",
                  "dwell: --within: kind is no number: compare it by = != ~ !~\n");
    within_expect("$DWELL report --within 'handle: size = 3' 2>&1; true",
                  "dwell: 'size' is not recorded of that function; what is: n, kind\n");
    within_expect("$DWELL report --within 'main: n = 3' 2>&1; true",
                  "dwell: no values of main are recorded; dwell record --values 'main' does so\n");
    within_expect("$DWELL critical --within 'handle: n = 77' 2>&1; true",
                  "dwell: --within: no completed call has 'handle: n = 77'; dwell values 'handle:n' lists what they "
                  "have\n");
    within_expect("$DWELL report --within handle 2>&1; true",
                  "dwell: --within: 'handle' is none of marker:WHAT, activity:CLASS and 'FUNCTION: WHAT = VALUE'\n");
    within_expect("$DWELL report --within 'handle: req->len' 2>&1; true",
                  "dwell: --within: 'handle: req->len' is none of marker:WHAT, activity:CLASS and 'FUNCTION: WHAT = "
                  "VALUE'\n");
}
