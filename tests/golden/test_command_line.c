/* The command line itself: help, the man page's synopsis, and options that mean the same in every command. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/example.h"
#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

static void command_line_save_session(void)
{
    struct writer *w = example_session(SOURCE_PERF);
    writer_save(w, test_path("example.dwell"));
    writer_free(w);
}

TestSuite(golden_command_line, .init = command_line_save_session, .timeout = 300);

static void command_line_expect_same(const char *one, const char *other)
{
    char *a = run_well("$DWELL %s", one), *b = run_well("$DWELL %s", other);
    cr_assert(eq(str, a, b), "%s", one);
    free(a);
    free(b);
}

static void command_line_expect_refusal(const char *arguments, int status, const char *line)
{
    struct ran r = run("$DWELL %s", arguments);
    char *wanted = run_well("printf 'dwell: %%s' \"%s\"", line);
    cr_assert(eq(int, r.status, status), "%s: %s", arguments, r.err);
    cr_assert(eq(str, r.out, ""), "%s", arguments);
    r.err[r.err[0] ? strlen(r.err) - 1 : 0] = '\0'; /* the end of the line */
    cr_assert(eq(str, r.err, wanted), "%s", arguments);
    free(wanted);
    ran_drop(&r);
}

Test(golden_command_line, the_synopsis_has_all_options)
{
    need_features("events fleet perflog vsperf");
    free(run_well("python3 -B " DWELL_CONSUMERS "/man_page.py $DWELL " DWELL_CONSUMERS "/../../docs/man/dwell.1.scd"));
}

Test(golden_command_line, help)
{
    command_line_expect_same("--help", "help");
    command_line_expect_same("-h", "help");
    command_line_expect_same("help report", "report --help");
    command_line_expect_same("report -h", "report --help");
    command_line_expect_same("help record", "record -h");
    command_line_expect_refusal("help reprot", 2,
                                "no command 'reprot'; did you mean 'report'? dwell --help lists them");
    char *help = run_well("$DWELL --help");
    cr_assert(has(help, "\n'dwell version' says which version this is.\n"), "%s", help);
    for (const char *line = help; *line; line = strchr(line, '\n') + 1)
        cr_assert(le(sz, strcspn(line, "\n"), 80), "%s", line);
    free(help);
}

/* --help of a command with many options has about ten, and says where the others are. */
Test(golden_command_line, help_of_daily_use)
{
    char *daily = run_well("$DWELL record --help"), *all = run_well("$DWELL record --help-all");
    char *options = run_well("$DWELL record --help | grep -c '^  \\(-., \\|    \\)--[a-z]'");
    cr_assert(eq(str, options, "12\n")); /* with --help and --help-all */
    cr_assert(has(daily, "\n'dwell record --help-all' lists 42 more options.\n"), "%s", daily);
    cr_assert(has(daily, "  --mode=MODE"));
    cr_assert(not(has(daily, "--spool-limit")));
    cr_assert(not(has(daily, "--callers-of")));
    cr_assert(has(all, "--spool-limit=SIZE"));
    cr_assert(has(all, "Filters, which may"));
    cr_assert(not(has(all, "more options")));
    free(daily);
    free(all);
    free(options);
    /* Each option of the short help exists, and all are in the other one. */
    char *wrong = run_well("for c in $($DWELL --print-commands | cut -f1); do all=--help; "
                           "$DWELL $c --print-options | grep -q '^--help-all' && all=--help-all; "
                           "$DWELL $c $all >all; $DWELL $c --print-options | cut -f1 >options; "
                           "while read -r o; do grep -q -e \"$o\\b\" all || echo $c $o; done <options; done");
    cr_assert(eq(str, wrong, ""));
    free(wrong);
}

