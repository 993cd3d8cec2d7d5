/* dwell values --list: what it says of planted functions. Places depend on the compiler, so most tests leave them out.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/run.h"

TestSuite(e2e_values_list, .timeout = 300);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/arguments/"
#define CALLED "gcc %s -g -finstrument-functions " SOURCES "called.c -o called && "
#define ROWS                                                                                                           \
    "jq -r '.rows[] | [.value, .type, .kind, .bytes, .readable, .places, (.reasons | join(\" \"))] | join(\"|\")'"

static void expect_rows(const char *flags, const char *wanted_of, const char *wanted)
{
    char *rows = run_well(CALLED "$DWELL values --list ./called %s --format json | " ROWS, flags, wanted_of);
    cr_expect(eq(str, rows, (char *)wanted), "%s %s", flags, wanted_of);
    free(rows);
}

Test(e2e_values_list, all_values_of_a_function)
{
    expect_rows("-O0", "f_small",
                "a|_Bool|bool|1|1|1|\nb|char|character|1|1|1|\nc|enum color|enum|4|1|1|\nd|enum size|enum|4|1|1|\n"
                "return|_Bool|bool|1|1|1|\n");
    expect_rows("-O0", "f_text",
                "text|const char *|text|8|1|1|\nother|char *|text|8|1|1|\nreturn|const char *|text|8|1|1|\n");
    expect_rows("-O2", "f_dead",
                "unused|int|signed|4|0|1|optimised-out\nused|int|signed|4|1|1|\nreturn|int|signed|4|1|1|\n");
}

Test(e2e_values_list, parts)
{
    expect_rows("-O2", "'f_point:p->low,p->next->name[1],*q,return'",
                "p->low|unsigned int|unsigned|4|1|1|\np->next->name[1]|char|character|1|1|1|\n"
                "*q|struct point *|address|8|1|1|\nreturn|long int|signed|8|1|1|\n");
    expect_rows("-O0", "f_large f_large:by_value.tail f_wide:wide",
                "by_value.tail|int|signed|4|1|1|\nlast|int|signed|4|1|1|\nreturn|long int|signed|8|1|1|\n"
                "by_value.tail|int|signed|4|1|1|\nwide|long double|float|8|1|1|\n");
}

/* Without optimisation, parameters wait in other words of the frame while clang calls the probe. */
Test(e2e_values_list, of_clang_without_optimisation)
{
    char *rows = run_well("clang -w -O0 -g -finstrument-functions " SOURCES "called.c -o called && "
                          "$DWELL values --list ./called f_small f_floats f_pair --format json | " ROWS);
    cr_expect(eq(str, rows,
                 "a|_Bool|bool|1|1|1|\nb|char|character|1|1|1|\nc|enum color|enum|4|1|1|\nd|enum size|enum|4|1|1|\n"
                 "return|_Bool|bool|1|0|1|result-place\na|float|float|4|1|1|\nb|double|float|8|1|1|\n"
                 "c|float|float|4|1|1|\nn|int|signed|4|1|1|\nreturn|double|float|8|1|1|\n"
                 "p.first|int|signed|4|1|1|\np.second|int|signed|4|1|1|\nlast|int|signed|4|1|1|\n"
                 "return|int|signed|4|1|1|\n"));
    free(rows);
}

/* How many parameters and results have all their values, some, and none. A value that is not as printed would be a line
 * of its own. */
static void expect_called(const char *compiler, const char *counts)
{
    char *compared = run_well(
        "%s -w -g -finstrument-functions " SOURCES "called.c -o called && ./called 50 >printed && "
        "python3 -B " DWELL_CONSUMERS "/called_values.py $DWELL printed | sed 's/.*/--values &/' | xargs sh -c "
        "'$DWELL record -q --values-many \"$@\" -o called.data ./called 50 >printed 2>refused' sh && "
        "python3 -B " DWELL_CONSUMERS "/called_values.py $DWELL printed called.data 2>refused",
        compiler);
    cr_expect(eq(str, compared, (char *)counts), "%s", compiler);
    free(compared);
}

