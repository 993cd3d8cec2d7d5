/* dwell top follows a running program, on a terminal of tmux. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_top, .timeout = 300, .init = without_os_calls);

/* Commands for the scripts:
 * run N          the program calls run once, and leaf N times
 * watch W H ...  runs `dwell top ...` on a terminal of that size, and prints its status when it ends
 * screen         prints the screen;  keys ...  types keys
 * sees TEXT, sees_not TEXT: wait until some line, or no line, contains the text; the script fails if they wait too long
 * left           waits until dwell top has ended, and prints its status */
static const char helpers[] =
    "export LC_ALL=C.UTF-8\n"
    "tm() { tmux -u -S \"$PWD/tmux.$$.$watched\" -f /dev/null \"$@\" 3>&- 4<&-; }\n"
    "run() { echo \"run $1\" >&3; read answer <&4; }\n"
    "watch() { width=$1 height=$2 watched=$((watched + 1)); shift 2; tm new-session -d -x $width -y $height \"stty -g >stty; $DWELL top -i 50ms $*; "
    "  status=\\$?; stty -g >stty.after; echo left \\$status; sleep 100\"; tm set -g remain-on-exit on; }\n"
    "screen() { tm capture-pane -p; }\n"
    "keys() { tm send-keys \"$@\"; }\n"
    "fails() { echo \"waited for: $1\"; screen; tm kill-server; exec 3>&-; exit 1; }\n"
    "sees() { for i in $(seq 600); do screen | grep -q -e \"$1\" && return; sleep 0.02; done; fails \"$1\"; }\n"
    "sees_not() { for i in $(seq 600); do screen | grep -q -e \"$1\" || return 0; sleep 0.02; done; fails \"no $1\"; }\n"
    "left() { sees '^left '; screen | grep '^left'; cmp stty stty.after && [ $(tm display -p '#{alternate_on}') = 0 ] && "
    "  [ $(tm display -p '#{cursor_flag}') = 1 ] && echo restored; tm kill-server; }\n";

static char *watch_with(const char *record, const char *script)
{
    return run_well("%s mkfifo in out; %s $PROGRAMS/control/served < in > out 2> program.err & recorder=$!\n"
                    "exec 3> in 4< out; read pid <&4\n"
                    "%s\nexec 3>&-; wait $recorder; rm in out",
                    helpers, record, script);
}

static char *top_watch(const char *script)
{
    return watch_with("$DWELL record -q", script);
}

static void top_expect(const char *script, const char *wanted)
{
    char *out = top_watch(script);
    cr_assert(eq(str, out, (char *)wanted));
    free(out);
}

/* Calls only, because their numbers are known. */
#define CALLS "--columns calls --sort calls "

Test(e2e_top, follows_a_program)
{
    static const char *const modes[] = { "trace", "ring", "profile" };
    for (int i = 0; i < 3; i++) {
        char record[64];
        snprintf(record, sizeof record, "$DWELL record -q --mode %s", modes[i]);
        char *out = watch_with(
            record,
            "run 10; watch 60 10 " CALLS "$pid\n"
            "sees ' 10 .*leaf'; sees '  1 .*run'; sees '^served ([0-9]*): running for [0-9.]* s'\n"
            "run 5; sees ' 15 .*leaf'; sees '  2 .*run'; sees '^18 calls, [0-9]* a second, 1 thread, 1 process$'\n"
            "run 100000; sees '100015 .*leaf'\n"
            "screen | tail -n +3 | head -4 | sed 's/ *$//'; keys q; left");
        cr_assert(eq(str, out,
                     " CALLS MODULE SOURCE      FUNCTION\n"
                     "100015 served served.c:12 leaf\n"
                     "     3 served served.c:17 run\n"
                     "     1 served served.c:23 main\n"
                     "left 0\nrestored\n"),
                  "%s", modes[i]);
        free(out);
    }
}

