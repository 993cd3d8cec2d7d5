/* Chooses the columns of a table that fit a terminal. */
#include "report/text_fit.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

enum { NAME_ROOM = 24, OTHER_ROOM = 10, SHORT_TEXT = 8 };

/* Columns in the order in which they are left out. The four times stay longest. */
static const char *const least_important[] = {
    "waiting_percent",
    "application_inclusive_percent",
    "elapsed_inclusive_percent",
    "application_exclusive_percent",
    "source",
    "path",
    "elapsed_exclusive_percent",
    "module",
    "application_inclusive",
    "arguments",
    NULL,
};

size_t text_width(const char *text)
{
    const size_t length = strlen(text);
    wchar_t *wide = need_memory(length + 1, sizeof *wide);
    const size_t count = mbstowcs(wide, text, length + 1);
    const int width = count != (size_t)-1 ? wcswidth(wide, count) : -1;
    free(wide);
    return width >= 0 ? (size_t)width : length;
}

bool text_may_be_cut(bool is_text, size_t width)
{
    return is_text && width > SHORT_TEXT;
}

/* The width that the columns need. Numbers and short texts are shown whole; longer texts may be cut, the first one (the
 * name) less than others. */
static size_t text_fit_needed_width(const struct table *t, const size_t *order, const size_t *widths, size_t count)
{
    size_t sum = 0;
    const size_t name_room = t->name_room ? t->name_room : NAME_ROOM;
    bool named = false;
    for (size_t i = 0; i < count; i++) {
        const bool is_long = text_may_be_cut(t->columns[order[i]].kind == CELL_TEXT, widths[i]);
        const size_t room = !is_long ? widths[i] : named ? OTHER_ROOM : name_room;
        sum += (widths[i] < room ? widths[i] : room) + (i > 0);
        named |= is_long;
    }
    return sum;
}

size_t text_fit(const struct table *t, size_t *order, size_t *widths, size_t count, size_t terminal)
{
    const char *const *next = t->optional ? t->optional : least_important;
    for (; *next && text_fit_needed_width(t, order, widths, count) > terminal; next++)
        for (size_t i = 0; i < count; i++) {
            if (strcmp(t->columns[order[i]].key, *next) != 0)
                continue;
            memmove(order + i, order + i + 1, (count - i - 1) * sizeof *order);
            memmove(widths + i, widths + i + 1, (count - i - 1) * sizeof *widths);
            count--;
            break;
        }
    return count;
}