Test(e2e_values_list, values_are_as_printed)
{
    expect_called("gcc -O0", "64 0 0\n");
    expect_called("gcc -O2", "59 0 5\n");
    expect_called("gcc -O2 -flto", "59 0 5\n");
    expect_called("clang -O0", "63 0 1\n");
    expect_called("clang -O2", "58 0 6\n");
}

/* An inlined copy has probes of its own. */
Test(e2e_values_list, places)
{
    expect_rows("-O2", "f_inlined",
                "a|int|signed|4|3|3|\nb|unsigned int|unsigned|4|3|3|\nreturn|int|signed|4|1|3|inlined\n");
}

Test(e2e_values_list, text)
{
    char *text = run_well(CALLED "$DWELL values --list ./called f_dead | sed 's/  */ /g; s/ $//'", "-O2");
    cr_expect(has(text, "READABLE PLACES VALUE TYPE WHERE WHY NOT FUNCTION\n"), "%s", text);
    cr_expect(has(text, " 0 1 unused int optimised out at -O2 f_dead\n"), "%s", text);
    free(text);
}

static void expect_refusal(const char *command, const char *message)
{
    struct ran r = run("%s", command);
    cr_expect(eq(int, r.status, 2), "%s", command);
    cr_expect(eq(str, r.err, (char *)message), "%s", command);
    cr_expect(eq(str, r.out, ""));
    ran_drop(&r);
}

Test(e2e_values_list, refusals)
{
    free(run_well("echo 'int f(int n) { return n; } int main(void) { return f(0); }' >short.c; gcc short.c -o plain; "
                  "gcc -finstrument-functions short.c -o bare; gcc -g -finstrument-functions short.c -o short"));
    expect_refusal(
        "$DWELL values --list ./plain f",
        "dwell: ./plain: no function of it calls a probe: compile and link it with -finstrument-functions\n");
    expect_refusal("$DWELL values --list ./bare f",
                   "dwell: ./bare: has no debug information: compile with -g, or install its file of it\n");
    expect_refusal("$DWELL values --list ./short g", "dwell: ./short: no function that calls a probe is named 'g'\n");
    expect_refusal("$DWELL values --list ./short f:m", "dwell: f: no parameter 'm'; it has n\n");
    expect_refusal("$DWELL values --list ./short 'f:n->x'", "dwell: f: 'n->x' cannot be read: it is no pointer\n");
    expect_refusal("$DWELL values --list ./short 'f:n+'",
                   "dwell: f: 'n+' is not a value such as n, *p, req->len, v.size, name[0] or return\n");
    expect_refusal("$DWELL values --list ./short",
                   "dwell: values: --list PROGRAM needs a FUNCTION; dwell values --help\n");
    expect_refusal("$DWELL values --list short.c f", "dwell: short.c: no such program\n");
}

/* Debug information in a file of its own, found by the build-id. */
Test(e2e_values_list, separate_debug_information)
{
    char *rows = run_well(
        CALLED
        "objcopy --only-keep-debug called called.debug && objcopy --strip-all --add-gnu-debuglink=called.debug called && "
        "$DWELL values --list ./called 'f_loop:*list' --format json | " ROWS,
        "-O2");
    cr_expect(eq(str, rows, "*list|const int|signed|4|1|1|\n"));
    free(rows);
}

#define HANDLED                                                                                                        \
    "cp " DWELL_CONSUMERS "/../e2e/programs/values/summed.c . && gcc -g -O2 -finstrument-functions -Wl,--build-id %s " \
    "-o summed summed.c -lpthread && "
#define TAKEN                                                                                                             \
    "$DWELL record -q --values handle:kind,n ./summed calls 100 >/dev/null && $DWELL values handle:kind --format json | " \
    "jq -c '[.rows[].calls] | add'"

/* Values are read where the debug information is elsewhere: with both formats, beside the program, in a folder of
 * .gnu_debuglink, and by the build-id. */
