/* Chooses the columns of a table that fit a terminal, and how wide its texts may be. */
#include "report/text_fit.h"

#include <string.h>

enum {
    OTHER_ROOM = 10, /* the least width of a long text that is no name */
    SHORT_TEXT = 8,
    PIPE_NAME = 48, /* the most of a name that other columns follow, without a terminal */
    PIPE_TEXT = 96, /* the same of another text, such as the name of a variable */
};

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

bool text_may_be_cut(const struct column *column, size_t width)
{
    return column_is_words(column) && width > SHORT_TEXT;
}

static size_t text_fit_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The index of the column whose texts matter most: the last name, or else the first long text. */
static size_t text_fit_main(const struct text_columns *c)
{
    size_t first = c->count;
    for (size_t i = c->count; i-- > 0;) {
        const struct column *column = &c->table->columns[c->order[i]];
        if (column->kind == CELL_NAME)
            return i;
        if (text_may_be_cut(column, c->widths[i]))
            first = i;
    }
    return first;
}

/* The width of a column in a line in which no text is wider than `most`, and no name wider than twice that. Numbers,
 * short texts and titles are never cut. */
static size_t text_fit_column(const struct text_columns *c, size_t at, size_t main, size_t most)
{
    const struct column *column = &c->table->columns[c->order[at]];
    const size_t title = strlen(column->title);
    size_t width = at == main                  ? text_fit_max(2 * most, c->name_room)
                   : column->kind == CELL_NAME ? text_fit_max(2 * most, NAME_ROOM)
                                               : text_fit_max(most, OTHER_ROOM);
    if (!text_may_be_cut(column, c->widths[at]))
        return c->widths[at];
    width = text_fit_max(width, title);
    return width < c->widths[at] ? width : c->widths[at];
}

static size_t text_fit_line(const struct text_columns *c, size_t most)
{
    const size_t main = text_fit_main(c);
    size_t sum = c->count ? c->count - 1 : 0;
    for (size_t i = 0; i < c->count; i++)
        sum += text_fit_column(c, i, main, most);
    return sum;
}

static void text_fit_remove(struct text_columns *c, size_t at)
{
    c->count--;
    memmove(c->order + at, c->order + at + 1, (c->count - at) * sizeof *c->order);
    memmove(c->widths + at, c->widths + at + 1, (c->count - at) * sizeof *c->widths);
}

void text_fit(struct text_columns *c, size_t terminal)
{
    const char *const *next = c->table->optional ? c->table->optional : least_important;
    for (; *next && text_fit_line(c, 0) > terminal; next++)
        for (size_t i = 0; i < c->count; i++)
            if (strcmp(c->table->columns[c->order[i]].key, *next) == 0) {
                text_fit_remove(c, i);
                break;
            }
}

static void text_fit_limit_texts(struct text_columns *c)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        const struct column *column = &c->table->columns[c->order[i]];
        const size_t most = column->kind == CELL_NAME ? PIPE_NAME : PIPE_TEXT;
        if (text_may_be_cut(column, c->widths[i]) && c->widths[i] > most)
            c->widths[i] = most;
    }
}

void text_fit_share(struct text_columns *c, size_t terminal)
{
    size_t share = 0, most = terminal;
    if (!terminal) {
        text_fit_limit_texts(c);
        return;
    }
    while (share < most) { /* the largest that fits */
        const size_t middle = (share + most + 1) / 2;
        if (text_fit_line(c, middle) <= terminal)
            share = middle;
        else
            most = middle - 1;
    }
    const size_t main = text_fit_main(c), line = text_fit_line(c, share);
    const size_t left = line < terminal ? terminal - line : 0;
    for (size_t i = 0; i < c->count; i++) {
        const size_t width = text_fit_column(c, i, main, share) + (i == main ? left : 0);
        c->widths[i] = width < c->widths[i] ? width : c->widths[i];
    }
}
