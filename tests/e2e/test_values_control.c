/* Values that are recorded on command while the program runs, compared with what the program prints itself. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_control, .timeout = 600);

#define SOURCE DWELL_CONSUMERS "/../e2e/programs/values/steered.c"

static void control_build(const char *options)
{
    free(run_well("gcc %s -finstrument-functions -o steered " SOURCE " -lpthread", options));
}

/* Starts the recording of a command, and waits until the program is before its first phase. */
#define START(options, command)                                                                                        \
    "($DWELL record -q " options " " command " >printed 2>said; echo $? >status) </dev/null & " PHASE("1", "")

/* Does something while the program waits, then lets it go on. */
#define PHASE(number, commands)                                                                                        \
    "while ! test -e a-at-" number "; do sleep 0.01; done; PID=$(cat a-at-" number "); " commands                      \
    " touch a-go-" number "; "

#define VALUES(setting) "$DWELL control $PID values '" setting "' && "

static void control_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* Each value of the function is that of one call. */
#define VALUES_OF(function, what)                                                                                      \
    "$DWELL values --each -n 0 --format json '" function ":" what "' | jq -r '.rows[] | \"\\(.values[\"" what          \
    "\"])|\\(.calls)\"' | sort -n"

/* The same as the program has printed it in some phases, whose numbers are a set of characters. */
#define PRINTED(column, phases) "grep '^[" phases "]' printed | cut -d'|' -f" column " | sed 's/$/|1/' | sort -n"

static void control_compare(const char *recorded, const char *printed, int calls)
{
    char *ours = run_well("%s", recorded), *theirs = run_well("%s", printed);
    cr_assert(eq(str, ours, theirs), "%s", recorded);
    int lines = 0;
    for (const char *c = ours; *c; c++)
        lines += *c == '\n';
    cr_assert(eq(int, lines, calls));
    free(ours);
    free(theirs);
}

/* ---- on and off ---- */

static void control_check_phases(const char *options)
{
    control_build(options);
    free(run_well(START("", "./steered a 5") PHASE("2", VALUES("work:n,text,return")) PHASE("3", VALUES("work>off"))
                      PHASE("4", VALUES("work:n,text,return") VALUES("few"))
                          PHASE("5", VALUES("few>off")) "wait; cat said; test $(cat status) = 0"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "245"), 300);
    control_compare(VALUES_OF("work", "return"), PRINTED("3", "245"), 300);
    control_expect(VALUES_OF("work", "text"), "even secret|150\nodd secret|150\n");
    control_compare(VALUES_OF("few", "n"), PRINTED("1", "4"), 100);
    control_expect("$DWELL report --format json | jq '[.rows[] | select(.function == \"work\") | .calls] | add'",
                   "500\n");
    control_expect("$DWELL info --format json | jq -c '.values | [.functions[].values, .functions[].calls]'",
                   "[[\"n\",\"text\",\"return\"],[\"n\"],300,100]\n");
}

Test(e2e_values_control, on_and_off)
{
    control_check_phases("-O2 -g");
}

Test(e2e_values_control, on_and_off_without_optimisation)
{
    control_check_phases("-O0 -g");
}

/* Both functions begin with values; those of the second command are behind them in the plan. */
Test(e2e_values_control, beside_those_of_record)
{
    control_build("-O2 -g");
    free(run_well(START("--values work:n --values-text 4", "./steered a 3") PHASE("2", VALUES("few") VALUES("work>off"))
                      PHASE("3", VALUES("work:n") VALUES("first_caller")) "wait; cat said"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "13"), 200);
    control_compare(VALUES_OF("few", "n"), PRINTED("1", "23"), 200);
    control_compare(VALUES_OF("first_caller", "n"), PRINTED("1", "3"), 100);
}

/* Its probes are in the code of two functions. */
Test(e2e_values_control, of_an_inlined_function)
{
    control_build("-O2 -g");
    free(run_well(START("", "./steered a 2") PHASE("2", VALUES("small:n")) "wait; cat said"));
    control_compare(VALUES_OF("small", "n"),
                    "grep '^small|' printed | tail -n 200 | cut -d'|' -f2 | sed 's/$/|1/' | "
                    "sort -n",
                    200);
}