Test(e2e_values_list, debug_information_elsewhere)
{
    static const char *const where[][2] = {
        { "-gsplit-dwarf", "" },
        { "-gsplit-dwarf -gdwarf-4", "" },
        { "-gsplit-dwarf -gz", "" },
        { "",
          "objcopy --only-keep-debug summed s.debug && objcopy --strip-all --add-gnu-debuglink=s.debug summed && " },
        { "", "mkdir -p .debug && objcopy --only-keep-debug summed .debug/s.debug && "
              "objcopy --strip-all --add-gnu-debuglink=.debug/s.debug summed && " },
    };
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char *calls = run_well(HANDLED "%s" TAKEN, where[i][0], where[i][1]);
        cr_expect(eq(str, calls, "400\n"), "%zu", i);
        free(calls);
    }
}

/* Without the file that has a unit's functions, one line says so. */
Test(e2e_values_list, split_debug_information_that_is_missing)
{
    static const char said[] = "its debug information is in summed.dwo, which is not there\n";
    static const char *const format[] = { "-gsplit-dwarf", "-gsplit-dwarf -gdwarf-4" };
    for (size_t i = 0; i < 2; i++) {
        char *expected = need_text("dwell: --values: handle: %s", said), *list = need_text("dwell: handle: %s", said);
        char *lines = run_well(HANDLED "rm -f *.dwo; $DWELL record -q --values handle ./summed calls 1 2>&1 | sort -u",
                               format[i]);
        cr_expect(eq(str, lines, expected), "%s", format[i]);
        free(lines);
        lines = run_well("$DWELL values --list ./summed handle 2>&1; true");
        cr_expect(eq(str, lines, list), "%s", format[i]);
        free(lines);
        free(list);
        free(expected);
    }
}

static bool list_has(const char *command)
{
    struct ran r = run("%s", command);
    const bool has_it = r.status == 0;
    ran_drop(&r);
    return has_it;
}

/* A package beside the program is read, or named. */
Test(e2e_values_list, debug_information_in_a_package)
{
    static const struct {
        const char *format, *pack, *has_it;
    } made[] = {
        { "-gsplit-dwarf", "llvm-dwp", "command -v llvm-dwp" },
        { "-gsplit-dwarf -gdwarf-4", "dwp", "command -v dwp" },
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (!list_has(made[i].has_it))
            continue;
        char *said = run_well(HANDLED "%s -e summed -o summed.dwp && rm -f *.dwo && "
                                      "$DWELL record -q --values handle:kind,n ./summed calls 100 2>&1 >/dev/null; "
                                      "$DWELL values handle:kind --format json 2>/dev/null | jq -c '[.rows[].calls] | "
                                      "add'; true",
                              made[i].format, made[i].pack);
        const bool reads = strcmp(said, "400\n") == 0;
        const bool names = has(said, "handle: its debug information is in the package /") &&
                           has(said, "/summed.dwp, which libdw 0.") &&
                           has(said, " does not read: keep summed.dwo, or build dwell with libdw 0.191 or later\n");
        cr_expect(reads || names, "%s: %s", made[i].pack, said);
        free(said);
    }
}

/* A folder of the system has debug information by build-ids, as packages install it. The test sees one of its own. */
Test(e2e_values_list, debug_information_by_build_id)
{
    if (!list_has("unshare -m true"))
        cr_skip_test("only root may mount a folder");
    char *calls = run_well(
        HANDLED
        "id=$(readelf -n summed | sed -n 's/.*Build ID: //p') && mkdir -p debug/.build-id/$(expr substr $id 1 2) && "
        "objcopy --only-keep-debug summed debug/.build-id/$(expr substr $id 1 2)/$(expr substr $id 3 99).debug && "
        "objcopy --strip-all summed && cat >inside <<'END'\n"
        "mount -t tmpfs none /usr/lib/debug && cp -r debug/.build-id /usr/lib/debug/ || exit 1\n" TAKEN
        "\nEND\n{ " TAKEN "; } 2>&1 | head -n 1; unshare -m sh inside",
        "");
    cr_expect(has(calls, "summed: has no debug information: compile with -g, or install its file of it\n400\n"), "%s",
              calls);
    free(calls);
}

Test(e2e_values_list, follows_its_schema)
{
    char *used =
        run_well(CALLED "$DWELL values --list ./called '*' --format json >values.json && python3 -B " DWELL_CONSUMERS
                        "/schemas.py " DWELL_CONSUMERS "/../../docs/schema values.json",
                 "-O2");
    cr_expect(eq(str, used, "arguments\n"));
    free(used);
}
