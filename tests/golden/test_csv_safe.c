/* With --csv-safe no cell of any CSV is a formula for a spreadsheet, as Python's reader sees it. Numbers stay. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hostile.h"
#include "support/run.h"

TestSuite(golden_csv_safe, .timeout = 300);

/* Whether the command has that option. */
static bool csv_safe_has_option(const char *command, const char *option)
{
    char *options = run_well("$DWELL %s --print-options", command);
    const bool found = has(options, option);
    free(options);
    return found;
}

/* Whether the view is one that has no table for this session. */
static bool csv_safe_is_refused(const char *message)
{
    static const char *const reasons[] = { "names 2 functions",   "--summary: is Markdown", "has no cost of the probes",
                                           "no such source file", "no values of",           "no such program" };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (has(message, reasons[i]))
            return true;
    return false;
}

/* Prints the view plainly and safely. Returns false if it prints no table.
 * Another status does not matter: `dwell doctor` finds things, `dwell diff --fail-if` fails. */
static bool csv_safe_print_view(const struct hostile_view *view, size_t number)
{
    struct ran plain = run("$DWELL %s --format csv %s >plain-%zu.csv", view->command, view->arguments, number);
    struct ran safe = run("$DWELL %s --format csv --csv-safe %s >safe-%zu.csv", view->command, view->arguments, number);
    cr_assert(eq(int, safe.status, plain.status), "%s %s: %s", view->command, view->arguments, safe.err);
    const bool printed = plain.status != 2;
    if (!printed) {
        cr_assert(csv_safe_is_refused(plain.err), "%s", plain.err);
        free(run_well("rm plain-%zu.csv safe-%zu.csv", number, number));
    }
    ran_drop(&plain);
    ran_drop(&safe);
    return printed;
}

static void csv_safe_check_text(const char *text)
{
    hostile_save(text);
    unsigned tables = 0;
    const char *command = "";
    bool has_format = false;
    for (size_t i = 0; hostile_views[i].command; i++) {
        if (strcmp(hostile_views[i].command, command) != 0)
            has_format = csv_safe_has_option(hostile_views[i].command, "--format\t");
        command = hostile_views[i].command;
        const bool varies = strcmp(command, "doctor") == 0; /* by the free space */
        tables += has_format && !varies && csv_safe_print_view(&hostile_views[i], i);
    }
    cr_assert(gt(u32, tables, 25));
    free(run_well(
        "$DWELL export vsperf -o plain hostile.data && $DWELL export vsperf --csv-safe -o safe hostile.data && "
        "for name in plain_*.csv; do mv $name plain-${name#plain_} && "
        "mv safe_${name#plain_} safe-${name#plain_} || exit; done"));
    char *counts = run_well("python3 -B " DWELL_CONSUMERS "/csv_safe.py plain-*.csv"), *rest = counts;
    unsigned compared = 0, changed = 0;
    for (char *count; (count = strsep(&rest, "\n")) && *count; compared++)
        changed += strcmp(count, "0") != 0;
    cr_assert(eq(u32, compared, tables + 9), "%s", text);
    cr_assert(ge(u32, changed, compared - 8), "%s: %u of %u", text, changed,
              compared); /* some hold no text of a session */
    free(counts);
}

Test(golden_csv_safe, equals_signs)
{
    csv_safe_check_text("=cmd|'/c x'!A1,");
}

Test(golden_csv_safe, signs)
{
    csv_safe_check_text("-1+");
    csv_safe_check_text("+");
}

Test(golden_csv_safe, at_and_blanks)
{
    csv_safe_check_text("@SUM(A1)\"");
    csv_safe_check_text("\t=");
}

Test(golden_csv_safe, full_width)
{
    csv_safe_check_text("\uff1d1");
}

/* Every command that prints CSV has the option, and exports without CSV refuse it. */
Test(golden_csv_safe, which_commands)
{
    char *commands = hostile_commands(), *rest = commands;
    for (char *name; (name = strsep(&rest, " "));)
        if (*name && strcmp(name, "export") != 0)
            cr_assert(eq(int, csv_safe_has_option(name, "--csv-safe\t"), csv_safe_has_option(name, "--format\t")), "%s",
                      name);
    free(commands);
    struct ran r = run("$DWELL export collapsed --csv-safe x");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: --csv-safe: format collapsed has no use for it; leave it out\n"));
    ran_drop(&r);
}