Test(golden_command_line, colors)
{
    char *never = run_well("$DWELL report example.dwell --color never"),
         *always = run_well("NO_COLOR=1 TERM=dumb $DWELL report example.dwell --color always"),
         *automatic = run_well("$DWELL report example.dwell --color=auto"),
         *plain = run_well("$DWELL report example.dwell --color always | sed 's/\033\\[[0-9;]*m//g'");
    cr_assert(has(always, "\033["), "%s", always);
    cr_assert(eq(str, never, automatic));
    cr_assert(eq(str, never, plain));
    free(never);
    free(always);
    free(automatic);
    free(plain);
    char *seen = run_well("DWELL_PAGER= TERM=xterm script -qec \"$DWELL report example.dwell --color never\" /dev/null "
                          "</dev/null | grep -c '\033' || true");
    cr_assert(eq(str, seen, "0\n"), "%s", seen);
    free(seen);
    command_line_expect_refusal("report --color yes example.dwell", 2, "--color: 'yes' is none of auto, always, never");
}

/* As in git, options of the program may stand before the command. The config file does not change them. */
Test(golden_command_line, options_before_the_command)
{
    char *same = run_well("export NO_COLOR=1 XDG_CONFIG_HOME=$PWD/colored; mkdir -p colored/dwell\n"
                          "$DWELL report example.dwell --color always >after\n"
                          "$DWELL --color always report example.dwell | cmp - after\n"
                          "$DWELL --no-pager --color=always report example.dwell | cmp - after\n"
                          "echo 'report.color = never' >colored/dwell/config\n"
                          "$DWELL --color always report example.dwell | cmp - after\n"
                          "$DWELL report example.dwell | cmp -s - after || echo from the file\n"
                          "$DWELL --color never report --color always example.dwell | cmp - after\n"
                          "$DWELL --no-pager --version | cut -d' ' -f1; $DWELL --no-pager help >/dev/null");
    cr_assert(eq(str, same, (char *)"from the file\ndwell\n"), "%s", same);
    free(same);
    command_line_expect_refusal("--color yes report example.dwell", 2, "--color: 'yes' is none of auto, always, never");
    command_line_expect_refusal("--summary report example.dwell", 2,
                                "--summary: options come after the command, as in dwell COMMAND --summary; dwell "
                                "--help lists the commands");
    command_line_expect_refusal("--color", 2,
                                "--color: options come after the command, as in dwell COMMAND --color; dwell --help "
                                "lists the commands");
}

static void command_line_expect_paged(const char *arguments, bool paged)
{
    char *out = run_well("DWELL_PAGER='sed s/^/paged:/' script -qec \"$DWELL %s\" /dev/null </dev/null", arguments);
    const bool is_paged = strstr(out, "paged:");
    cr_assert(eq(int, is_paged, paged), "%s: %s", arguments, out);
    free(out);
}

Test(golden_command_line, the_pager)
{
    command_line_expect_paged("tree example.dwell", true);
    command_line_expect_paged("tree example.dwell --no-pager", false);
    command_line_expect_paged("--no-pager tree example.dwell", false);
    command_line_expect_paged("tree --help", true);
    command_line_expect_paged("tree --no-pager --help", false);
    command_line_expect_paged("tree --columns help", true);
    command_line_expect_paged("critical --columns help", true);
    command_line_expect_paged("diff example.dwell -- example.dwell", true);
    command_line_expect_paged("diff example.dwell -- example.dwell --no-pager", false);
    command_line_expect_paged("export --list", false);
    free(run_well("mkdir -p config/dwell; echo 'tree.no-pager = yes' >config/dwell/config"));
    struct ran r = run("export XDG_CONFIG_HOME=$PWD/config DWELL_PAGER='sed s/^/paged:/'\n"
                       "script -qec \"$DWELL tree example.dwell\" /dev/null </dev/null | grep -c paged:");
    cr_assert(eq(str, r.out, "0\n"));
    ran_drop(&r);
}

