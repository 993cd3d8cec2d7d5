/* Levels that change while the program runs: stacks and calls of all other functions stay exact. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_level_changes, .timeout = 600, .init = without_os_calls);

static const char *const modes[] = { "trace", "ring=1G", "profile" };

/* Each function whose level does not change is below the one that calls it, whatever lies between them. */
static void changes_check_paths(void)
{
    static const char *const parents[][2] = {
        { "fixed_run", "" },
        { "fixed_step", "fixed_run" },
        { "fixed_jump", "fixed_run" },
        { "fixed_catch", "fixed_run" },
    };
    char *paths = report_paths("");
    for (char *line = strtok(paths, "\n"); line; line = strtok(NULL, "\n")) {
        char *calls = strrchr(line, ' '), *leaf = line, *above = "";
        *calls = '\0';
        for (char *at = line; at; at = strchr(at, '/')) {
            at += *at == '/';
            char *end = strchr(at, '/');
            if (strncmp(at, "fixed_", 6) == 0 && end)
                above = at;
            leaf = at;
            if (!end)
                break;
            at = end;
        }
        for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
            if (strncmp(leaf, parents[i][0], strlen(parents[i][0])) == 0)
                cr_assert(eq(int, strncmp(above, parents[i][1], strlen(parents[i][1])), 0), "%s", line);
    }
    free(paths);
}

/* `kinds`: of trouble, as toggling.cc says. Frames may be left without an exit if `left`. */
static void changes_check(const char *program, const char *mode, const char *kinds, bool left)
{
    char *out =
        run_well("$DWELL record -q --mode %s %s 4 400 %s $PROGRAMS/loading/libloading-a.so", mode, program, kinds);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    check_counts(out, r, 7);
    report_drop(r);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
    changes_check_paths();
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "stay timed")), "%s: %s", program, info);
    cr_assert(has(info, "level           out     since"), "%s: %s", program, info);
    cr_assert(has(info, "level           timed   since"), "%s: %s", program, info);
    if (strcmp(mode, "profile") != 0 && !left) {
        const char *events = strstr(info, "\nevents ");
        unsigned long all, enters, exits, frames;
        cr_assert(eq(int,
                     sscanf(events, " events %lu (%lu enters, %lu exits, %lu frames", &all, &enters, &exits, &frames),
                     4),
                  "%s", info);
        cr_assert(eq(u64, enters, exits));
        cr_assert(eq(u64, frames, 0));
    }
    free(info);
    free(out);
}

static void changes_check_all(const char *kinds, bool left)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/toggling-*", 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++)
        changes_check(found.gl_pathv[i], modes[i % 3], kinds, left);
    globfree(&found);
}

Test(e2e_level_changes, with_threads)
{
    changes_check_all("-", false);
}

Test(e2e_level_changes, with_signals)
{
    changes_check_all("s", false);
}

Test(e2e_level_changes, with_longjmp_and_exceptions)
{
    changes_check_all("sje", true);
}

Test(e2e_level_changes, with_forks)
{
    changes_check_all("sf", false);
}

Test(e2e_level_changes, with_a_library_that_comes_and_goes)
{
    changes_check_all("sd", false);
}

Test(e2e_level_changes, with_all_of_them)
{
    changes_check_all("sjedf", true);
}

/* Calls of a function that are open when it becomes counted keep their times. Those below them are counted: the exits
 * of both are told apart, whatever form they have. */
static void changes_check_nested(const char *program, const char *kinds)
{
    static const char *const functions[] = { "deep", "last", "wide", "plain" };
    char *out = run_well("$DWELL record -q --sample 0 %s %s", program, kinds);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    check_counts(out, r, 4);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char name[32];
        snprintf(name, sizeof name, "timed %s", functions[i]);
        cr_assert(has(out, name), "%s", out);
        const char *timed = strstr(out, name);
        cr_assert(
            eq(u64, report_sum(r, "function", functions[i], "timed_calls"), strtoul(timed + strlen(name), NULL, 10)),
            "%s: %s\n%s", program, functions[i], out);
    }
    report_drop(r);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
    char *info = run_well("$DWELL info"), *paths = report_paths("");
    unsigned long all, enters, exits, frames;
    const char *events = strstr(info, "\nevents ");
    cr_assert(
        eq(int, sscanf(events, " events %lu (%lu enters, %lu exits, %lu frames", &all, &enters, &exits, &frames), 4),
        "%s", info);
    const unsigned long inherited = *kinds ? 9 : 0; /* by the child */
    cr_assert(eq(u64, enters + inherited, exits), "%s: %s", program, info);
    cr_assert(eq(u64, frames, 0), "%s: %s", program, info);
    cr_assert(has(paths, "deep/deep/deep/last/last/last/wide/wide/wide 1\n"), "%s: %s", program, paths);
    free(info);
    free(paths);
    free(out);
}

