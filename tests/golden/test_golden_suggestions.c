/* For unknown names, the error line suggests the nearest name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

static void suggestions_save_sessions(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
    w = writer_new();
    write_process(w, 1, 10, "/bin/game");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "game");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1000, 0x401000);
    static const uint16_t mark[] = { 10 << 8 | 11, 0x7d0, 0, 0, 0x7d0, 0, 0, 3, 0, 6, 'l' | 'o' << 8, 'a' | 'd' << 8 };
    write_words(w, mark, sizeof mark / sizeof *mark);
    write_exit(w, 3000);
    end_events(w, true);
    writer_save(w, test_path("marked.dwell"));
    writer_free(w);
}

TestSuite(golden_suggestions, .init = suggestions_save_sessions, .timeout = 300);

static void expect_suggested(const char *arguments, int status, const char *line)
{
    struct ran r = run("$DWELL %s", arguments);
    char wanted[512];
    snprintf(wanted, sizeof wanted, "dwell: %s\n", line);
    cr_assert(eq(int, r.status, status), "%s: %s", arguments, r.err);
    cr_assert(eq(str, r.out, ""), "%s", arguments);
    cr_assert(eq(str, r.err, wanted), "%s", arguments);
    ran_drop(&r);
}

Test(golden_suggestions, options_of_every_command)
{
    need_features("events fleet perflog vsperf");
    static const char *const options[][3] = {
        { "record", "mde=ring", "mode" },      { "report", "colums", "columns" },
        { "top", "intervall=2", "interval" },  { "tree", "fold-recursoin", "fold-recursion" },
        { "callers", "fitler", "filter" },     { "histogram", "tread=x", "thread" },
        { "slowest", "tread=x", "thread" },    { "diff", "fail-of=x", "fail-if" },
        { "marks", "formta", "format" },       { "replay", "dept", "depth" },
        { "events", "pears", "pairs" },        { "info", "hlep", "help" },
        { "export", "agregate", "aggregate" }, { "perflog", "instance-s", "instances" },
        { "merge", "ouput", "output" },        { "import", "rsolution", "resolution" },
        { "doctor", "formt", "format" },       { "control", "ouput", "output" },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char arguments[64], name[64] = "", line[256];
        const char *command = options[i][0];
        sscanf(options[i][1], "%63[^=]", name);
        snprintf(arguments, sizeof arguments, "%s --%s", command, options[i][1]);
        const bool prefix = strncmp(options[i][2], name, strlen(name)) == 0;
        if (prefix)
            continue; /* getopt takes it for an abbreviation */
        snprintf(line, sizeof line, "%s: no option '--%s'; did you mean '--%s'? dwell %s --help lists them", command,
                 name, options[i][2], command);
        expect_suggested(arguments, i == 0 ? 125 : 2, line);
    }
    expect_suggested("report --zebra", 2, "report: no option '--zebra'; dwell report --help lists them");
    expect_suggested("record -o --mde --mode=trce true --mde", 125,
                     "--mode: 'trce' is none of trace, profile, ring, ring=SIZE; did you mean 'trace'?");
}

/* What other tools call otherwise. */
Test(golden_suggestions, words_of_other_tools)
{
    expect_suggested("report --top 5", 2,
                     "report: no option '--top'; did you mean '--limit'? dwell report --help lists them");
    expect_suggested("report --function handle", 2,
                     "report: no option '--function'; did you mean '--root'? dwell report --help lists them");
    expect_suggested("report -i example.dwell", 2,
                     "report: no option '-i'; the session is an argument without an option; dwell report --help lists "
                     "them");
    expect_suggested("report -x", 2, "report: no option '-x'; dwell report --help lists them");
    expect_suggested("record -g true", 125,
                     "record: no option '-g'; call paths are always recorded; dwell record --help lists them");
    expect_suggested("flamegraph", 2,
                     "no command 'flamegraph'; did you mean 'dwell view' or 'dwell export collapsed'? dwell --help "
                     "lists them");
    expect_suggested("record --level counted=a,b true", 125,
                     "--level: 'a,b' is a list: repeat it for each pattern, as counted=a");
}

