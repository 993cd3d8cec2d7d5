/* record --level: the probes of some functions are taken out of the code. The calls of the others stay exact. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_levels, .timeout = 300, .init = without_os_calls);

static const char *const modes[] = { "trace", "ring=1G", "profile" };

static void levels_check_paths(const char *options, const char *wanted)
{
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --mode %s %s $SAMPLES/threads 2 1000", modes[i], options));
        char *paths = report_paths("");
        cr_assert(eq(str, paths, (char *)wanted), "%s %s", modes[i], options);
        free(paths);
        struct report *r = report_of("--by process");
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        check_sums(r, "process");
        report_drop(r);
    }
}

Test(e2e_levels, functions_that_are_out_count_for_their_callers)
{
    levels_check_paths("--level out=work", "main 1\nmain/run_wave 1\nworker 2\n");
    levels_check_paths("--level out=worker", "main 1\nmain/run_wave 1\nwork 2000\n");
    levels_check_paths("--level out=main --level out=run_wave", "worker 2\nworker/work 2000\n");
    levels_check_paths("--level 'out=w*'", "main 1\nmain/run_wave 1\n");
}

/* The recording has no times then, and says why. Other filters that leave nothing have another reason. */
Test(e2e_levels, all_functions_are_out)
{
    static const char reason[] =
        "no events were recorded: the probes of all functions that it called are out (--level); "
        "samples have times only below a function that is timed, so leave one out of the "
        "pattern, such as main\n";
    static const char *const options[] = { "", "--mode profile", "--sample 0", "-q" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct ran r = run("$DWELL record %s --level 'out=*' $SAMPLES/fib 20", options[i]);
        cr_assert(eq(int, r.status, 0));
        cr_assert(has(r.out, "fib(20) = 6765"), "%s", r.out);
        cr_assert(has(r.err, reason), "%s", r.err);
        ran_drop(&r);
    }
    struct ran r = run("$DWELL record --level 'out=*' --only nothing $SAMPLES/fib 20");
    cr_assert(has(r.err, "no events were recorded: the filters match none of the calls\n"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL record --level 'out=[!m]*' $SAMPLES/fib 20");
    cr_assert(not(has(r.err, "no events")), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_levels, together_with_filters)
{
    levels_check_paths("--level out=worker --suppress work", "main 1\nmain/run_wave 1\n");
    levels_check_paths("--only main --level out=worker", "main 1\n");
    levels_check_paths("--only main --only worker --level out=worker", "main 1\n");
    levels_check_paths("--level out=run_wave --call-sites", "main 1\nworker 2\nworker/work 2000\n");
    char *folder = run_well("echo level out=work >filters; echo suppress main >>filters");
    free(folder);
    levels_check_paths("--filter-file filters", "run_wave 1\nworker 2\n");
}

Test(e2e_levels, a_level_that_does_not_exist)
{
    struct ran r = run("$DWELL record --level slow=work $SAMPLES/threads 2 1000");
    cr_assert(eq(int, r.status, 125));
    cr_assert(has(r.err, "--level: 'slow=work' is not timed=PATTERN, counted=PATTERN or out=PATTERN"), "%s", r.err);
    ran_drop(&r);
}

/* The report has the calls of `out`'s functions, and no calls of those that begin with "hot_". */
static void levels_check_kinds(const char *program, const char *mode)
{
    struct ran plain = run("%s 2000", program);
    struct ran r = run("$DWELL record -q --mode %s --level 'out=hot_*' %s 2000", mode, program);
    cr_assert(eq(int, r.status, 7), "%s: %s", program, r.err);
    cr_assert(eq(str, r.out, plain.out), "%s", program);
    struct report *report = report_of("");
    for (const char *line = strstr(r.out, "calls "); line; line = strstr(line + 1, "calls ")) {
        char name[64];
        unsigned long calls;
        cr_assert(eq(int, sscanf(line, "calls %63s %lu", name, &calls), 2));
        cr_assert(eq(u64, report_sum(report, "function", name, "calls"), strncmp(name, "hot_", 4) == 0 ? 0 : calls),
                  "%s %s: %s", mode, program, name);
    }
    cr_assert(eq(u64, report_session(report, "lost_events"), 0));
    report_drop(report);
    report = report_of("--by thread");
    check_sums(report, "thread");
    report_drop(report);
    char *info = run_well("$DWELL info");
    cr_assert(not(has(info, "stay timed")), "%s: %s", program, info);
    free(info);
    ran_drop(&plain);
    ran_drop(&r);
}

Test(e2e_levels, all_kinds_of_calls)
{
    glob_t found;
    cr_assert(eq(int, glob(DWELL_PROGRAMS "/levels/kinds-*", 0, NULL, &found), 0));
    int programs = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], ".p"))
            continue;
        levels_check_kinds(found.gl_pathv[i], modes[i % 3]);
        programs++;
    }
    cr_assert(ge(int, programs, 9));
    globfree(&found);
}

