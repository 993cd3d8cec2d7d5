/* record --overhead: what is counted instead of timed, exact calls, and messages. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/run.h"
#include "symbols/short_code.h"

TestSuite(e2e_budget, .timeout = 600, .init = without_os_calls);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* Two threads make 24 million calls of some nanoseconds. Most of them are counted, and none is lost. */
Test(e2e_budget, calls_stay_exact)
{
    for (int i = 0; i < 3; i++) {
        char *out =
            run_well("$DWELL record -q --overhead 10%% --mode %s $PROGRAMS/levels/counted 2 3000000 0", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 4);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", modes[i]);
        cr_assert(lt(u64, report_session(r, "events"), 2 * 24375000), "%s", modes[i]);
        report_drop(r);
        r = report_of("--by thread");
        check_sums(r, "thread");
        report_drop(r);
        char *changes = run_well("$DWELL info | grep -c '^level *counted since .*: hot_leaf$'");
        cr_assert(gt(int, atoi(changes), 0), "%s", modes[i]);
        free(changes);
        free(out);
    }
}

/* Each decision says how many calls it was made after, and `dwell info` limits the functions that it lists. */
Test(e2e_budget, decisions_are_recorded)
{
    free(run_well("$DWELL record -q --overhead 10%% $PROGRAMS/levels/counted 2 3000000 0"));
    char *info = run_well("$DWELL info | grep -cE '^level +counted since .*, after [0-9]+ calls of .*: hot_leaf$'");
    cr_assert(eq(int, atoi(info), 1), "%s", info);
    free(info);
    info = run_well("$DWELL info --limit 1 | grep -c '^level'");
    cr_assert(eq(int, atoi(info), 2), "%s", info);
    free(info);
}

/* The allowance of a program: fewer calls than that are timed to the last one. The program waits after 50,000 calls, so
 * that the recorder sees how short they are. */
Test(e2e_budget, small_programs_are_timed)
{
    for (int i = 0; i < 3; i++) {
        char *out = run_well("$DWELL record -q --overhead 1%% --mode %s $PROGRAMS/levels/phases 4 24000 60", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 16);
        cr_assert(eq(u64, report_session(r, "events"), 2 * 4 * (24000 + 24000 + 24000 / 50 + 1)), "%s", modes[i]);
        report_drop(r);
        char *info = run_well("$DWELL info");
        cr_assert(not(has(info, "\nlevel ")), "%s", info);
        cr_assert(not(has(info, "\ncounted ")), "%s", info);
        free(info);
        free(out);
    }
}

/* Each phase has hot functions of its own. They are found and counted in each, so most calls of all phases are. */
Test(e2e_budget, each_phase_is_found)
{
    for (int i = 0; i < 3; i++) {
        char *out = run_well("$DWELL record -q --overhead 10%% --mode %s $PROGRAMS/levels/phases 20 3000000", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 80);
        cr_assert(lt(u64, report_session(r, "events"), 2 * 20 * 3000000), "%s", modes[i]);
        report_drop(r);
        char *info = run_well("$DWELL info | grep -c '^changes of code *[0-9]*, which took .* of CPU time$'");
        cr_assert(eq(int, atoi(info), 1));
        free(info);
        free(out);
    }
}

/* How often the recorder was asked to look: `look_asks` of page 0. */
static int budget_asks(const char *what)
{
    free(run_well("$DWELL record -q %s >out", what));
    char *asks = run_well("od -An -t u4 -j 280 -N 4 dwell.data");
    const int number = atoi(asks);
    free(asks);
    return number;
}

/* A program asks once when it begins, and the recorder itself when it has ended. A thread that fills a chunk within
 * some milliseconds does, too: at 1000 %, fib fills eighty. */
Test(e2e_budget, threads_ask_for_looks)
{
    cr_assert(eq(int, budget_asks("--overhead none $SAMPLES/fib 20"), 0));
    cr_assert(eq(int, budget_asks("--overhead 10% $SAMPLES/sleeper 2 50 3"), 2));
    cr_assert(gt(int, budget_asks("--overhead 1000% $SAMPLES/fib 30"), 2));
}

#if defined(__x86_64__)

