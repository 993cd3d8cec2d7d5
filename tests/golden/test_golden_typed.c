/* Functions of one name: rows of copies, and texts that name one of them, in all commands. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/copies_session.h"
#include "support/features.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

static void typed_save_session(void)
{
    struct writer *w = copies_session();
    writer_save(w, test_path("copies.dwell"));
    writer_free(w);
}

TestSuite(golden_typed, .init = typed_save_session, .timeout = 300);

Test(golden_typed, copies_are_one_row)
{
    check_golden("report copies.dwell -s name", "typed-report.txt");
    check_golden("report copies.dwell -s name --no-merge", "typed-apart.txt");
    check_golden("tree copies.dwell --format csv", "typed-tree.csv");
    check_golden("tree copies.dwell --min 15%", "typed-tree-folded.txt"); /* the folded row is the last */
    check_golden("export collapsed copies.dwell", "typed.collapsed");
}

/* The rows of `dwell top` are those of the report. */
Test(golden_typed, top_has_the_same_rows)
{
    static const char columns[] = "--format csv -s name --columns calls,elapsed_inclusive,elapsed_exclusive";
    static const char *const merge[] = { "", "--no-merge" };
    for (int i = 0; i < 2; i++) {
        char *top = run_well("$DWELL top --once %s %s copies.dwell", columns, merge[i]);
        char *report = run_well("$DWELL report %s %s copies.dwell", columns, merge[i]);
        cr_assert(eq(str, top, report));
        free(top);
        free(report);
    }
}

Test(golden_typed, texts_of_one_function)
{
    check_golden("callers copies.dwell length@0x2000", "typed-callers.txt");
    check_golden("slowest copies.dwell length@list.h:9 --format csv", "typed-slowest.csv");
    check_golden("histogram copies.dwell length@libshop.so --format csv", "typed-histogram.csv");
    check_golden("replay copies.dwell --root length@list.h --root length@*.so", "typed-replay.txt");
    check_golden("tree copies.dwell --filter length@list.h:9", "typed-filter.txt");
    check_golden("report copies.dwell --filter 'len*@sds.h' -s name --columns calls", "typed-filter-report.txt");
    check_golden("tree copies.dwell --root main --root length@*", "typed-root.txt");
}

/* Rows below the 48th level have a number instead of guides, so a line does not grow with the depth. */
Test(golden_typed, deep_trees)
{
    enum { DEPTH = 16000 };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/deep");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "deep");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < DEPTH; i++)
        write_enter(w, 10 + i, 0x1000);
    for (uint64_t i = 0; i < DEPTH; i++)
        write_exit(w, 20000 + i);
    end_events(w, true);
    write_symbol_module(w, 0, "");
    write_symbol(w, 0, 0, 0, 0x1000, "down");
    writer_save(w, test_path("deep.dwell"));
    writer_free(w);
    char *text = run_well(
        "$DWELL tree deep.dwell --min 0 --depth 1000000 --columns calls >deep.txt; wc -l <deep.txt; "
        "awk '{ if (length($0) > 1000) print \"too long\" }' deep.txt; tail -3 deep.txt | head -1 | tr -d ' '");
    cr_assert(eq(str, text, "16003\n1*└─[16000]down\n"));
    free(text);
    check_golden("tree deep.dwell --min 0 --depth 50 --columns calls", "typed-deep.txt");
}

Test(golden_typed, equal_sessions)
{
    check_golden("diff copies.dwell copies.dwell", "typed-equal.txt");
    check_golden("diff --by path copies.dwell copies.dwell", "typed-equal-path.txt");
}

Test(golden_typed, no_session_yet)
{
    need_features("events");
    static const char *const commands[] = { "report",          "tree",           "info",
                                            "replay",          "marks",          "events",
                                            "callers main",    "histogram main", "view -o x.html",
                                            "export collapsed" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s", commands[i]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i]);
        cr_assert(eq(str, r.err,
                     "dwell: dwell.data: No such file or directory; record a program first: dwell record ./prog\n"));
        ran_drop(&r);
    }
}

Test(golden_typed, help_of_every_command)
{
    need_features("events fleet perflog vsperf");
    static const char *const commands[] = { "record",  "control", "doctor", "report", "tree",   "callers", "histogram",
                                            "slowest", "why",     "replay", "marks",  "events", "info",    "view",
                                            "top",     "diff",    "export", "import", "merge",  "perflog" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *help = run_well("$DWELL help %s", commands[i]), *option = run_well("$DWELL %s -h", commands[i]);
        cr_assert(eq(str, help, option));
        cr_assert(has(help, commands[i]));
        free(help);
        free(option);
    }
    free(run_well("$DWELL help; $DWELL -h; $DWELL help help"));
}

/* A part of a name does not mean what the compiler makes of a file's global objects. */
Test(golden_typed, a_part_prefers_functions_that_were_written)
{
    static const char *const names[] = { "render_all(int)", "_GLOBAL__sub_I_render_all", "_GLOBAL__sub_I_table" };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/page");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x403000, 0, "/bin/page");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "page");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < 3; i++) {
        write_enter(w, 1000 + 20 * i, 0x401000 + i * 0x40);
        write_exit(w, 1010 + 20 * i);
    }
    end_events(w, true);
    write_symbol_module(w, 0, "/bin/page");
    for (uint32_t i = 0; i < 3; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x40, names[i]);
    writer_save(w, test_path("made.dwell"));
    writer_free(w);
    static const char *const texts[][2] = { { "render", "render_all(int)" },
                                            { "sub_I_render", "_GLOBAL__sub_I_render_all" },
                                            { "table", "_GLOBAL__sub_I_table" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char wanted[64], *out = run_well("$DWELL histogram made.dwell %s", texts[i][0]);
        snprintf(wanted, sizeof wanted, "%s: 1 completed call", texts[i][1]);
        cr_assert(eq(int, strncmp(out, wanted, strlen(wanted)), 0), "%s: %s", texts[i][0], out);
        free(out);
    }
}