/* Columns by the names that text shows, in upper or lower case; a part of a name is too little. */
Test(golden_suggestions, columns_by_their_titles)
{
    static const char *const equal[][2] = {
        { "report example.dwell --by function --sort CPU.EXCL",
          "report example.dwell --by function --sort cpu_exclusive" },
        { "report example.dwell --sort app.incl", "report example.dwell --sort application_inclusive" },
        { "tree example.dwell --columns CPU.EXCL,calls", "tree example.dwell --columns cpu_exclusive,calls" },
        { "report example.dwell --sort P99", "report example.dwell --sort p99" },
        { "report example.dwell --by function --filter 'EL.EXCL>1us'",
          "report example.dwell --by function --filter 'elapsed_exclusive>1us'" },
        { "slowest example.dwell handle --sort EL.EXCL", "slowest example.dwell handle --sort elapsed_exclusive" },
    };
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        char *one = run_well("$DWELL %s", equal[i][0]), *other = run_well("$DWELL %s", equal[i][1]);
        cr_assert(eq(str, one, other), "%s", equal[i][0]);
        free(one);
        free(other);
    }
    expect_suggested("report example.dwell --sort cpu", 2,
                     "--sort: no column 'cpu'; did you mean 'cpu_inclusive'? --columns help lists them");
}

Test(golden_suggestions, columns)
{
    static const char wanted[] = "no column 'call'; did you mean 'calls'? --columns help lists them";
    char line[256];
    snprintf(line, sizeof line, "--columns: %s", wanted);
    expect_suggested("report example.dwell --columns elapsed_exclusive,call", 2, line);
    expect_suggested("tree example.dwell --columns call", 2, line);
    expect_suggested("callers example.dwell handle --columns call", 2, line);
    expect_suggested("top --once example.dwell --columns call", 2, line);
    expect_suggested("diff example.dwell example.dwell --columns calls_changes", 2,
                     "--columns: no column 'calls_changes'; did you mean 'calls_change'? --columns help lists them");
    snprintf(line, sizeof line, "--sort: %s", wanted);
    expect_suggested("report example.dwell --sort call", 2, line);
    expect_suggested("top --once example.dwell --sort call", 2, line);
    expect_suggested(
        "report example.dwell --sort elapsed_exclusive_p98", 2,
        "--sort: no column 'elapsed_exclusive_p98'; did you mean 'elapsed_exclusive_p90'? --columns help lists them");
    expect_suggested("diff example.dwell example.dwell --sort call", 2,
                     "--sort: no value 'call'; did you mean 'calls'? --columns help lists them");
    expect_suggested(
        "report example.dwell --filter 'clals>1'", 2,
        "--filter 'clals>1': no column 'clals' here; did you mean 'calls'? --columns help lists them, and name stands for the row's name");
}

Test(golden_suggestions, formats_and_other_choices)
{
    need_features("events vsperf");
    expect_suggested("report --format jsn", 2, "--format: 'jsn' is none of text, csv, json; did you mean 'json'?");
    expect_suggested("events --format ewt", 2, "--format: 'ewt' is none of text, csv, json, etw; did you mean 'etw'?");
    expect_suggested("export calgrind", 2,
                     "no format 'calgrind'; did you mean 'callgrind'? dwell export --list lists them");
    expect_suggested(
        "export collapsed --value elapsed_exclusve", 2,
        "--value: 'elapsed_exclusve' is none of elapsed_exclusive, application_exclusive, cpu_exclusive, blocked_exclusive, calls; "
        "did you mean 'elapsed_exclusive'?");
    expect_suggested("import vspref x", 2, "no format 'vspref'; did you mean 'vsperf'? dwell import --list lists them");
    expect_suggested(
        "report --by tread", 2,
        "--by: 'tread' is none of function, line, module, module-function, thread, thread-name, process; did you mean 'thread'?");
    expect_suggested("diff --by paht a b", 2, "--by: 'paht' is none of function, module, path; did you mean 'path'?");
    expect_suggested(
        "histogram --value elapsed_inclusve x", 2,
        "--value: 'elapsed_inclusve' is none of elapsed_inclusive, elapsed_exclusive, application_inclusive, application_exclusive; "
        "did you mean 'elapsed_inclusive'?");
    expect_suggested(
        "control 1 puase", 2,
        "control: 'puase' is none of pause, resume, stop, dump, event, level, keep, values; did you mean 'pause'?");
    expect_suggested("record --os-events pref true", 125,
                     "--os-events: 'pref' is none of auto, perf, syscalls, rseq, none; did you mean 'perf'?");
}