/* Of each phase, the function without a loop and a call, and no other, however the compiler calls the probes. */
static void check_short_functions(const char *program)
{
    char *symbols = run_well("nm $PROGRAMS/levels/%s | grep ' [tT] leaf_' | sort", program), *rest = symbols;
    struct ran file = run("echo $PROGRAMS/levels/%s", program);
    file.out[strcspn(file.out, "\n")] = '\0';
    struct short_code found = short_code_find(file.out, NULL);
    cr_assert(eq(sz, found.count, 20), "%s", program);
    for (size_t i = 0; i < found.count; i++) {
        cr_assert(eq(u64, found.functions[i], strtoull(rest, NULL, 16)), "%s", program);
        rest = strchr(rest, '\n') + 1;
    }
    free(found.functions);
    ran_drop(&file);
    free(symbols);
}

Test(e2e_budget, short_functions_are_known_by_their_code)
{
    static const char *const compilers[] = { "gcc", "clang" };
    static const char *const variants[] = { "pie", "no-pie", "no-plt", "lazy", "endbr", "O0", "Os", "O3" };
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        for (size_t j = 0; j < sizeof variants / sizeof *variants; j++) {
            char *program = need_text("phases-%s-%s", compilers[i], variants[j]);
            check_short_functions(program);
            free(program);
        }
}

#endif

/* A file without code of the kind has no short functions. */
Test(e2e_budget, no_short_functions_in_other_files)
{
    const uint32_t stop = 1;
    struct ran file = run("echo $PROGRAMS/levels/phases");
    file.out[strcspn(file.out, "\n")] = '\0';
    cr_assert(eq(sz, short_code_find(file.out, &stop).count, 0), "it was told to stop");
    cr_assert(eq(sz, short_code_find("/proc/self/exe", NULL).count, 0));
    cr_assert(eq(sz, short_code_find("/dev/null", NULL).count, 0));
    cr_assert(eq(sz, short_code_find("/no/such/file", NULL).count, 0));
    ran_drop(&file);
}

/* fib is always open. Its calls are counted below the open ones. */
Test(e2e_budget, recursion)
{
    char *out = run_well("$DWELL record -q --overhead 10%% $SAMPLES/fib 36");
    struct report *r = report_of("");
    check_counts(out, r, 2);
    cr_assert(lt(u64, report_sum(r, "function", "fib", "timed_calls"), report_sum(r, "function", "fib", "calls")));
    report_drop(r);
    free(out);
}

Test(e2e_budget, threads_and_processes)
{
    char *out = run_well("$DWELL record -q --overhead 5 $SAMPLES/threads 8 200000");
    struct report *r = report_of("");
    check_counts(out, r, 2);
    report_drop(r);
    free(out);
    out = run_well("$DWELL record -q --overhead 5 $SAMPLES/processes 3");
    r = report_of("");
    check_counts(out, r, 2);
    report_drop(r);
    free(out);
}

/* The number after `name` in a line of the program's output. */
static unsigned long budget_number(const char *out, const char *name)
{
    const char *at = strstr(out, name);
    cr_assert(at != NULL, "%s", out);
    return strtoul(at + strlen(name), NULL, 10);
}

/* Five processes follow the first one. */
static void check_again(const char *out, const char *what, unsigned long changed)
{
    struct report *r = report_of("");
    check_counts(out, r, 2);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", what);
    report_drop(r);
    cr_assert(eq(ulong, budget_number(out, "\nprocesses "), 6), "%s: %s", what, out);
    if (changed)
        cr_assert(eq(ulong, budget_number(out, "\nchanged "), changed), "%s: %s", what, out);
}

/* Processes that are executed or forked when their program has spent the allowance begin with the levels that the
 * session has by then. */
Test(e2e_budget, processes_begin_with_the_levels_of_the_session)
{
    static const char *const layouts[] = { "gcc-pie", "gcc-no-pie", "clang-pie", "clang-no-pie" };
    static const char *const hows[] = { "exec", "spawn", "fork" };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        for (size_t j = 0; j < sizeof hows / sizeof *hows; j++) {
            char *out =
                run_well("$DWELL record -q --overhead 10%% $PROGRAMS/levels/again-%s %s 5 20000", layouts[i], hows[j]);
            check_again(out, layouts[i], 5);
            free(out);
        }
    for (size_t i = 1; i < sizeof modes / sizeof *modes; i++)
        for (size_t j = 0; j < sizeof hows / sizeof *hows; j++) {
            char *out = run_well("$DWELL record -q --overhead 10%% --mode %s $PROGRAMS/levels/again-gcc-pie %s 5 20000",
                                 modes[i], hows[j]);
            check_again(out, modes[i], 5);
            free(out);
        }
    char *rows = run_well("$DWELL info | grep -c '^level .*: leaf$'");
    cr_assert(eq(int, atoi(rows), 1), "one row for all processes: %s", rows);
    free(rows);
}