Test(golden_command_line, options_by_other_names)
{
    need_features("events");
    command_line_expect_refusal(
        "histogram --of calls x", 2,
        "histogram: no option '--of'; did you mean '--value'? dwell histogram --help lists them");
    command_line_expect_refusal("export collapsed --time calls", 2,
                                "export: no option '--time'; did you mean '--value'? dwell export --help lists them");
    command_line_expect_refusal(
        "tree --by-thread", 2,
        "tree: no option '--by-thread'; did you mean '--by thread'? dwell tree --help lists them");
    command_line_expect_refusal(
        "tree --percent-limit 5", 2,
        "tree: no option '--percent-limit'; did you mean '--min'? dwell tree --help lists them");
    command_line_expect_refusal("record --min-time 5us true", 125,
                                "record: no option '--min-time'; did you mean '--min'? dwell record --help lists them");
    command_line_expect_refusal("record --filter x true", 125,
                                "record: no option '--filter'; did you mean '--only'? dwell record --help lists them");
    command_line_expect_refusal(
        "record --filters x true", 125,
        "record: no option '--filters'; did you mean '--filter-file'? dwell record --help lists them");
    command_line_expect_refusal(
        "events --resolution 1", 2,
        "events: no option '--resolution'; did you mean '--timer-period'? dwell events --help lists them");
    command_line_expect_refusal("control --session x pause", 2,
                                "control: no option '--session'; dwell control --help lists them");
}

Test(golden_command_line, words_that_do_not_fit)
{
    command_line_expect_refusal("report -x", 2, "report: no option '-x'; dwell report --help lists them");
    command_line_expect_refusal("report --sort", 2, "report: --sort needs an argument: COLUMN");
    command_line_expect_refusal("report -n", 2, "report: -n needs an argument: N");
    command_line_expect_refusal("report --hot=1", 2, "report: --hot takes no argument");
    command_line_expect_refusal("report --fo", 2, "report: --format needs an argument: FORMAT");
    command_line_expect_refusal("report --f=x", 2, "report: '--f' may be --from or --filter; type more of it");
    command_line_expect_refusal("control 1 pause -o x", 2, "--output: only with dump");
    command_line_expect_refusal("control 1 histogram f", 2,
                                "control: a path's durations are counted from its first call on, or not at all: begin "
                                "with dwell record --histogram PATTERN");
    command_line_expect_refusal("export callgrind --min 5% example.dwell", 2,
                                "--min: format callgrind has no use for it; leave it out");
    command_line_expect_refusal("export callgrind --aggregate example.dwell", 2,
                                "--aggregate: format callgrind has no use for it; leave it out");
}

/* For the completions of shells: functions that begin so, each once, and silence where nothing can be read. */
Test(golden_command_line, functions_to_complete)
{
    char *all = run_well("$DWELL complete functions example.dwell"),
         *some = run_well("$DWELL complete functions example.dwell pr"),
         *none = run_well("$DWELL complete functions none.data 2>&1; $DWELL complete functions . x 2>&1");
    cr_assert(eq(str, all, "[unknown]+0x7f0000dead00\naudit\nhandle\nmain\nprice_of\nshop::round_up\n"));
    cr_assert(eq(str, some, "price_of\n"));
    cr_assert(eq(str, none, ""));
    free(all);
    free(some);
    free(none);
}

/* Without what views leave out: an ABI tag has brackets, which a shell escapes. */
Test(golden_command_line, functions_to_complete_are_as_displayed)
{
    struct writer *w = writer_new();
    write_process(w, 1, 1, "/no/prog");
    write_thread(w, 1, 1, 1, SOURCE_PERF, "main");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/prog");
    write_symbol_module(w, 1, "/no/prog");
    write_symbol(w, 1, 0, 0, 0x1000, "_Z11count_wordsB5cxx11Ri");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_exit(w, 20);
    writer_save(w, test_path("tagged.dwell"));
    writer_free(w);
    char *names = run_well("$DWELL complete functions tagged.dwell count");
    char *row = run_well("$DWELL report -s name --format csv --columns calls tagged.dwell | tail -1");
    char *found =
        run_well("$DWELL callers --format csv --columns calls $($DWELL complete functions tagged.dwell) tagged.dwell");
    cr_assert(eq(str, names, "count_words\n"));
    cr_assert(has(found, "count_words"), "%s", found);
    cr_assert(has(row, "count_words"), "%s", row);
    free(names);
    free(row);
    free(found);
}

