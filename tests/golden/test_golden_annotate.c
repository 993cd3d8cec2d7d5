/* dwell annotate, byte for byte: the calls of a hand-written session beside a source that the test writes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/site_session.h"

/* main is in lines 9 to 14, f in 18 to 25, and g in 28 to 32, which has braces that mean nothing. */
static void annotate_save(void)
{
    struct writer *w = site_session(SITES_WHOLE);
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
    free(run_well("mkdir -p moved; { for i in 1 2 3 4 5 6 7 8; do echo \"/* $i */\"; done; printf 'int main(void)\\n"
                  "    { f();\\n\\tf(); f();\\n    if (1) { }\\n    return 0; /* } */\\n}\\n\\nnext\\n17\\n"
                  "void f(void)\\n{\\n    g();\\n    \"}\";\\n    helper();\\n    // }\\n    g();\\n}\\n\\nnext\\n"
                  "void g(void)\\n{\\n    f(); // \\033[31m\\n    c = \\047}\\047;\\n}\\n'; } >moved/a.c; "
                  "touch -d 1960-01-01 moved/a.c"));
}

TestSuite(golden_annotate, .init = annotate_save, .timeout = 300);

Test(golden_annotate, formats)
{
    check_golden("annotate --source-path /src=moved main", "annotate.txt");
    check_golden("annotate --source-path /src=moved --format csv main", "annotate.csv");
    check_golden("annotate --source-path /src=moved --format json main", "annotate.json");
}

/* A call of an uninstrumented inlined function counts for its line, a call from itself counts once in its time. */
Test(golden_annotate, inlined_and_recursive_calls)
{
    check_golden("annotate --source-path /src/=moved f dwell.data", "annotate-inlined.txt");
    check_golden("annotate --source-path /other=moved --source-path /src=moved dwell.data g", "annotate-escape.txt");
}

Test(golden_annotate, errors)
{
    static const struct {
        const char *arguments, *message;
    } wrong[] = {
        { "nothing", "dwell: dwell.data: no function 'nothing' was recorded; dwell report -s name lists them\n" },
        { "maim", "dwell: dwell.data: no function 'maim' was recorded; did you mean 'main'? "
                  "dwell report -s name lists them\n" },
        { "main", "dwell: /src/a.c: no such source file; --source-path A=B looks in B for the files of A. Looked at:\n"
                  "  /src/a.c\n" },
        { "--source-path /src=there main",
          "dwell: /src/a.c: no such source file; --source-path A=B looks in B for the files of A. Looked at:\n"
          "  there/a.c\n  /src/a.c\n" },
        { "--source-path there main",
          "dwell: --source-path: 'there' is not A=B, a folder of the build and the one that replaces it\n" },
        { "'*' --source-path /src=moved",
          "dwell: annotate: '*' names functions in several places, such as /src/a.c:9 and /src/a.c:18\n" },
        { "", "dwell: annotate: which FUNCTION? dwell report lists them\n" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL annotate %s", wrong[i].arguments);
        cr_assert(eq(int, r.status, 2), "%s", wrong[i].arguments);
        cr_assert(eq(str, r.err, (char *)wrong[i].message));
        ran_drop(&r);
    }
}

/* The binary is gone, so the file is compared with the time of the recording. */
Test(golden_annotate, a_newer_source)
{
    struct ran r = run("touch -d 2100-01-01 moved/a.c; $DWELL annotate --source-path /src=moved main");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.err, "dwell: moved/a.c: is newer than /bin/p: its lines may have moved\n"));
    ran_drop(&r);
    r = run("echo >moved/a.c; $DWELL annotate --source-path /src=moved main 2>&1 | tail -n 1");
    cr_assert(
        eq(str, r.out, "dwell: moved/a.c: has no line 9, where 'main' begins: it is another version of the source\n"));
    ran_drop(&r);
}