Test(e2e_values_control, in_a_ring)
{
    control_build("-O2 -g");
    free(run_well(START("--mode ring", "./steered a 3")
                      PHASE("2", VALUES("work:n") "$DWELL control $PID dump -o dump.data 2>&1 && ")
                          PHASE("3", "$DWELL control $PID dump -o later.data 2>&1 && " VALUES("work>off")) "wait"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "2"), 100);
    control_expect("$DWELL info dump.data --format json | jq -c '[.values.functions[].calls]'", "[0]\n");
    control_expect("$DWELL info later.data --format json | jq -c '[.values.functions[].calls]'", "[100]\n");
}

/* ---- levels ---- */

/* A function that was only counted is timed again, and stays so while its values are recorded. */
Test(e2e_values_control, of_a_counted_function)
{
    control_build("-O2 -g");
    free(run_well(START("--level counted=few", "./steered a 4") PHASE("2", VALUES("few"))
                      PHASE("3", "$DWELL control $PID level counted=few && ")
                          PHASE("4", VALUES("few>off") "$DWELL control $PID level counted=few && ") "wait; cat said"));
    control_compare(VALUES_OF("few", "n"), PRINTED("1", "23"), 200);
    control_expect("$DWELL report --format json | jq '[.rows[] | select(.function == \"few\") | .calls] | add'",
                   "400\n");
}

/* Both that stay timed are counted, in both processes' words. */
Test(e2e_values_control, of_functions_that_are_to_have_another_level)
{
#define SAID(number) "test -s said-" number " || echo nothing >said-" number " && "
    control_build("-O2 -g");
    free(run_well(
        START("--values work:n --keep 'first_caller>1s' --mode ring", "./steered a 3")
            PHASE("2", "$DWELL control $PID level 'out=work' 2>said-1 && "
                       "$DWELL control $PID level 'counted=*_caller' 2>said-2 && " SAID("1") SAID("2"))
                PHASE("3", VALUES("work>off") "$DWELL control $PID level 'out=work' 2>said-3 && "
                                              "$DWELL control $PID level 'timed=first_caller' 2>said-4 && " SAID("3")
                                                  SAID("4")) "wait; cat said"));
    control_expect("sed 's/process [0-9]*/process N/' said-1 said-2 said-3 said-4",
                   "dwell: 1 function of process N stays timed, as values or slow calls are recorded: end that by "
                   "values 'FUNCTION>off' or keep 'PATTERN>off'\n"
                   "dwell: 1 function of process N stays timed, as values or slow calls are recorded: end that by "
                   "values 'FUNCTION>off' or keep 'PATTERN>off'\nnothing\nnothing\n");
}

/* ---- threads and processes ---- */

/* No call is left out between the first one and the last one that have values. */
Test(e2e_values_control, while_threads_call)
{
    control_build("-O2 -g");
    free(run_well("($DWELL record -q ./steered a threads >printed) </dev/null & "
                  "while ! test -e a-at-1; do sleep 0.01; done; PID=$(cat a-at-1); "
                  "$DWELL control $PID values few && $DWELL control $PID values 'few>off' && "
                  "$DWELL control $PID values few && touch a-go-1; wait"));
    control_expect("$DWELL values --each -n 0 --format json few | jq -r '.rows[] | select(.calls != 1) | .calls'", "");
    control_expect("$DWELL values --each -n 0 --format json few | jq -r '.rows[].values.n' | sort -n >recorded; "
                   "while read first last; do awk -v first=$first -v last=$last '$1 >= first && $1 <= last { count++; "
                   "run = $1 == before + 1 ? run + 1 : 1; before = $1 } END { print (before == last), "
                   "(run >= 100), (count >= run) }' recorded; done <printed | sort | uniq -c | sed 's/^ *//'",
                   "8 1 1 1\n");
    control_expect(
        "awk 'NR == FNR { first[NR] = $1; last[NR] = $2; n = NR; next } { good = 0; for (i = 1; i <= n; i++) "
        "good += $1 >= first[i] && $1 <= last[i]; wrong += good != 1 } END { print wrong + 0 }' printed "
        "recorded",
        "0\n");
}