Test(e2e_level_changes, a_function_that_calls_itself_is_counted_below_its_open_calls)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/nested-*", 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        changes_check_nested(found.gl_pathv[i], "");
        changes_check_nested(found.gl_pathv[i], "f");
    }
    globfree(&found);
}

/* Functions are timed or counted in turn: no call is lost or recorded twice. */
static void changes_check_calls(const char *program, const char *mode, int threads, const char *kinds)
{
    char *out = run_well("$DWELL record -q --mode %s %s %d %d c%s $PROGRAMS/loading/libloading-a.so", mode, program,
                         threads, test_rounds(100), kinds);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    check_counts(out, r, 14);
    report_drop(r);
    r = report_of("--by thread");
    check_sums(r, "thread");
    report_drop(r);
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "stay timed")), "%s: %s", program, info);
    cr_assert(has(info, "level           counted since"), "%s: %s", program, info);
    cr_assert(has(info, "level           timed   since"), "%s: %s", program, info);
    free(info);
    free(out);
}

static void changes_check_all_calls(const char *programs, int threads, const char *kinds)
{
    glob_t found;
    cr_assert(eq(int, glob(programs, 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++)
        changes_check_calls(found.gl_pathv[i], modes[(i + strlen(kinds)) % 3], threads, kinds);
    globfree(&found);
}

Test(e2e_level_changes, all_calls_of_64_threads)
{
    changes_check_all_calls(DWELL_PROGRAMS "/levels/toggling-*", 64, "s");
}

Test(e2e_level_changes, all_calls_with_longjmp_and_exceptions)
{
    changes_check_all_calls(DWELL_PROGRAMS "/levels/toggling-*", 64, "sje");
}

Test(e2e_level_changes, all_calls_with_forks_and_libraries)
{
    changes_check_all_calls(DWELL_PROGRAMS "/levels/toggling-*", 4, "sdf");
}

Test(e2e_level_changes, all_calls_with_all_of_them)
{
    for (int i = 0; i < test_rounds(3); i++)
        changes_check_all_calls(DWELL_PROGRAMS "/levels/toggling-*", 64, &"--sjedf"[i]);
}

Test(e2e_level_changes, all_calls_of_static_programs)
{
    changes_check_all_calls(DWELL_PROGRAMS "/levels/static*-toggling-*", 64, "s");
    changes_check_all_calls(DWELL_PROGRAMS "/levels/static*-toggling-*", 8, "sje");
    changes_check_all_calls(DWELL_PROGRAMS "/levels/static*-toggling-*", 8, "sf");
}

/* The program counts a call when its body begins. So a thread has at most one more, and one in a signal handler. */
static void changes_check_killed(const char *program, const char *mode, const char *kinds, int round)
{
    enum { THREADS = 16 };
    char *out = run_well("$DWELL record -q --mode %s %s %d %d ck%s $PROGRAMS/loading/libloading-a.so", mode, program,
                         THREADS, 50 + 37 * round % 100, kinds);
    struct report *r = report_of("");
    for (const char *line = out; line; line = strstr(line + 1, "\ncalls ")) {
        char name[64];
        unsigned long calls;
        cr_assert(eq(int, sscanf(line, " calls %63s %lu", name, &calls), 2), "%s", line);
        const uint64_t recorded = report_sum(r, "function", name, "calls");
        cr_assert(ge(u64, recorded, calls), "%s, mode %s: %s", program, mode, name);
        cr_assert(le(u64, recorded, calls + 2 * THREADS), "%s, mode %s: %s", program, mode, name);
    }
    report_drop(r);
    free(out);
}

Test(e2e_level_changes, all_calls_of_killed_programs)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/*toggling-*", 0, NULL, &found), 0));
    for (size_t i = 0; i < found.gl_pathc; i++)
        for (int round = 0; round < test_rounds(3); round++)
            changes_check_killed(found.gl_pathv[i], modes[round], round % 2 ? "s" : "sje", (int)i + round);
    globfree(&found);
}

/* ThreadSanitizer ends the program with status 66 if it sees a race. The runtime as a whole cannot run with it. */
Test(e2e_level_changes, the_table_has_no_races)
{
    struct ran r = run("$PROGRAMS/levels/tables");
    cr_assert(eq(str, r.out, "mistakes 0\n"), "%s", r.err);
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

/* Runs a program that reports after each `look` which of its pages are changed, and `dwell control` beside it. */
static char *changes_serve(const char *options, const char *script)
{
    return run_well(
        "mkfifo in out; $DWELL record -q %s $PROGRAMS/levels/pages serve < in > out & recorder=$!\n"
        "exec 3> in 4< out; read pid <&4\n"
        "look() { echo >&3; while read answer <&4 && [ \"$answer\" != done ]; do echo \"$answer\"; done; }\n"
        "control() { $DWELL control $pid \"$@\" 2>&1 || echo \"status $?\"; }\n"
        "%s\nexec 3>&-; wait $recorder; rm in out",
        options, script);
}

Test(e2e_level_changes, by_dwell_control)
{
    char *out = changes_serve("", "look; control level 'out=hot_*'; look; control level timed=hot_a; look; "
                                  "control level out=hot_a; control level out=cold_c; look; control stop; look");
    cr_assert(eq(str, out,
                 "written 0\nchanged hot_a\nchanged hot_b\nwritten 2\nchanged hot_b\nwritten 2\n"
                 "changed hot_a\nchanged hot_b\nchanged cold_c\nwritten 3\nwritten 3\n"),
              "%s", out);
    free(out);
    char *info = run_well("$DWELL info | grep ^level | sed 's/since.*: //; s/  */ /g'");
    cr_assert(eq(str, info,
                 "level out hot_a\nlevel out hot_b\nlevel timed hot_a\nlevel out hot_a\nlevel out cold_c\n"
                 "level timed hot_a\nlevel timed hot_b\nlevel timed cold_c\n"),
              "%s", info);
    free(info);
    char *text = run_well("$DWELL report");
    cr_assert(has(text, "! 3 functions were not timed for the whole run: hot_a, hot_b, cold_c; see dwell info"), "%s",
              text);
    free(text);
}

/* The library is unloaded and loaded again: its levels hold again, also when it is at another address. */
Test(e2e_level_changes, a_library_keeps_its_levels_when_it_is_loaded_again)
{
    free(run_well("mkfifo in out; $DWELL record -q --sample 0 $PROGRAMS/levels/reloading "
                  "$PROGRAMS/loading/libloading-a.so < in > out & recorder=$!\n"
                  "exec 3> in 4< out; read pid <&4\n"
                  "load() { echo >&3; read answer <&4; }\n"
                  "load; $DWELL control $pid level counted=inner_a; $DWELL control $pid level out=begin_a\n"
                  "load; load; exec 3>&-; wait $recorder; rm in out"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "work_in_library", "calls"), 3));
    cr_assert(eq(u64, report_sum(r, "function", "begin_a", "calls"), 1));
    cr_assert(eq(u64, report_sum(r, "function", "inner_a", "calls"), 3 * 12));
    cr_assert(eq(u64, report_sum(r, "function", "inner_a", "timed_calls"), 11));
    report_drop(r);
}

/* Levels that are set before a library is loaded for the first time hold from its first call on. The last setting of a
 * function is valid. A level set while the library is not loaded holds when it is loaded again. */
Test(e2e_level_changes, libraries_that_are_loaded_later)
{
    static const char *const options[] = { "", "--level counted=begin_a", "--depth 100" };
    for (int i = 0; i < 3; i++) {
        char *out = run_well("mkfifo in out; $DWELL record -q --sample 0 %s $PROGRAMS/levels/reloading "
                             "$PROGRAMS/loading/libloading-a.so < in > out & recorder=$!\n"
                             "exec 3> in 4< out; read pid <&4\n"
                             "load() { echo >&3; read answer <&4; }\n"
                             "level() { $DWELL control $pid level $1 2>&1; }\n"
                             "level 'out=*_a'; level timed=outer_a; level counted=inner_a; level 'out=work_*'; level "
                             "'timed=work_*'\n"
                             "load; level counted=begin_a; load; exec 3>&-; wait $recorder; rm in out",
                             options[i]);
        cr_assert(
            has(out, " has no instrumented function 'inner_a' yet; the level holds for libraries that it loads\n"),
            "%s", out);
        free(out);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "work_in_library", "calls"), 2), "%s", options[i]);
        cr_assert(eq(u64, report_sum(r, "function", "inner_a", "calls"), 2 * 12), "%s", options[i]);
        cr_assert(eq(u64, report_sum(r, "function", "inner_a", "timed_calls"), 0), "%s", options[i]);
        cr_assert(eq(u64, report_sum(r, "function", "begin_a", "calls"), 1), "%s", options[i]);
        cr_assert(eq(u64, report_sum(r, "function", "begin_a", "timed_calls"), 0), "%s", options[i]);
        report_drop(r);
    }
}