Test(golden_command_line, a_number_fits_its_member)
{
    command_line_expect_refusal("tree --depth 4294967297 example.dwell", 2, "--depth: '4294967297' is not a number");
    command_line_expect_refusal("replay --last 0 example.dwell", 2, "--last: must be 1 or more");
    command_line_expect_refusal("whatif --cpus 4097 example.dwell", 2, "--cpus: '4097' is not from 1 to 4096");
    command_line_expect_refusal("record --runs 10001 true", 125, "--runs: '10001' is not a number from 1 to 10000");
    command_line_expect_refusal("record --min-duration x true", 125,
                                "--min-duration: 'x' is not a time such as 500ns, 10us, 2.5ms or 1s");
    command_line_expect_refusal("report --min 30% example.dwell", 2,
                                "--min-duration: '30%' is a share, and this is a time such as 10us, the shortest calls "
                                "that are shown; for rows with a share, see --filter 'elapsed_inclusive_percent>30'");
}

Test(golden_command_line, an_amount_is_a_percentage_or_a_time)
{
    need_features("perflog");
    command_line_expect_same("tree example.dwell --min 0", "tree example.dwell --min 0%");
    command_line_expect_same("tree example.dwell --min 0", "tree example.dwell --min 0ns");
    command_line_expect_same("export perflog --aggregate --min 0 example.dwell",
                             "export perflog --aggregate example.dwell");
    char *all = run_well("$DWELL tree example.dwell --min 0 --format csv"),
         *some = run_well("$DWELL tree example.dwell --min 20us --format csv");
    cr_assert(lt(sz, strlen(some), strlen(all)));
    free(all);
    free(some);
    command_line_expect_same("replay example.dwell --min 0%", "replay example.dwell");
    command_line_expect_refusal("tree --min 5", 2,
                                "--min: '5' has no unit; give a percentage such as 5% or a time such as 2ms");
    command_line_expect_refusal("replay --min 5", 2,
                                "--min: '5' has no unit; give a percentage such as 5% or a time such as 2ms");
    command_line_expect_refusal("diff --min x a b", 2,
                                "--min: 'x' is neither a percentage such as 5% nor a time such as 2ms");
    command_line_expect_refusal("tree --collapse=101%", 2,
                                "--collapse: '101%' is neither a percentage such as 5% nor a time such as 2ms");
    command_line_expect_refusal("record --min 5% true", 125,
                                "--min: '5%': no whole is known while recording; give a time such as 10us");
}

Test(golden_command_line, a_filter_is_a_condition)
{
    need_features("perflog");
    command_line_expect_same("report example.dwell --filter 'pr*'", "report example.dwell --filter 'name~pr*'");
    command_line_expect_same("export perflog --aggregate --filter 'pr*' example.dwell",
                             "export perflog --aggregate --filter 'function~pr*' example.dwell");
    char *out =
        run_well("$DWELL export perflog --aggregate --filter 'calls>1000000' example.dwell | grep -c MARK || true");
    cr_assert(eq(str, out, "0\n"), "%s", out);
    free(out);
}

Test(golden_command_line, a_process_is_a_pid_or_a_name)
{
    command_line_expect_same("replay example.dwell --process shop", "replay example.dwell --process 1000");
    command_line_expect_same("report example.dwell --process shop --format csv",
                             "report example.dwell --process 1000 --format csv");
    command_line_expect_same("replay example.dwell --process 1000 --process 1001", "replay example.dwell");
}
