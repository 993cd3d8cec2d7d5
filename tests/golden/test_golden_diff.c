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

/* A longer tail: the mean stays. */
Test(golden_diff, percentiles)
{
    version_save(&(struct version){ .lookups = 1000, .time = 1000, .slow = 9000, .main_time = 5000 },
                 test_path("tail-1"));
    version_save(&(struct version){ .lookups = 1000, .time = 796, .slow = 19204, .main_time = 5000 },
                 test_path("tail-2"));
    check_golden("diff tail-1 tail-2 --sort p99", "diff-p99.txt");
    check_golden("diff tail-1 tail-2 --sort p99 --format json", "diff-percentiles.json");
    check_golden("diff tail-1 tail-2 --by path --format csv --columns p99_change,max_judged", "diff-percentiles.csv");
    check_golden("diff tail-1 tail-2 --columns p50,P99,max", "diff-percentile-columns.txt");
    check_golden("diff tail-1 tail-2 --format csv --columns calls,p90,CPU.EXCL,p99_judged",
                 "diff-percentile-columns.csv");
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
    check_status("before-1 after-1 --fail-if 'all_elapsed_exclusive > +1ms'", 0, "");
    check_status("before-1 after-1 --fail-if 'calls > +0' --fail-if 'all_elapsed_exclusive < -1ns' --limit 1", 1,
                 "dwell: --fail-if 'calls > +0': 2 functions\n"
                 "  price::lookup(int) (libprice.so): 3 -> 7 (+133.33 %)\n"
                 "  price::cached(int) (libprice.so): 0 -> 1 (new)\n"
                 "dwell: --fail-if 'all_elapsed_exclusive < -1ns': 2 functions\n"
                 "  log_line (shop): 30 ns -> 0 ns (gone)\n"
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

Test(golden_diff, formats_for_continuous_integration)
{
    check_golden("diff 'before-*' -- 'after-*' --format markdown", "diff.md");
    check_golden("diff before-1 after-1 --by path --sort calls -n 2 --format markdown", "diff-path.md");
    check_golden("diff 'before-*' -- 'after-*' --format github", "diff-github.txt");
    check_golden("diff before-1 after-1 --format github", "diff-github-one.txt");
    check_golden("diff 'before-*' -- 'after-*' --format junit", "diff-junit.xml");
    check_golden("diff before-1 after-1 --by module --sort calls --format junit", "diff-junit-module.xml");
}

/* The exit status is that of --fail-if. */
Test(golden_diff, conditions_in_these_formats)
{
    static const char *const formats[] = { "markdown", "github", "junit" };
    for (int i = 0; i < 3; i++) {
        struct ran r = run("$DWELL diff 'before-*' -- 'after-*' --format %s --fail-if 'calls > +2' "
                           "--fail-if 'elapsed_exclusive > +900%%' 2>said",
                           formats[i]);
        char name[64];
        snprintf(name, sizeof name, "diff-gates-%s.txt", formats[i]);
        cr_assert(eq(int, r.status, 1), "%s", formats[i]);
        check_text(r.out, name);
        ran_drop(&r);
    }
    struct ran r = run("$DWELL diff before-1 after-1 --format junit --columns calls");
    cr_assert(eq(str, r.err, "dwell: --columns: this --format has its own columns\n"));
    ran_drop(&r);
    r = run("$DWELL diff before-1 after-1 --format markdwon");
    cr_assert(has(r.err, "'markdwon' is none of text, csv, json, markdown, github, junit; did you mean 'markdown'?"),
              "%s", r.err);
    ran_drop(&r);
}

/* Names with characters that mean something in these formats. Python's parser checks that the XML is well-formed. */
Test(golden_diff, odd_names_in_these_formats)
{
    static const char name[] = "odd<\"&'|`%:,\x1b>(int)\xef\xbf\xbf";
    for (int i = 0; i < 2; i++) {
        struct writer *w = writer_new();
        write_process(w, 1, 70, "/opt/shop");
        write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
        write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/a&b");
        write_symbol_module(w, 1, "/no/a&b");
        write_symbol_file(w, 1, "/src/a,b:c.c");
        write_symbol(w, 1, 1, 7, 0x1000, name);
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        for (uint64_t call = 0; call < 1 + (uint64_t)i; call++) {
            write_enter(w, call * 100, 0x1000);
            write_exit(w, call * 100 + 50);
        }
        end_events(w, true);
        writer_save(w, test_path(i ? "odd-2" : "odd-1"));
        writer_free(w);
    }
    char *out = run_well("$DWELL diff odd-1 odd-2 --sort calls --format markdown; "
                         "$DWELL diff odd-1 odd-2 --sort calls --format github; "
                         "$DWELL diff odd-1 odd-2 --sort calls --format junit | tee odd.xml");
    check_text(out, "diff-odd.txt");
    free(out);
    char *read = run_well("python3 -c 'import xml.etree.ElementTree as e; r = e.parse(\"odd.xml\").getroot(); "
                          "c = r.find(\".//testcase\"); print(c.get(\"classname\"), c.get(\"file\"), c.get(\"line\"), "
                          "r.get(\"failures\"), c.find(\"failure\").get(\"message\"))'");
    cr_assert(eq(str, read, "a&b /src/a,b:c.c 7 1 calls: 1 -> 2 (+100.00 %)\n"));
    free(read);
}