Test(e2e_level_changes, control_refuses_what_it_does_not_know)
{
    char *out =
        changes_serve("", "control level; control level quick=hot_a; control level out=nobody; control pause now");
    cr_assert(has(out, "control: which level? Give timed=, counted= or out=PATTERN"), "%s", out);
    cr_assert(has(out, "control: 'quick=hot_a' is not timed=PATTERN, counted=PATTERN or out=PATTERN"), "%s", out);
    cr_assert(has(out, " has no instrumented function 'nobody' yet; the level holds for libraries that it loads"), "%s",
              out);
    cr_assert(has(out, "control: too many arguments: 'now'"), "%s", out);
    free(out);
}

#define ALL_CHANGED "changed hot_a\nchanged cold_a\nchanged cold_b\nchanged hot_b\nchanged cold_c\nwritten 5\n"

static void changes_begin_paused(const char *mode, const char *level, const char *changed, unsigned long hot)
{
    char options[64], wanted[512];
    snprintf(options, sizeof options, "--paused --mode %s %s", mode, level);
    snprintf(wanted, sizeof wanted, ALL_CHANGED "%swritten 5\n", changed);
    char *out = changes_serve(options, "look; control resume; look");
    cr_assert(eq(str, out, wanted), "%s: %s", options, out);
    free(out);
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "cold_a", "calls"), 2));
    cr_assert(eq(u64, report_sum(r, "function", "hot_b", "calls"), hot));
    report_drop(r);
}