Test(e2e_top, sorts)
{
    top_expect(
        "run 10; watch 80 10 --columns calls,min,elapsed_exclusive -s calls $pid; sees 'functions by calls$'\n"
        "keys '>'; sees 'functions by min$'; keys '>'; sees 'by elapsed_exclusive$'; keys '>'; sees 'by calls$'\n"
        "keys '<'; sees 'by elapsed_exclusive$'; sees 'main'; screen | sed -n 4p | grep -o ' main'\n"
        "keys s; sees '^sort by:'; keys name Enter; sees 'by name$'; screen | sed -n 4,6p | sed 's/ *$//' | grep -o '[a-z]*$'\n"
        "keys s; keys cals Enter; sees \"^no column 'cals'; did you mean 'calls'?$\"; keys s; keys Escape; sees 'by name$'; keys q; left",
        " main\nleaf\nmain\nrun\nleft 0\nrestored\n");
}

Test(e2e_top, filters)
{
    top_expect(
        "run 10; watch 80 10 " CALLS "$pid; sees ' leaf'\n"
        "keys /; sees '^filter:'; keys ea Enter; sees_not ' main'; sees 'by calls, name~\\*ea\\*$'; screen | sed -n '4,5s/ *$//p'\n"
        "keys / C-u 'calls<2' Enter; sees_not ' leaf'; sees ' main'; sees ' run'; sees 'by calls, calls<2$'\n"
        "keys / C-u 'cals<2' Enter; sees \"^no column 'cals' here; did you mean 'calls'? \"; sees ' main'\n"
        "keys / C-u 'calls~2' Enter; sees \"^'calls' is a number: use =, !=, <, <=, > or >=$\"\n"
        "keys / BSpace BSpace BSpace BSpace BSpace BSpace BSpace Enter; sees ' leaf'; sees 'by calls$'; keys q; left",
        "   10 served served.c:12 leaf\n\nleft 0\nrestored\n");
}

Test(e2e_top, pauses)
{
    top_expect(
        "run 10; watch 80 10 " CALLS "$pid; sees ' 10 .*leaf'\n"
        "keys p; sees 's, PAUSED$'; run 10; sleep 0.3; screen | grep -c ' 10 .*leaf'; keys s; keys name Enter; sees 'by name$'\n"
        "screen | grep -c ' 10 .*leaf'; keys p; sees ' 20 .*leaf'; sees_not PAUSED; keys q; left",
        "1\n1\nleft 0\nrestored\n");
}

Test(e2e_top, callers_and_callees)
{
    top_expect(
        "run 10; watch 80 12 " CALLS "$pid; sees ' 10 .*leaf'\n"
        "keys Enter; sees 'Esc back'; screen | sed -n '3,6s/ *$//p'; run 10; sees ' 20 .*function .*leaf'\n"
        "keys Up Enter; sees 'caller .*main'; screen | sed -n '4,6s/^ *[0-9.]* *\\(.*[a-z]\\) *$/\\1/p'; keys Escape; sees ' function .*leaf'; keys Escape; sees 'by calls'\n"
        "keys End Enter; sees 'caller .*(start of thread)'; sees 'function .*main'; sees 'callee .*run'; keys Down Enter; sees 'function .*run'\n"
        "keys q; left",
        "SHARE % CALLS          MODULE FUNCTION\n"
        " 100.00    10 caller   served run\n"
        " 100.00    10 function served leaf\n\n"
        "2 caller   served main\n"
        "2 function served run\n"
        "20 callee   served leaf\n"
        "left 0\nrestored\n");
}

Test(e2e_top, other_views_and_help)
{
    top_expect(
        "run 10; watch 80 14 --columns calls $pid; sees ' 10 .*leaf'\n"
        "keys t; sees 'threads by'; sees '^ *TID CALLS THREAD PROCESS'; sees '12 served'; keys Enter; sees '^callers are of functions: f shows them'\n"
        "keys m; sees 'modules by'; sees '^CALLS MODULE PATH'; keys r; sees 'processes by'; sees 'CALLS PROCESS'; keys f; sees 'functions by'\n"
        "keys i; sees 'running for [0-9.]* s, since the last refresh$'; sees ' 0 .*leaf'; keys i; sees ' 10 .*leaf'\n"
        "keys +; sees '^every 0.1 s'; keys h; sees '^any key: back'; sees '^p  pause    q  quit'; keys x; sees ' leaf'; keys q; left",
        "left 0\nrestored\n");
}