/* Offsets in the file: `sites` of page 0; `used`, `next` and the bytes that are checked in the chunk. */
#define SITES_AT "$(od -An -t u8 -j 304 -N 8 dwell.data)"
static const char sites_functions[] = "word() { od -An -t u$2 -j $1 -N $2 dwell.data | tr -d ' '; }\n"
                                      "count() { n=0; for at in $(seq 1000); do "
                                      "at=${next:-$(word 304 8)}; test $at != 0 || break; "
                                      "test $(word $((at + 4)) 2) = 14 || exit 1; n=$((n + 1)); "
                                      "next=$(word $((at + 64)) 8); done; echo chunks $n; }\n";

/* Much code takes long to read: the first process reads it while the program runs. The others have the levels before
 * their first call, as they find the calls of the probes in the session. */
Test(e2e_budget, processes_of_large_programs)
{
    static const char *const programs[] = { "gcc-large", "clang-large", "static" };
    static const char *const hows[] = { "exec", "spawn" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t j = 0; j < sizeof hows / sizeof *hows; j++) {
            char *out = run_well("%s$DWELL record -q --overhead 10%% $PROGRAMS/levels/again-%s %s 5 20000; count",
                                 sites_functions, programs[i], hows[j]);
            check_again(out, programs[i], 5);
            cr_assert(eq(ulong, budget_number(out, "\nchunks "), 1), "%s: %s", programs[i], out);
            free(out);
        }
}

/* To change very many calls takes long, though they are known: the helper does it while the program runs. */
Test(e2e_budget, processes_of_programs_with_many_calls)
{
    static const char *const programs[] = { "gcc-many", "clang-many" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *out = run_well("%s$DWELL record -q --overhead 10%% $PROGRAMS/levels/again-%s spawn 3 20000; count",
                             sites_functions, programs[i]);
        struct report *r = report_of("");
        check_counts(out, r, 2);
        report_drop(r);
        cr_assert(eq(ulong, budget_number(out, "\nprocesses "), 4), "%s: %s", programs[i], out);
        cr_assert(eq(ulong, budget_number(out, "\nchanged "), 0), "%s: %s", programs[i], out);
        cr_assert(eq(ulong, budget_number(out, "\nchunks "), 1), "%s: %s", programs[i], out);
        free(out);
    }
}

/* Somebody has changed what the session has of the program's calls: processes read their code themselves. */
Test(e2e_budget, processes_with_damaged_sites)
{
    static const int places[] = { 4, 12, 72, 80, 88, 92, 100, 124, 130, 140 };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *out = run_well("$DWELL record -q --overhead 10%% $PROGRAMS/levels/again-gcc-large spawn 5 20000 "
                             "'test -e damaged || { touch damaged; printf \"\\125\" | dd status=none conv=notrunc bs=1 "
                             "of=dwell.data seek=$((" SITES_AT " + %d)); }'; rm damaged",
                             places[i]);
        check_again(out, "damaged", 0);
        free(out);
    }
}

/* A level by hand is that of one process: the next ones begin with those of the command line and of the session. */
Test(e2e_budget, processes_begin_after_changes_by_hand)
{
    static const char *const hows[] = { "exec", "spawn" };
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        char *out =
            run_well("$DWELL record -q --overhead 10%% --level counted=outer $PROGRAMS/levels/again-gcc-pie %s 5 "
                     "20000 \"$DWELL control \\$PID level timed=outer\"",
                     hows[i]);
        check_again(out, hows[i], 5);
        free(out);
    }
}