/* Reads the session over and over until the file `stop` is there: what it lacks, and the values of few(). */
#define READER                                                                                                                \
    "(while ! test -e stop; do "                                                                                              \
    "$DWELL info --format json 2>>errors | jq -c '.values | [.damaged_chunks, .lost_calls]' >>seen; "                         \
    "$DWELL values --each -n 0 --format json few:n >live 2>>errors && { jq -r '.rows[] | \"\\(.values.n) \\(.calls)\"' live " \
    ">>values; jq -r '.remarks[] | .code | select(test(\"values-(damaged|lost)\"))' live >>remarks; }; done) & "

/* The plan is exchanged while eight threads call and a reader follows: no reading finds damage or a wrong value, and
 * later ones have more values than the first. */
Test(e2e_values_control, while_a_reader_follows)
{
    control_build("-O2 -g");
    free(run_well(
        "($DWELL record -q --values work:n ./steered a threads >printed) </dev/null & "
        "while ! test -e a-at-1; do sleep 0.01; done; PID=$(cat a-at-1); touch values remarks; " READER
        "READING=$!; for i in 1 2 3; do " VALUES(
            "few") "$DWELL control $PID values first_caller && sleep 0.3 && "
                   "$DWELL control $PID values 'few>off' && $DWELL control $PID values 'first_caller>off' || exit 9; done; " VALUES(
                       "few") "touch stop && wait $READING && touch a-go-1 && wait"));
    control_expect("sort -u seen", "[0,0]\n");
    control_expect("sort -u remarks", "");
    control_expect("awk '$2 != 1' values | head -n 1", "");
    control_expect(
        "awk 'NR == FNR { first[NR] = $1; last[NR] = $2; n = NR; next } { good = 0; for (i = 1; i <= n; i++) "
        "good += $1 >= first[i] && $1 <= last[i]; wrong += good != 1 } END { print wrong + 0, (NR > 100) }' "
        "printed values",
        "0 1\n");
}

/* Only the process that gets the command reads them, and its children from then on. */
Test(e2e_values_control, of_one_of_several_processes)
{
    control_build("-O2 -g");
    free(run_well(START("", "sh -c './steered b 1 >other & ./steered a 4 fork; wait; exit 0'")
                      PHASE("2", VALUES("work:n")) PHASE("3", "while ! test -e b-at-1; do sleep 0.01; done; ") PHASE(
                          "4", VALUES("work>off") VALUES("few") "touch b-go-1; ") "wait; cat said; wc -l <other"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "23"), 200);
    control_compare(VALUES_OF("few", "n"), PRINTED("1", "4"), 100);
}

/* A program that begins later reads the values of the functions that are not off. */
Test(e2e_values_control, of_programs_that_begin_later)
{
    control_build("-O2 -g");
    free(run_well(START("", "sh -c './steered a 2 >printed; mv a-at-1 old-at; mv a-at-2 old-at; mv a-go-1 old-go; mv "
                            "a-go-2 old-go; ./steered a 2 >later'")
                      PHASE("2", VALUES("work:n") VALUES("few")
                                     VALUES("work>off")) "while test -e a-at-2; do sleep 0.01; done; " PHASE("1", "")
                          PHASE("2", "") "wait"));
    control_compare(VALUES_OF("few", "n"),
                    "(grep '^2' printed; grep '^[12]' later) | cut -d'|' -f1 | sort -n | uniq -c "
                    "| awk '{ print $2 \"|\" $1 }'",
                    200);
    control_expect("$DWELL info --format json | jq -c '[.values.functions[].calls]'", "[0,300]\n");
}

/* ---- ends ---- */

Test(e2e_values_control, of_a_program_that_is_killed)
{
    control_build("-O2 -g");
    free(run_well(START("", "./steered a 3") PHASE(
        "2",
        VALUES(
            "work:n,text")) "while ! test -e a-at-3; do sleep 0.01; done; kill -9 $PID; wait; test $(cat status) = 137"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "2"), 100);
    control_expect("$DWELL info | grep -c '^values .*n, text of 100 calls of steered+0x'", "1\n");
}

