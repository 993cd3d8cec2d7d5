/* Texts of std::string and std::string_view, compared with what the program prints, and those that cannot be read. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_strings, .timeout = 600);

static void strings_record(const char *compiler, const char *how)
{
    free(run_well("%s -std=c++17 -g -o strings " DWELL_CONSUMERS "/../e2e/programs/values/strings.cc && "
                  "$DWELL record -q --values take_string --values take_view --values take_both "
                  "--values take_pushed ./strings %s > printed",
                  compiler, how));
}

#define BY_TEXT(function, what)                                                                                        \
    "$DWELL values --each -n 0 --format json " function ":" what " | jq -r '.rows[] | \"\\(.calls) \\(.values." what   \
    ")\"' | LC_ALL=C sort"

static void strings_compare(const char *function, const char *what)
{
    char *ours = run_well("$DWELL values --each -n 0 --format json %s:%s | jq -r '.rows[] | .calls as $n | "
                          "range($n) as $i | .values.%s' | LC_ALL=C sort",
                          function, what, what);
    char *theirs = run_well("LC_ALL=C sort printed");
    cr_assert(eq(str, ours, theirs), "%s:%s", function, what);
    cr_assert(ne(int, *theirs, 0));
    free(ours);
    free(theirs);
}

static void strings_check_good(const char *compiler, bool views)
{
    strings_record(compiler, "good");
    strings_compare("take_string", "text");
    strings_compare("take_both", "one");
    strings_compare("take_both", "other");
    strings_compare("take_pushed", "text");
    if (views)
        strings_compare("take_view", "text");
}

static const char gcc[] = "g++ -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr",
                  gcc_plain[] = "g++ -O0 -finstrument-functions -finstrument-functions-exclude-file-list=/usr",
                  clang[] = "clang++ -O2 -finstrument-functions-after-inlining";

Test(e2e_values_strings, as_printed)
{
    strings_check_good(gcc, true);
    strings_check_good(gcc_plain, true);
    strings_check_good(clang, false);
}

static void strings_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* The program goes on. An empty text needs no address. */
static void strings_check_bad(const char *compiler, bool views)
{
    strings_record(compiler, "bad");
    strings_expect(BY_TEXT("take_string", "text") " | sed 's/x\\{64\\}/x/'", "1 \n1 x...\n7 null\n");
    if (views)
        strings_expect(BY_TEXT("take_view", "text") " | sed 's/x\\{64\\}/x/'", "1 \n1 x...\n6 null\n");
    strings_expect("$DWELL values --format json take_string:after | jq -c '[.rows[] | [.values.after, .calls]]'",
                   "[[5,9]]\n");
}

Test(e2e_values_strings, that_cannot_be_read)
{
    strings_check_bad(gcc, true);
    strings_check_bad(gcc_plain, true);
    strings_check_bad(clang, false);
}
