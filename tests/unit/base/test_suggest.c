/* "Did you mean": suggests similar names, and nothing if no name is similar. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/suggest.h"

static const char *const names[] = { "record", "report", "tree", "info", "replay" };

static void expect_suggestion(const char *typed, const char *wanted)
{
    const char *found = suggest(typed, names, sizeof names / sizeof *names);
    cr_assert(eq(str, (char *)(found ? found : ""), (char *)wanted), "%s", typed);
}

Test(unit_suggest, one_mistake)
{
    expect_suggestion("recrd", "record");
    expect_suggestion("rreport", "report");
    expect_suggestion("teee", "tree");
    expect_suggestion("rpeort", "report");
    expect_suggestion("trees", "tree");
    expect_suggestion("inof", "info");
    expect_suggestion("repaly", "replay");
}

Test(unit_suggest, two_mistakes)
{
    expect_suggestion("recodr", "record"); /* but swapped neighbours count as one mistake */
    expect_suggestion("rekord1", "record");
    expect_suggestion("repot", "report");
    expect_suggestion("rplai", "replay");
}

Test(unit_suggest, the_first_of_the_nearest_is_suggested)
{
    expect_suggestion("repor", "report");
    expect_suggestion("recort", "record");
    expect_suggestion("", "");
}

Test(unit_suggest, the_beginning_of_a_name)
{
    expect_suggestion("rec", "record");
    expect_suggestion("rep", "report");
    expect_suggestion("re", "");
}

Test(unit_suggest, nothing_is_suggested_if_nothing_is_near)
{
    expect_suggestion("profile", "");
    expect_suggestion("xyz", "");
    expect_suggestion("a", "");
    expect_suggestion("in", "");
    expect_suggestion("recordrecordrecordrecordrecordrecord", "");
}
