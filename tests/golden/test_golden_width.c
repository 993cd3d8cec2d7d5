/* No line of a view is wider than the terminal: its tables, the sentences above and below them, and dwell info. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hostile.h"
#include "support/run.h"

static const int widths[] = { 80, 100, 120 };
enum { WIDTHS = sizeof widths / sizeof *widths };

/* Commands whose text has lines of code, or that print no view. */
static const char *const others[] = { "replay",  "annotate", "view",   "export", "import",
                                      "profile", "merge",    "record", "doctor", "control" };

static bool width_is_limited(const struct hostile_view *view)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(view->command, others[i]) == 0)
            return false;
    return !strstr(view->arguments, "--summary"); /* Markdown */
}

/* The width of the widest line. */
static int width_of(const char *command, const char *arguments, int terminal)
{
    char *text = run_well("export LC_ALL=C.UTF-8 COLUMNS=%d; $DWELL %s %s >text 2>errors || test $? = 1; wc -L <text",
                          terminal, command, arguments);
    const int width = atoi(text);
    free(text);
    return width;
}

Test(golden_width, no_view_is_wider_than_the_terminal)
{
    hostile_save("some::scope_of_::names_of_the_usual_length_");
    for (size_t i = 0; hostile_views[i].command; i++)
        for (size_t j = 0; j < WIDTHS && width_is_limited(&hostile_views[i]); j++) {
            const int width = width_of(hostile_views[i].command, hostile_views[i].arguments, widths[j]);
            cr_expect(le(int, width, widths[j]), "%s %s", hostile_views[i].command, hostile_views[i].arguments);
        }
}