/* Without the recorder, the levels are the last ones that it has published. The next process may find it gone. */
Test(e2e_budget, processes_begin_after_the_recorder_was_killed)
{
    char *out = run_well("$DWELL record -q --overhead 10%% $PROGRAMS/levels/again-gcc-pie exec 5 20000 "
                         "'test \"$(cat /proc/$PARENT/comm)\" != dwell || kill -9 $PARENT || :' > out; test $? = 137; "
                         "for i in $(seq 1200); do grep -q end out && break; sleep 0.1; done; cat out");
    check_again(out, "killed", 5);
    free(out);
}

/* The levels of the libraries that a program needs are set before its first call as well. Programs may end before outer
 * becomes counted, too: it has a thousandth of the calls. */
Test(e2e_budget, processes_begin_with_the_levels_of_libraries)
{
    static const char sources[] = "static volatile unsigned long sum;\nvoid leaf(unsigned long by) { sum += by; }\n"
                                  "void outer(unsigned long n) { for (unsigned long i = 0; i < n; i++) leaf(i); }\n";
    static const char program[] = "#include <stdlib.h>\nvoid outer(unsigned long);\n"
                                  "int main(int count, char **words)\n{\n    (void)count;\n"
                                  "    for (long i = atol(words[1]); i > 0; i--)\n        outer(1000);\n}\n";
    free(run_well("cat >own.c <<'END'\n%sEND\ncat >main.c <<'END'\n%sEND\n"
                  "gcc -O2 -fno-inline -fPIC -shared -finstrument-functions -o libown.so own.c && "
                  "gcc -O2 -o main main.c -L. -lown -Wl,-rpath,$PWD && "
                  "$DWELL record -q --overhead 10%% sh -c 'for i in $(seq 100); do ./main 2000; "
                  "$DWELL report --by process --format csv --columns calls,timed_calls 2>/dev/null | tr -d \"\\r\" | "
                  "grep -q \"2000,2002000,0$\" && break; sleep 0.1; done; ./main 20; ./main 20'",
                  sources, program));
    char *late = run_well("$DWELL report --by process --format csv --columns calls,timed_calls | tr -d '\r' | "
                          "grep -c '\\./main 20,20020,0$'");
    cr_assert(eq(str, late, "2\n"));
    free(late);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls") % 1000, 0));
    cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 1000 * report_sum(r, "function", "outer", "calls")));
    report_drop(r);
}

/* The recorder is stopped or killed while functions become counted. The program goes on, and no call is lost. */
static void check_without_recorder(const char *mode, const char *after, const char *how)
{
    char *out = run_well("rm -f dwell.data* ended; { $DWELL record -q --overhead 10%% --mode %s sh -c '"
                         "$PROGRAMS/levels/phases 20 200000 60 & sleep %s; %s; wait $!; "
                         "kill -CONT $PPID 2>/dev/null; echo end'; echo status $?; } | cat",
                         mode, after, how);
    cr_assert(has(out, "end\n"), "%s %s %s: %s", mode, after, how, out);
    cr_assert(has(out, strstr(how, "-9") ? "status 137\n" : "status 0\n"), "%s %s %s: %s", mode, after, how, out);
    struct report *r = report_of("");
    check_counts(out, r, 80);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s %s %s", mode, after, how);
    report_drop(r);
    free(out);
}

Test(e2e_budget, recorders_that_are_stopped_or_killed)
{
    static const char *const times[] = { "0", "0.05", "0.2", "0.7" };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        check_without_recorder(modes[i % 3], times[i], "kill -STOP $PPID");
        check_without_recorder(modes[(i + 1) % 3], times[i], "kill -9 $PPID");
    }
}

/* The processes of a program share its allowance. */
Test(e2e_budget, short_processes_share_the_allowance)
{
    free(run_well(
        "$DWELL record -q --overhead 1%% sh -c 'for i in 1 2 3 4; do $PROGRAMS/levels/phases 1 24000; sleep 0.1; "
        "done'"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_session(r, "events"), 2 * 4 * (24000 + 24000 + 24000 / 50 + 1)));
    report_drop(r);
    char *runs =
        run_well("$DWELL record -q --overhead 10%% sh -c 'for i in $(seq 400); do $PROGRAMS/levels/phases 1 24000 "
                 ">/dev/null; if $DWELL info 2>/dev/null | grep -q \"^counted \"; then echo $i; exit; fi; "
                 "sleep 0.02; done'");
    const uint64_t count = strtoull(runs, NULL, 10);
    cr_assert(ne(u64, count, 0), "no call was counted");
    r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "leaf_1", "calls"), count * 24000));
    cr_assert(eq(u64, report_sum(r, "function", "loop_1", "calls"), count * 24000));
    cr_assert(eq(u64, report_sum(r, "function", "outer_1", "calls"), count * 480));
    report_drop(r);
    free(runs);
}