/* These keys select a row, whose callers Enter shows. */
Test(e2e_top, pages_of_rows)
{
    top_expect("run 10; watch 80 14 " CALLS "$pid; sees ' 10 .*leaf'\n"
               "keys NPage Enter; sees 'function .*run$'; keys Escape; sees 'by calls'\n"
               "keys PPage Enter; sees 'function .*leaf$'; keys Escape; sees 'by calls'\n"
               "keys Down Down Home C-l Enter; sees 'function .*leaf$'; keys q; left",
               "left 0\nrestored\n");
}

/* Whether there is room for the modules depends on the figures. */
Test(e2e_top, small_terminals)
{
    top_expect(
        "run 10; watch 40 10 $pid; sees 'CALLS/S'; screen | awk 'length > 40'; screen | sed -n 3p | grep -o FUNCTION\n"
        "keys s; keys calls Enter; sees 'NOW % *CALLS'; screen | sed -n 3p | grep -o CALLS.*FUNCTION | tr -s ' ' | sed 's/ MODULE//'\n"
        "for size in '20 5' '9 4' '5 3' '3 2' '1 1' '120 30' '40 10'; do tm resize-window -x ${size%% *} -y ${size#* }; keys Down; sleep 0.15; "
        "keys Enter; keys h; keys Escape; keys Escape; done\n"
        "sees ' leaf'; sees 'by calls'; keys q; left",
        "FUNCTION\nCALLS/S NOW % CALLS FUNCTION\nleft 0\nrestored\n");
}

Test(e2e_top, the_program_ends)
{
    top_expect(
        "run 10; watch 80 10 " CALLS "$pid; sees ' 10 .*leaf'; echo run 5 >&3; read answer <&4; kill -9 $pid\n"
        "sees '^served ([0-9]*): ended (killed by signal 9, Killed)$'; sees ' 15 .*leaf'; sleep 0.2; sees ' 15 .*leaf'; keys q; left",
        "left 0\nrestored\n");
    char *out = watch_with("DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME",
                           "run 10; watch 80 10 " CALLS "; sees ' 10 .*leaf'; run 5; sees ' 15 .*leaf'; kill -9 $pid\n"
                           "sees '^served ([0-9]*): ended$'; sees ' 15 .*leaf'; keys q; left");
    cr_assert(eq(str, out, "left 0\nrestored\n"));
    free(out);
    out =
        top_watch("watch 80 10 " CALLS "$pid; sees ' main'; exec 3>&-; sees ': ended (exit status 0)$'; keys q; left");
    cr_assert(eq(str, out, "left 0\nrestored\n"));
    free(out);
}

Test(e2e_top, signals_restore_the_terminal)
{
    top_expect("watch 80 10 $pid; sees ' main'; keys C-c; left", "left 0\nrestored\n");
    top_expect("watch 80 10 $pid; sees ' main'; keys /; sees '^filter'; keys C-c; left", "left 0\nrestored\n");
    top_expect("watch 80 10 $pid; sees ' main'; pkill -TERM -f -x \"$DWELL top -i 50ms $pid\"; left",
               "left 143\nrestored\n");
}

Test(e2e_top, finds_the_session)
{
    top_expect("run 10; mv dwell.data away; watch 80 10 " CALLS "$pid; sees ' 10 .*leaf'; keys q; left; rm away\n"
               "run 10; watch 80 10 " CALLS "$pid; sees ' 20 .*leaf'; keys q; left",
               "left 0\nrestored\nleft 0\nrestored\n");
    char *out = watch_with("DWELL_HELPER=off DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME",
                           "run 10; watch 80 10 " CALLS "$pid; sees ' 10 .*leaf'; keys q; left");
    cr_assert(eq(str, out, "left 0\nrestored\n"));
    free(out);
}