/* The command needs the program alone. */
Test(e2e_values_control, after_the_recorder_was_killed)
{
    control_build("-O2 -g");
    free(run_well("($DWELL record -q ./steered a 2 >printed) </dev/null & RECORDER=$!; " PHASE(
        "1", "") "while ! test -e a-at-2; do sleep 0.01; done; PID=$(cat a-at-2); kill -9 $(ps -o ppid= -p $PID); "
                 "wait; " VALUES("work:n") "touch a-go-2; while test -e /proc/$PID; do sleep 0.05; done"));
    control_compare(VALUES_OF("work", "n"), PRINTED("1", "2"), 100);
}

/* ---- what is refused ---- */

static void control_expect_refused(const char *setting, const char *said)
{
    struct ran r = run("$DWELL control $(cat a-at-1) values %s", setting);
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, said), "%s: %s", setting, r.err);
    ran_drop(&r);
}

static void control_begin(const char *options)
{
    free(run_well(
        "rm -f a-*; ($DWELL record -q %s ./steered a 1 >printed 2>&1 &) </dev/null; while ! test -e a-at-1; do "
        "sleep 0.01; done",
        options));
}

static void control_end(void)
{
    free(run_well("touch a-go-1; while test -e /proc/$(cat a-at-1); do sleep 0.05; done"));
}

Test(e2e_values_control, that_are_refused)
{
    control_build("-O2 -g");
    control_begin("--values work:n");
    control_expect_refused("", "control: which values? Give FUNCTION, FUNCTION:WHAT,... or 'FUNCTION>off'\n");
    control_expect_refused("wrok", "control: values: no function of process ");
    control_expect_refused("wrok", " that calls a probe is named 'wrok'; did you mean 'work'?\n");
    control_expect_refused("work:m", "control: values: work: no parameter 'm'; it has n, text\n");
    control_expect_refused("work", "control: values: other values of a function that 'work' names are in the session: "
                                   "name the same ones\n");
    control_expect_refused("'few>off'", "control: values: no function that 'few' names has values in the session\n");
    control_expect_refused("'work:n>off'", "control: values: 'work:n>off' ends all values of a function: give "
                                           "'FUNCTION>off'\n");
    control_end();
    control_expect("$DWELL info --format json | jq -c '[.values.functions[].calls]'", "[100]\n");
}

Test(e2e_values_control, that_the_recording_cannot_have)
{
    control_build("-O2");
    control_begin("");
    control_expect_refused("work", "steered: has no debug information: compile with -g, or install its file of it\n");
    control_end();
    control_expect("$DWELL info --format json | jq -c .values", "null\n");
}

/* ---- secrets ---- */

/* A recording that began without values has secrets from then on, which nothing passes on. */
Test(e2e_values_control, that_are_not_passed_on)
{
    control_build("-O2 -g");
    free(run_well(START("", "./steered a 2") PHASE("2", VALUES("work:n,text")) "wait"));
    control_expect("grep -aq 'odd secret' dwell.data && echo has", "has\n");
    control_expect("$DWELL export chrome -o trace.json && grep -c 'odd secret' trace.json; true", "0\n");
    control_expect("$DWELL profile -o sums.data && grep -ac 'odd secret' sums.data; true", "0\n");
}

/* Whether values are off is of no concern to a merged session. */
Test(e2e_values_control, that_are_off_are_merged)
{
    control_build("-O2 -g");
    free(run_well(START("-o one.data", "./steered a 3") PHASE("2", VALUES("work:n,text"))
                      PHASE("3", VALUES("work>off")) "wait"));
    free(run_well("rm a-*; $DWELL record -q --values work:n,text -o two.data ./steered a 1 >second & while ! test -e "
                  "a-at-1; do sleep 0.01; done; touch a-go-1; wait"));
    control_expect("$DWELL merge -o none.data one.data two.data && grep -ac 'odd secret' none.data; true", "0\n");
    free(run_well("$DWELL merge --with-values -o dwell.data one.data two.data"));
    control_compare(VALUES_OF("work", "n"),
                    "(grep '^2' printed; grep '^1' second) | cut -d'|' -f1 | sed 's/$/|1/' | "
                    "sort -n",
                    200);
}