/* Sums of a session have its decisions. */
Test(e2e_budget, decisions_are_in_sums)
{
    free(run_well(
        "$DWELL record -q --overhead 10%% $PROGRAMS/levels/counted 2 3000000 0; $DWELL profile dwell.data -o sums.data"));
    char *recorded = run_well("$DWELL info | grep '^level '"),
         *kept = run_well("$DWELL info sums.data | grep '^level '");
    cr_assert(has(recorded, "calls of "), "%s", recorded);
    cr_assert(eq(str, kept, recorded));
    free(recorded);
    free(kept);
}

/* A large budget changes nothing. */
Test(e2e_budget, within_the_budget)
{
    free(run_well("$DWELL record -q --overhead 1000 $SAMPLES/sleeper"));
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "\nlevel ")), "%s", info);
    cr_assert(not(has(info, "\ncounted ")), "%s", info);
    free(info);
}

Test(e2e_budget, wrong_percentages)
{
    static const char *const wrong[] = { "0", "0.5", "-3", "ten", "10x", "1001", "10%%", "nan" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL record --overhead '%s' true", wrong[i]);
        cr_assert(eq(int, r.status, 125), "%s", wrong[i]);
        cr_assert(has(r.err, "is not a percentage from 1 to 1000"), "%s", r.err);
        ran_drop(&r);
    }
}

static unsigned long budget_rate(const char *options)
{
    free(run_well("env -u DWELL_SAMPLE $DWELL record -q %s $SAMPLES/threads 2 20000", options));
    char *rate = run_well("$DWELL info | sed -nE 's/^samples .* ([0-9]+) a second of CPU time.*/\\1/p'");
    const unsigned long number = strtoul(rate, NULL, 10);
    free(rate);
    return number;
}

/* The rate is half as high again until the program has used 0.4 s of CPU time: for threads that run then, those that
 * are made later, and children. With --sample it is one rate, and so without a higher one that fits. */
Test(e2e_budget, takes_more_samples_at_first)
{
    free(run_well("env -u DWELL_SAMPLE $DWELL record -q --overhead 3%% $PROGRAMS/rates dwell.data"));
    char *rates =
        run_well("$DWELL info | sed -nE 's/^samples .* ([0-9.]+), then ([0-9.]+) a second of CPU time.*/\\1 \\2/p'");
    double first, later;
    cr_assert(eq(int, sscanf(rates, "%lf %lf", &first, &later), 2), "%s", rates);
    cr_assert(lt(dbl, fabs(first / later - 1.5), 0.001), "%s", rates);
    free(rates);
    static const char *const others[] = { "3% --sample 500", "1000%" };
    for (int i = 0; i < 2; i++) {
        free(run_well("env -u DWELL_SAMPLE $DWELL record -q --overhead %s $SAMPLES/threads 2 20000", others[i]));
        char *info = run_well("$DWELL info");
        cr_assert(has(info, "\nsamples "), "%s", info);
        cr_assert(not(has(info, ", then ")), "%s", info);
        free(info);
    }
}

/* Half of the budget is for samples: at 1000 % ten thousand of 500 µs each fit, which is more than one costs. */
Test(e2e_budget, chooses_the_rate_of_samples)
{
    const unsigned long small = budget_rate("--overhead 1%"), usual = budget_rate("--overhead 10%");
    cr_assert(eq(ulong, budget_rate("--overhead 1000%"), 10000));
    cr_assert(gt(ulong, small, 0));
    cr_assert(lt(ulong, small, usual));
    cr_assert(eq(ulong, budget_rate("--overhead 10% --sample 123"), 123));
    cr_assert(eq(ulong, budget_rate("--overhead 10% --sample 0"), 0));
    cr_assert(eq(ulong, budget_rate("--overhead 10% --mode profile"), 0));
}