Test(e2e_top, plain_tables)
{
    top_expect(
        "run 10; $DWELL top --once -i 20ms " CALLS
        "$pid | sed -n '1s/ ([0-9]*): running for [0-9.]* s,/:/p; 1,/^$/d; s/ *$//p'\n"
        "$DWELL top --count 80 -i 50ms --columns calls,recent_calls --format csv --filter name=leaf $pid >tables & "
        "until grep -q leaf tables; do sleep 0.02; done; run 7; wait $!\n"
        "awk -F, '$1 == \"leaf\" { n += $6 ; last = $5 } END { print NR, last, n }' tables\n"
        "mkdir -p config/dwell; echo 'top.columns = calls' > config/dwell/config\n"
        "XDG_CONFIG_HOME=$PWD/config $DWELL top --once -i 20ms -s name $pid | sed -n '1,/^$/d; p; q'",
        "served: 12 calls, 0 a second, 1 thread, 1 process\n"
        "CALLS MODULE SOURCE      FUNCTION\n   10 served served.c:12 leaf\n    1 served served.c:23 main\n"
        "    1 served served.c:17 run\n"
        "160 17 7\nCALLS MODULE SOURCE      FUNCTION\n");
}

/* Its current wait has not ended, so no event shows it. It still does not count as work. Before it, the program may
 * have been preempted for long. */
Test(e2e_top, waits_that_go_on)
{
    static const char *const modes[] = { "trace", "ring", "profile" };
    for (int i = 0; i < 3; i++) {
        char record[64];
        snprintf(record, sizeof record, "$DWELL record -q --os-events perf --mode %s", modes[i]);
        char *out = watch_with(
            record,
            "run 10; until grep -q ') S ' /proc/$pid/stat; do sleep 0.02; done; sleep 0.5\n"
            "$DWELL top --once -i 20ms --columns elapsed_exclusive,blocked_exclusive,preempted_exclusive --format csv "
            "--filter name=main $pid | tr -d '\\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } "
            "END { blocked = $at[\"blocked_exclusive_ns\"]; print $1, (blocked > 4.5e8), "
            "(blocked + $at[\"preempted_exclusive_ns\"] > 0.9 * $at[\"elapsed_exclusive_ns\"]) }'");
        cr_assert(eq(str, out, "main 1 1\n"), "%s: %s", modes[i], out);
        free(out);
    }
}

static void top_check_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL top %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s", arguments);
    cr_assert(eq(str, r.out, ""), "%s", arguments);
    cr_assert(eq(str, r.err, (char *)message), "%s", arguments);
    ran_drop(&r);
}

Test(e2e_top, mistakes)
{
    top_check_error("", "dwell: top: standard output is not a terminal; print tables with --once or --count N\n");
    top_check_error("--once",
                    "dwell: dwell.data: No such file or directory; record a program first: dwell record ./prog\n");
    top_check_error("--once 4194303", "dwell: no process 4194303\n");
    top_check_error("--once 1", "dwell: process 1 is not being recorded, or belongs to another user\n");
    top_check_error("--once .", "dwell: .: is a directory\n");
    top_check_error("--once a b", "dwell: one session at a time: 'b' is a second one\n");
    top_check_error("--interval x", "dwell: --interval: 'x' is not a time such as 500ns, 10us, 2.5ms or 1s\n");
    top_check_error("--interval 1ms", "dwell: --interval: must be from 10ms to a day\n");
    top_check_error("--count 0", "dwell: --count: must be at least 1\n");
    top_check_error("--by line", "dwell: --by: 'line' is none of function, module, thread, process\n");
    top_check_error("--by tread",
                    "dwell: --by: 'tread' is none of function, module, thread, process; did you mean 'thread'?\n");
    top_check_error(
        "--sort calls_per_sec",
        "dwell: --sort: no column 'calls_per_sec'; did you mean 'calls_per_second'? --columns help lists them\n");
    top_check_error("--once --columns elapsed_exclusive_p99",
                    "dwell: --columns: only dwell report has columns of single calls\n");
}
