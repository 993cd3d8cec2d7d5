/* `dwell diff` for handmade versions of a program, byte for byte. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/versions.h"

static void diff_save_sessions(void)
{
    static const uint64_t noise[] = { 0, 3, 1 };
    char name[32];
    for (int i = 0; i < 3; i++) {
        const struct version before = {
            .lookups = 3, .main_time = 5000, .noise = noise[i], .logged = true, .source = SOURCE_PERF
        };
        const struct version after = {
            .shift = 0x40, .lookups = 7, .main_time = 4990, .noise = noise[2 - i], .cached = true, .source = SOURCE_PERF
        };
        snprintf(name, sizeof name, "before-%d", i + 1);
        version_save(&before, test_path(name));
        snprintf(name, sizeof name, "after-%d", i + 1);
        version_save(&after, test_path(name));
    }
    version_save(&(struct version){ .program = "shop2", .lookups = 4, .main_time = 4000, .source = SOURCE_NONE },
                 test_path("blind"));
}

TestSuite(golden_diff, .init = diff_save_sessions, .timeout = 300);

static void diff_check_formats(const char *arguments, const char *name)
{
    static const char *const formats[][2] = { { "text", "txt" }, { "csv", "csv" }, { "json", "json" } };
    for (int i = 0; i < 3; i++) {
        char command[256], file[256];
        snprintf(command, sizeof command, "%s --format %s", arguments, formats[i][0]);
        snprintf(file, sizeof file, "%s.%s", name, formats[i][1]);
        check_golden(command, file);
    }
}

Test(golden_diff, two_sessions)
{
    diff_check_formats("diff before-1 after-1", "diff");
}

Test(golden_diff, several_sessions)
{
    diff_check_formats("diff before-1 before-2 before-3 -- after-1 after-2 after-3", "diff-several");
    check_golden("diff 'before-*' -- 'after-[123]' ./after-2", "diff-several.txt");
}

Test(golden_diff, by_module_and_by_path)
{
    diff_check_formats("diff before-1 after-1 --by module", "diff-module");
    diff_check_formats("diff before-1 after-1 --by path", "diff-path");
}

Test(golden_diff, order_and_columns)
{
    check_golden("diff before-1 after-1 --sort calls --limit 2", "diff-calls.txt");
    check_golden("diff before-1 after-1 --sort name --columns cpu_exclusive_before,cpu_exclusive_change_ns",
                 "diff-columns.txt");
    check_golden("diff --columns help", "diff-help.txt");
}

Test(golden_diff, another_program_without_a_source_of_os_events)
{
    check_golden("diff before-1 blind", "diff-blind.txt");
}

Test(golden_diff, a_session_and_itself)
{
    struct ran r = run("$DWELL diff before-1 before-1 --columns calls_change,elapsed_exclusive_change --format csv");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.out,
                 "judged,in,function,module,calls_change,elapsed_exclusive_change_ns\r\n"
                 ",both,log_line,shop,0,0\r\n,both,main,shop,0,0\r\n,both,price::lookup(int),libprice.so,0,0\r\n"));
    ran_drop(&r);
}

static void diff_check_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL diff %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s", arguments);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message));
    ran_drop(&r);
}

Test(golden_diff, errors)
{
    diff_check_error("before-1", "dwell: diff: give a session of before and one of after\n");
    diff_check_error("before-1 --", "dwell: diff: give a session of before and one of after\n");
    diff_check_error("before-1 before-2 after-1",
                     "dwell: diff: 3 sessions: write -- between those of before and those of after\n");
    diff_check_error("before-1 -- 'nothing-*'", "dwell: nothing-*: no file matches\n");
    diff_check_error("before-1 missing", "dwell: missing: No such file or directory\n");
    diff_check_error("before-1 after-1 --by thread", "dwell: --by: 'thread' is none of function, module, path\n");
    diff_check_error("before-1 after-1 --sort speed", "dwell: --sort: no value 'speed'; --columns help lists them\n");
    diff_check_error("before-1 after-1 --columns speed",
                     "dwell: --columns: no column 'speed'; --columns help lists them\n");
    diff_check_error("before-1 blind --sort cpu_exclusive",
                     "dwell: --sort: some of these sessions do not have cpu_exclusive\n");
    diff_check_error("before-1 blind --fail-if 'cpu_exclusive > 5%'",
                     "dwell: --fail-if 'cpu_exclusive > 5%': some of these sessions do not have this value\n");
    diff_check_error("before-1 after-1 --fail-if 'elapsed_exclusive > 5'",
                     "dwell: --fail-if 'elapsed_exclusive > 5': a time needs a unit: %, ns, us, ms or s\n");
}

static void check_status(const char *arguments, int status, const char *message)
{
    struct ran r = run("$DWELL diff %s --format csv >rows.csv", arguments);
    cr_assert(eq(int, r.status, status), "%s", arguments);
    cr_assert(eq(str, r.err, (char *)message), "%s", arguments);
    ran_drop(&r);
}

Test(golden_diff, conditions)
{
    check_status("before-1 before-2 --fail-if 'calls > +0' --fail-if 'calls < -0'", 0, "");
    check_status("before-1 after-1 --fail-if 'elapsed_exclusive > +1ms'", 0, "");
    check_status("before-1 after-1 --fail-if 'calls > +0' --fail-if 'elapsed_exclusive < -1ns' --limit 1", 1,
                 "dwell: --fail-if 'calls > +0': 2 functions\n"
                 "  price::lookup(int) (libprice.so): 3 -> 7 (+133.33 %)\n"
                 "  price::cached(int) (libprice.so): 0 -> 1 (new)\n"
                 "dwell: --fail-if 'elapsed_exclusive < -1ns': 2 functions\n"
                 "  log_line (shop): 0.030 us -> 0.000 us (gone)\n"
                 "  main (shop): 5.000 us -> 4.991 us (-0.18 %)\n");
    check_status("before-1 -- --by path after-1 --fail-if 'calls > +100%'", 1,
                 "dwell: --fail-if 'calls > +100%': 2 call paths\n"
                 "  main;price::lookup(int): 3 -> 7 (+133.33 %)\n"
                 "  main;price::lookup(int);price::cached(int): 0 -> 1 (new)\n");
    check_status(
        "before-1 before-2 before-3 -- after-1 after-2 after-3 --fail-if 'elapsed_exclusive < -0.1%' --by module", 1,
        "dwell: --fail-if 'elapsed_exclusive < -0.1%': 1 module\n"
        "  shop: 5.031 us -> 4.991 us (-0.80 %)\n");
}

/* The value that is compared and the names stay longest in a narrow terminal. */
Test(golden_diff, of_widths)
{
    static const unsigned widths[] = { 80, 120, 200 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[64];
        snprintf(name, sizeof name, "diff-%u.txt", widths[i]);
        char *text =
            run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %u; $DWELL diff before-1 "
                     "after-1; $DWELL diff before-1 after-1 --by path --sort application_inclusive; $DWELL diff "
                     "before-1 after-1 --sort calls\" /dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
                     widths[i]);
        check_text(text, name);
        free(text);
    }
}