Test(e2e_level_changes, the_probes_of_a_program_that_begins_paused_are_out)
{
    for (int i = 0; i < 3; i++)
        changes_begin_paused(modes[i], "", "", 2);
    changes_begin_paused("trace", "--level out=hot_b", "changed hot_b\n", 0);
}

Test(e2e_level_changes, the_probes_of_a_program_that_is_paused_are_out)
{
    for (int i = 0; i < 3; i++) {
        char options[64];
        snprintf(options, sizeof options, "--mode %s", modes[i]);
        char *out = changes_serve(options, "look; control pause; look; control resume; look; control pause; look; "
                                           "control level out=hot_a; control resume; look; control pause; sleep 0.3; "
                                           "control stop; look");
        cr_assert(
            eq(str, out, "written 0\n" ALL_CHANGED "written 5\n" ALL_CHANGED "changed hot_a\nwritten 5\nwritten 5\n"),
            "%s: %s", options, out);
        free(out);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "cold_a", "calls"), 6));
        cr_assert(eq(u64, report_sum(r, "function", "hot_a", "calls"), 4));
        report_drop(r);
    }
}

/* Only pages of calls that change are written, and stop gives all code its original bytes. */
Test(e2e_level_changes, the_probes_of_functions_that_filters_hide_are_out)
{
    char *out = changes_serve("--no-hidden-probes --suppress 'hot_*'",
                              "look; control pause; look; control resume; look; control stop; look");
    cr_assert(eq(str, out,
                 "changed hot_a\nchanged hot_b\nwritten 2\n" ALL_CHANGED "changed hot_a\nchanged hot_b\nwritten 5\n"
                 "written 5\n"),
              "%s", out);
    free(out);
    out = changes_serve("--no-hidden-probes --only cold_b", "look; control stop; look");
    cr_assert(eq(str, out, "changed hot_a\nchanged cold_a\nchanged hot_b\nchanged cold_c\nwritten 4\nwritten 4\n"),
              "%s", out);
    free(out);
}

/* A function has one remark: those that were counted have another than those that were out. */
Test(e2e_level_changes, one_remark_a_function)
{
    free(changes_serve("--sample 0", "look; control level counted=hot_a; look; control level out=hot_b; look"));
    char *text = run_well("$DWELL report");
    cr_assert(has(text, "\n1 function only counted: "), "%s", text);
    cr_assert(has(text, "! 1 function was not timed for the whole run: hot_b; see dwell info"), "%s", text);
    free(text);
}
