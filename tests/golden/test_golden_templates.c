/* Function templates are found by names without the return type with which their demangled names begin. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

/* main calls twice, then choose, which calls twice. */
static void templates_save_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/game");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "int f(int)");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/bin/game");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1000, 0x1000);
    write_enter(w, 2000, 0x2000);
    write_exit(w, 3000);
    write_enter(w, 4000, 0x3000);
    write_enter(w, 5000, 0x2000);
    write_exit(w, 6000);
    write_exit(w, 8000);
    write_exit(w, 9000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 9000);
    write_symbol_module(w, 0, "/bin/game");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x2000, "_ZN2ns5twiceIiEET_S1_");
    write_symbol(w, 0, 0, 0, 0x3000, "_ZN2ns6chooseIiEEPFT_S1_ES1_");
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
}

TestSuite(golden_templates, .init = templates_save_session, .timeout = 300);

#define MAIN "main"
#define TWICE "int ns::twice<int>(int)"
#define CHOOSE "int (*ns::choose<int>(int))(int)"

/* Checks a column of text in csv, one row a line. */
static void templates_expect(const char *arguments, const char *key, const char *wanted)
{
    char *rows = run_well("$DWELL %s --format csv | python3 -c 'import csv, sys\n"
                          "for row in csv.DictReader(line for line in sys.stdin if line[0] != \"#\"):\n"
                          "    print(row[\"%s\"])'",
                          arguments, key);
    cr_assert(eq(str, rows, (char *)wanted), "%s", arguments);
    free(rows);
}

Test(golden_templates, rows)
{
    templates_expect("report -s name", "function", CHOOSE "\n" TWICE "\n" MAIN "\n");
    templates_expect("report -s name --filter 'ns::*'", "function", CHOOSE "\n" TWICE "\n");
    templates_expect("report --filter 'name~ns::twice<int>'", "function", TWICE "\n");
    templates_expect("report --filter 'name~ns::twice<int>(int)'", "function", TWICE "\n");
    templates_expect("report --filter 'function~ns::choose*'", "function", CHOOSE "\n");
    templates_expect("report --filter 'name!~ns::*'", "function", MAIN "\n");
    templates_expect("top --once --filter 'ns::t*'", "function", TWICE "\n");
    templates_expect("tree --filter 'name~ns::choose*'", "function", MAIN "\n" CHOOSE "\n");
    templates_expect("tree --filter 'name~ns::twice<*>'", "function", MAIN "\n" CHOOSE "\n" TWICE "\n" TWICE "\n");
    templates_expect("slowest 'ns::twice<int>' --filter 'caller~ns::choose*'", "caller", CHOOSE "\n");
}

/* The name of a thread may look like that of a function. */
Test(golden_templates, names_that_are_no_functions)
{
    templates_expect("report --by thread --filter 'int f(int)'", "thread", "int f(int)\n");
    templates_expect("report --by thread --filter 'f'", "thread", "");
}

Test(golden_templates, functions_by_name)
{
    static const char *const names[] = { "ns::twice<int>", "ns::twice<int>(int)", "int ns::twice<int>",
                                         "int ns::twice<int>(int)", "twice" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "tree --root '%s'", names[i]);
        templates_expect(arguments, "function", TWICE "\n");
        snprintf(arguments, sizeof arguments, "slowest '%s'", names[i]);
        templates_expect(arguments, "caller", MAIN "\n" CHOOSE "\n");
        snprintf(arguments, sizeof arguments, "callers '%s'", names[i]);
        templates_expect(arguments, "function", CHOOSE "\n" MAIN "\n" TWICE "\n");
    }
    templates_expect("report --root 'ns::choose<int>' -s name", "function", CHOOSE "\n" TWICE "\n");
}

Test(golden_templates, replay)
{
    static const char *const roots[] = { "ns::choose*", "ns::choose<int>", "ns::choose<*>" };
    for (size_t i = 0; i < 3; i++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "replay --root '%s'", roots[i]);
        templates_expect(arguments, "function", CHOOSE "\n" TWICE "\n" CHOOSE "\n");
    }
    templates_expect("replay --root 'ns::twice<int>' --depth 1", "function", TWICE "\n" TWICE "\n");
}

static void templates_expect_hint(const char *arguments, const char *hint)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 2), "%s", arguments);
    cr_assert(has(r.err, hint), "%s: %s", arguments, r.err);
    ran_drop(&r);
}

Test(golden_templates, hints)
{
    templates_expect_hint("callers 'ns::twcie<int>'", "did you mean 'ns::twice<int>'?");
    templates_expect_hint("callers 'twcie<int>'", "did you mean 'twice<int>'?");
    templates_expect_hint("replay --root 'ns::chose<int>'", "did you mean 'ns::choose<int>'?");
    templates_expect_hint("tree --root 'chose<int>'", "did you mean 'choose<int>'?");
}