Test(e2e_levels, only_changed_pages_are_written)
{
    char *out = run_well("$DWELL record -q $PROGRAMS/levels/pages");
    cr_assert(eq(str, out, "written 0\n"), "without a level");
    free(out);
    out = run_well("$DWELL record -q --level 'out=hot_*' $PROGRAMS/levels/pages | sort");
    cr_assert(eq(str, out, "changed hot_a\nchanged hot_b\nwritten 2\n"));
    free(out);
    out = run_well("$DWELL record -q --level 'out=hot_*' --level out=cold_c $PROGRAMS/levels/pages | sort");
    cr_assert(eq(str, out, "changed cold_c\nchanged hot_a\nchanged hot_b\nwritten 3\n"));
    free(out);
}

Test(e2e_levels, libraries_that_come_and_go)
{
    for (int i = 0; i < 3; i++) {
        char *out = run_well("$DWELL record -q --mode %s --level 'out=inner_*' $PROGRAMS/loading/same "
                             "$PROGRAMS/loading/libloading-a.so $PROGRAMS/loading/libloading-b.so 50",
                             modes[i]);
        struct report *r = report_of("");
        static const char *const rest[] = { "begin_a", "begin_b", "end_a", "end_b" };
        for (int j = 0; j < 4; j++)
            cr_assert(eq(u64, report_sum(r, "function", rest[j], "calls"), truth(out, rest[j])), "%s", rest[j]);
        cr_assert(eq(u64, report_sum(r, "function", "work_in_library", "calls"), 100));
        cr_assert(eq(u64, report_sum(r, "function", "inner_a", "calls"), 0));
        cr_assert(eq(u64, report_sum(r, "function", "inner_b", "calls"), 0));
        report_drop(r);
        free(out);
    }
}

Test(e2e_levels, functions_of_constructors_and_static_programs)
{
    static const char *const programs[] = { "early", "early-no-pie", "early-static-pie" };
    for (int i = 0; i < 3; i++) {
        free(run_well("$DWELL record -q --level 'out=Object::*' --level out=first_constructor "
                      "$PROGRAMS/loading/%s",
                      programs[i]));
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "Object::Object()", "calls"), 0), "%s", programs[i]);
        cr_assert(eq(u64, report_sum(r, "function", "Object::touch()", "calls"), 0), "%s", programs[i]);
        cr_assert(eq(u64, report_sum(r, "function", "first_constructor", "calls"), 0), "%s", programs[i]);
        cr_assert(eq(u64, report_sum(r, "function", "last_constructor", "calls"), 1), "%s", programs[i]);
        cr_assert(eq(u64, report_sum(r, "function", "at_the_end", "calls"), 1), "%s", programs[i]);
        cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 1), "%s", programs[i]);
        report_drop(r);
    }
}

Test(e2e_levels, forked_children)
{
    free(run_well("$DWELL record -q --level out=child_work $SAMPLES/processes 4 100"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "run_child", "calls"), 4));
    cr_assert(eq(u64, report_sum(r, "function", "child_work", "calls"), 0));
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 1));
    report_drop(r);
}

/* Threads run the code while its calls change as fast as possible, and signals come every 70 us. */
static void levels_rewrite(const char *library, const char *how)
{
    char *out = run_well("$PROGRAMS/levels/rewriting %s %s 3000", library, how);
    cr_assert(has(out, "\nchanged\nwrong 0\n"), "%s %s: %s", library, how, out);
    cr_assert(not(has(out, "\nenters 0\n")), "%s", out);
    free(out);
}

Test(e2e_levels, code_that_runs_is_rewritten)
{
    glob_t found;
    if (glob(DWELL_PROGRAMS "/levels/toggled-*.so", 0, NULL, &found) != 0)
        cr_skip_test("only on x86-64");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        levels_rewrite(found.gl_pathv[i], "checked");
        levels_rewrite(found.gl_pathv[i], "out");
        levels_rewrite(found.gl_pathv[i], "counted");
    }
    globfree(&found);
}

/* Linux waits for 10 to 30 ms if a process of two threads says that it will synchronize its processors. So the runtime
 * says it before there is a second one, where levels may change. MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE is 32. */
