/* "Did you mean": near names, and none where nothing is near. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/suggest.h"

static const char *const names[] = { "record", "report", "tree", "info", "replay" };

static void check(const char *typed, const char *wanted)
{
    const char *found = suggest(typed, names, sizeof names / sizeof *names);
    cr_assert(eq(str, (char *)(found ? found : ""), (char *)wanted), "%s", typed);
}

Test(unit_suggest, one_mistake)
{
    check("recrd", "record");
    check("rreport", "report");
    check("teee", "tree");
    check("rpeort", "report");
    check("trees", "tree");
    check("inof", "info");
    check("repaly", "replay");
}

Test(unit_suggest, two_mistakes)
{
    check("recodr", "record"); /* but swapped neighbours are one */
    check("rekord1", "record");
    check("repot", "report");
    check("rplai", "replay");
}

Test(unit_suggest, the_nearest_and_the_first_of_them)
{
    check("repor", "report");
    check("recort", "record");
    check("", "");
}

Test(unit_suggest, nothing_near)
{
    check("profile", "");
    check("xyz", "");
    check("a", "");
    check("in", "");
    check("recordrecordrecordrecordrecordrecord", "");
}
