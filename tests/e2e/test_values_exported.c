/* Recorded values in exports, compared with what the program prints itself. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_values_exported, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/values/"

static void exported_record(const char *compile, const char *values, const char *arguments)
{
    free(run_well("%s -g -finstrument-functions -o valued -lpthread -lm", compile));
    free(run_well("$DWELL record -q --values '%s' ./valued %s > printed", values, arguments));
}

static void exported_write(const char *format)
{
    free(run_well("$DWELL export %s --with-values -o out", format));
}

/* `as_printed`: a command that makes of the values in the export what the program prints. All are in its order. */
static void exported_compare(const char *format, const char *function, const char *name, const char *column,
                             const char *as_printed)
{
    char *ours =
        run_well("python3 -B " DWELL_CONSUMERS "/valued.py %s out '%s' '%s' | %s", format, function, name, as_printed);
    char *theirs = run_well("cut -d'|' -f%s printed", column);
    cr_assert(eq(str, ours, theirs), "%s of %s:%s", format, function, name);
    cr_assert(ne(int, *theirs, 0));
    free(ours);
    free(theirs);
}

/* babeltrace2 2.0.4 shows an empty text as the one before it. */
static const char not_empty[] = "{ cut -d'|' -f2 printed >texts; paste -d'|' - texts | "
                                "awk -F'|' '{ print $2 == \"\" ? \"\" : $1 }'; }";

/* Signed and unsigned numbers, texts, names, truths. */
static void exported_check(const char *format)
{
    exported_record("gcc -O2 " SOURCES "valued.c", "work:n,text,request->bits,kind,good", "calls 5000");
    exported_write(format);
    exported_compare(format, "work", "n", "1", "cat");
    exported_compare(format, "work", "text", "2", strcmp(format, "ctf") == 0 ? not_empty : "cat");
    exported_compare(format, "work", "request->bits", "5", "cat");
    exported_compare(format, "work", "kind", "7", "sed 's/KIND_LOW/-3/; s/KIND_HIGH/70000/'");
    exported_compare(format, "work", "good", "8", "sed 's/^1$/true/; s/^0$/false/'");
}

Test(e2e_values_exported, chrome)
{
    exported_check("chrome");
}

Test(e2e_values_exported, perfetto)
{
    exported_check("perfetto");
}

Test(e2e_values_exported, firefox)
{
    exported_check("firefox");
}

Test(e2e_values_exported, ctf)
{
    exported_check("ctf");
}

Test(e2e_values_exported, sqlite)
{
    exported_check("sqlite");
}

/* Doubles, as numbers of their formats. */
Test(e2e_values_exported, real_numbers)
{
    static const char *const formats[] = { "perfetto", "sqlite" };
    exported_record("g++ -std=c++17 -O2 " SOURCES "valued.cc", "Store::put:factor", "2000");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        exported_write(formats[i]);
        exported_compare(formats[i], "Store::put", "factor", "5",
                         "python3 -c 'import sys\nfor line in sys.stdin: print(\"%.17g\" % float(line))'");
    }
}

static void exported_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* The times of the calls are those of the report, of which each is rounded. Types are those of SQL. */
Test(e2e_values_exported, database)
{
    exported_record("gcc -O2 " SOURCES "valued.c", "work:n,text,kind,good", "calls 5000");
    exported_write("sqlite");
    exported_expect("sqlite3 out 'SELECT name, typeof(value), count(*) FROM call_value GROUP BY 1, 2'",
                    "good|integer|5000\nkind|text|5000\nn|integer|5000\ntext|text|5000\n");
    exported_expect("sqlite3 out \"SELECT count(*), (SELECT sum(p.calls) FROM path p JOIN function f ON f.id = "
                    "p.function WHERE f.name = 'work'), min(blocked_inclusive_ticks) FROM valued_call\"",
                    "5000|5000|0\n");
    /* Where the probes took longer than they do usually, less than the call's time may be left. */
    exported_expect("sqlite3 out 'SELECT count(*), sum(cpu_inclusive_ticks) > 0 FROM valued_call WHERE "
                    "cpu_inclusive_ticks BETWEEN 0 AND elapsed_inclusive_ticks'",
                    "5000|1\n");
    /* Each call is rounded. One with less time than its probes cost usually is at zero, and the path lacks the rest. */
    exported_expect("sqlite3 out \"SELECT abs(sum(elapsed_inclusive_ticks) - (SELECT sum(p.elapsed_inclusive_ticks) "
                    "FROM path p JOIN function f ON f.id = p.function WHERE f.name = 'work')) <= 2500 + 100 * "
                    "sum(elapsed_inclusive_ticks = 0) FROM valued_call\"",
                    "1\n");
    exported_expect("sqlite3 out 'PRAGMA foreign_key_check'", "");
    exported_expect("$DWELL export sqlite -o plain; sqlite3 plain '.tables %call%'", "report_callers\n");
}

/* Of a number that SQL does not have, and of what cannot be read. */
Test(e2e_values_exported, special_values)
{
    exported_record("gcc -O2 " SOURCES "valued.c", "choose:*large", "enums 4");
    exported_write("sqlite");
    exported_expect("sqlite3 out 'SELECT typeof(value), value FROM call_value'",
                    "text|LARGE_LAST\ntext|LARGE_FIRST\ninteger|5\ntext|LARGE_FIRST\n");
    exported_record("gcc -O2 " SOURCES "valued.c", "point:*number,text", "bad");
    exported_write("sqlite");
    exported_expect("sqlite3 out \"SELECT count(*) > 0 FROM call_value WHERE value IS NULL\"", "1\n");
    exported_write("perfetto");
    exported_expect("python3 -B " DWELL_CONSUMERS "/valued.py perfetto out point '*number' | grep -cm1 unreadable",
                    "1\n");
}
