/* Which activities of trace events the settings of --keep name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "keep_names.h"

static bool names_marker(const char *setting, uint32_t number, const char *text)
{
    return keep_text_names(setting, &(struct activity_names){ true, number, { text, strlen(text) } });
}

static bool names_class(const char *setting, const char *name)
{
    return keep_text_names(setting, &(struct activity_names){ false, 0, { name, strlen(name) } });
}

Test(unit_keep_names, markers)
{
    static const char string[] = "Test=Request,Kind=small";
    static const char *const right[] = {
        "7>1ms",
        "marker:7>1ms",
        "Test=Request,Kind=small>1ms",
        "Test=Request>p99",
        "marker:Kind=small>5xmean",
        "*=small>off",
        "marker:Test=*>1ms",
        "?est=Req*>1ms",
    };
    static const char *const wrong[] = {
        "17>1ms", "Test>1ms", "Kind=>1ms", "activity:7>1ms", "marker:perflog>1ms", "marker:>1ms", ">1ms", "7", "",
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        cr_assert(names_marker(right[i], 7, string), "%s", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert(not(names_marker(wrong[i], 7, string)), "%s", wrong[i]);
    cr_assert(names_marker("marker:4294967295>1ms", UINT32_MAX, ""));
    cr_assert(names_marker("0>1ms", 0, ""));
}

Test(unit_keep_names, classes)
{
    cr_assert(names_class("shop>1ms", "shop"));
    cr_assert(names_class("activity:s*p>1ms", "shop"));
    cr_assert(names_class("a>b*>1ms", "a>bc"));
    cr_assert(not(names_class("marker:shop>1ms", "shop")));
    cr_assert(not(names_class("sho>1ms", "shop")));
    cr_assert(not(names_class("shop?>1ms", "shop")));
}

/* A setting that fills its room may have lost its end. */
Test(unit_keep_names, text_that_may_be_cut)
{
    char text[DWELL_KEEP_TEXT + 1] = "*>1";
    memset(text + 3, '0', DWELL_KEEP_TEXT - 4);
    cr_assert(eq(sz, strlen(text), (size_t)DWELL_KEEP_TEXT - 1));
    cr_assert(not(names_class(text, "shop")));
    text[DWELL_KEEP_TEXT - 2] = '\0';
    cr_assert(names_class(text, "shop"));
}

Test(unit_keep_names, settings_that_end)
{
    cr_assert(keep_text_is_off("marker:7>off"));
    cr_assert(not(keep_text_is_off("marker:7>1ms")));
    cr_assert(not(keep_text_is_off("off")));
}