Test(e2e_levels, a_process_says_at_its_begin_that_its_code_changes)
{
    free(run_well(
        "printf '#include <sys/syscall.h>\n#include <unistd.h>\nint main(void)\n{\n"
        "    return (syscall(SYS_membarrier, 0, 0, 0) & 32) && syscall(SYS_membarrier, 32, 0, 0);\n}\n' >told.c; "
        "gcc -finstrument-functions told.c -o told"));
    static const char *const options[] = { "--overhead 10%", "--overhead none --level 'out=hot_*'", "--paused" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        free(run_well("$DWELL record -q %s ./told", options[i]));
}

/* Static programs that are not position-independent have no table of their functions, unless the linker is asked. */
Test(e2e_levels, a_program_without_a_table_of_functions)
{
    free(run_well("$DWELL record -q --level out=fib $PROGRAMS/static-dwell 10"));
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "fib", "calls"), 177));
    report_drop(r);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "functions with the level out stay timed"), "%s", info);
    free(info);
}

/* Where memory cannot become code, everything stays timed, and the session says so. */
Test(e2e_levels, code_that_cannot_be_written)
{
    struct ran r = run("$PROGRAMS/levels/denied true");
    const bool possible = r.status == 0;
    ran_drop(&r);
    if (!possible)
        cr_skip_test("the kernel has no PR_SET_MDWE");
    r = run("$DWELL record -q --level 'out=hot_*' $PROGRAMS/levels/denied $PROGRAMS/levels/kinds-gcc-pie 100");
    cr_assert(eq(int, r.status, 7), "%s", r.err);
    struct report *report = report_of("");
    check_counts(r.out, report, 9);
    report_drop(report);
    char *info = run_well("$DWELL info");
    cr_assert(has(info, "functions with the level out stay timed"), "%s", info);
    free(info);
    ran_drop(&r);
}

/* The runtime decodes code once, by tables, and follows only what matters. */
Test(e2e_levels, calls_are_those_that_a_plain_search_finds)
{
    if (run("test -f $PROGRAMS/levels/compared").status != 0)
        cr_skip_test("only on x86-64");
    char *out =
        run_well("for i in $PROGRAMS/levels/* $PROGRAMS/frames/* $PROGRAMS/jumps-* $DWELL /lib*/libc.so.6\n"
                 "do if [ -f $i ] && [ -x $i ]; then echo $i; fi; done | xargs $PROGRAMS/levels/compared >all\n"
                 "grep -v -e 'differences 0$' -e 'cannot be mapped$' all; awk '/sites/ { files++; probed += $3;\n"
                 "sites += $5; known += $7 } END { print files, probed, sites, known }' all");
    unsigned files, probed, sites, known;
    cr_assert(eq(int, sscanf(out, "%u %u %u %u\n", &files, &probed, &sites, &known), 4), "%s", out);
    cr_assert(files > 60 && probed > 50 && sites > 4000 && known > 2000, "%s", out);
    free(out);
}

/* A call that the runtime takes for another function's would be a wrong count. */
Test(e2e_levels, calls_belong_to_the_function_that_the_probe_gets)
{
    if (run("test -f $PROGRAMS/levels/owners.so").status != 0)
        cr_skip_test("only on x86-64");
    char *out = run_well(
        "export OWNERS=$PWD/owners; for i in levels/kinds levels/cold frames/exceptions frames/leaving jumps; do\n"
        "for program in $PROGRAMS/$i-*; do if [ -f $program ] && [ -x $program ]; then\n"
        "env LD_PRELOAD=$PROGRAMS/levels/owners.so $program 300 >/dev/null 2>wrong || true\n"
        "grep ^owners: wrong && echo $program; fi; done; done; cat owners");
    cr_assert(not(has(out, "owners:")), "%s", out);
    unsigned long called = 0, known = 0, missed = 0;
    int programs = 0;
    for (const char *line = out; *line; line = strchr(line, '\n') + 1) {
        unsigned long numbers[4];
        cr_assert(eq(int,
                     sscanf(line, "called %lu known %lu wrong %lu missed %lu", &numbers[0], &numbers[1], &numbers[2],
                            &numbers[3]),
                     4),
                  "%s", out);
        called += numbers[0];
        known += numbers[1];
        missed += numbers[2] + numbers[3];
        programs += numbers[0] > 0;
    }
    cr_assert(gt(int, programs, 40), "%s", out);
    cr_assert(eq(ulong, missed, 0), "%s", out);
    cr_assert(gt(ulong, 10 * known, 8 * called), "%lu of %lu", known, called);
    free(out);
}