Test(golden_suggestions, functions)
{
    static const char rounds[] =
        "example.dwell: no function 'rond_up' was recorded; did you mean 'round_up'? dwell report -s name lists them";
    expect_suggested("callers example.dwell rond_up", 2, rounds);
    expect_suggested("histogram example.dwell rond_up", 2, rounds);
    expect_suggested("slowest example.dwell rond_up", 2, rounds);
    expect_suggested("tree example.dwell --root rond_up", 2, rounds);
    expect_suggested(
        "callers example.dwell shop::rund_up", 2,
        "example.dwell: no function 'shop::rund_up' was recorded; did you mean 'shop::round_up'? dwell report -s name lists them");
    expect_suggested(
        "callers example.dwell price_off", 2,
        "example.dwell: no function 'price_off' was recorded; did you mean 'price_of'? dwell report -s name lists them");
    expect_suggested(
        "replay example.dwell --root handel", 2,
        "example.dwell: --root: no call of 'handel' in the selected range; did you mean 'handle'? dwell report -s name lists the functions");
}

Test(golden_suggestions, threads_processes_and_marks)
{
    expect_suggested("report example.dwell --thread pircing", 2,
                     "example.dwell: no thread 'pircing'; did you mean 'pricing'? dwell report --by thread lists them");
    expect_suggested("replay example.dwell --thread pircing", 2,
                     "example.dwell: no thread 'pircing'; did you mean 'pricing'? dwell report --by thread lists them");
    expect_suggested("replay example.dwell --process 77", 2,
                     "example.dwell: no process '77'; dwell report --by process lists them");
    expect_suggested("tree example.dwell --process shp", 2,
                     "example.dwell: no process 'shp'; did you mean 'shop'? dwell report --by process lists them");
    expect_suggested("report marked.dwell --from mark:laod", 2,
                     "marked.dwell: --from: no mark 'laod'; did you mean 'load'? dwell marks lists them");
    expect_suggested("replay marked.dwell --to mark:loda", 2,
                     "marked.dwell: --to: no mark 'loda'; did you mean 'load'? dwell marks lists them");
}

/* Every command's help ends with examples, and fits a terminal. */
Test(golden_suggestions, help_with_examples)
{
    char *commands = run_well("$DWELL --help | sed -n 's/^  \\([a-z]*\\)  *[a-z].*/\\1/p' | grep -v '^cc$\\|^dwell$'");
    int count = 0;
    for (char *rest = commands, *name; (name = strtok_r(rest, "\n", &rest)); count++) {
        char wanted[64];
        char *help = run_well("$DWELL %s --help", name);
        snprintf(wanted, sizeof wanted, "\nExamples:\n  dwell %s", name);
        cr_assert(has(help, wanted), "%s: %s", name, help);
        cr_assert(eq(chr, help[strlen(help) - 1], '\n'), "%s", name);
        for (const char *line = help; *line; line = strchr(line, '\n') + 1)
            cr_assert(lt(sz, strcspn(line, "\n"), 80), "%s: %s", name, line);
        free(help);
    }
    cr_assert(ge(int, count, 20));
    free(commands);
    need_features("events fleet mcp perflog vsperf");
    cr_assert(eq(int, count, 31));
}
