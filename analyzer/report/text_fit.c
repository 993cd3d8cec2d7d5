/* Chooses the columns of a table that fit a terminal, and how wide its texts may be. */
#include "report/text_fit.h"

#include <string.h>

enum {
    OTHER_ROOM = 10, /* the least width of a long text that is no name */
    LEAST_NAME = 16, /* of the main column, before numbers leave that no list names */
    LAST_NAME = 8,   /* the same when no number is left but the first one */
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

/* The width of a column in a line in which no text is wider than `most`. Names and texts of moderate width, such as a
 * reason or an object, have twice that. Numbers, short texts and titles are never cut. */
static size_t text_fit_column(const struct text_columns *c, size_t at, size_t main, size_t most)
{
    const struct column *column = &c->table->columns[c->order[at]];
    const size_t title = strlen(column->title);
    const bool moderate = c->widths[at] <= NAME_ROOM;
    size_t width = at == main                                 ? text_fit_max(2 * most, c->name_room)
                   : column->kind == CELL_NAME                ? text_fit_max(2 * most, NAME_ROOM)
                   : c->order[at] + 1 == c->table->roomy_text ? text_fit_max(2 * most, c->name_room)
                   : column->kind == CELL_OBJECT              ? text_fit_max(2 * most, c->object_room)
                                                              : text_fit_max(moderate ? 2 * most : most, OTHER_ROOM);
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

/* The line with the least room for the main column. */
static size_t text_fit_narrowest(struct text_columns *c)
{
    const size_t room = c->name_room;
    c->name_room = room < LEAST_NAME ? room : LEAST_NAME;
    const size_t line = text_fit_line(c, 0);
    c->name_room = room;
    return line;
}

/* Removes the last number but not the first one, nor that by which rows are sorted. Returns false if there is none. */
static bool text_fit_remove_number(struct text_columns *c)
{
    for (size_t i = c->count; i-- > 1;)
        if (c->order[i] + 1 != c->table->sort_column && !column_is_words(&c->table->columns[c->order[i]])) {
            text_fit_remove(c, i);
            return true;
        }
    return false;
}

static bool text_fit_is_empty(const struct text_columns *c, size_t at)
{
    const struct table *t = c->table;
    for (size_t row = 0; row < t->row_count; row++)
        if (t->cells[row * t->column_count + c->order[at]].known)
            return false;
    return column_is_words(&t->columns[c->order[at]]);
}

/* Of a table that says what may leave: texts are not cut for columns that say nothing. */
static void text_fit_remove_empty(struct text_columns *c, size_t terminal)
{
    for (size_t i = c->count; i-- > 0 && text_fit_line(c, terminal) > terminal;)
        if (i != text_fit_main(c) && text_fit_is_empty(c, i))
            text_fit_remove(c, i);
}

/* A third of the line, as names of the waiting function and of that which ends the wait stand beside it. */
static void text_fit_set_objects(struct text_columns *c, size_t terminal)
{
    c->object_room = text_fit_max(NAME_ROOM, terminal / 3);
}

void text_fit(struct text_columns *c, size_t terminal)
{
    text_fit_set_objects(c, terminal);
    if (c->table->optional)
        text_fit_remove_empty(c, terminal);
    const char *const *next = c->table->optional ? c->table->optional : least_important;
    for (; *next && text_fit_line(c, 0) > terminal; next++)
        for (size_t i = 0; i < c->count; i++)
            if (strcmp(c->table->columns[c->order[i]].key, *next) == 0) {
                text_fit_remove(c, i);
                break;
            }
    while (text_fit_narrowest(c) > terminal && text_fit_remove_number(c))
        continue;
}

/* Makes the main column narrower than its usual room if the line is too wide otherwise. */
static void text_fit_lower_room(struct text_columns *c, size_t main, size_t terminal)
{
    const size_t line = text_fit_line(c, 0), over = line > terminal ? line - terminal : 0;
    const size_t width = main < c->count ? text_fit_column(c, main, main, 0) : 0;
    if (over)
        c->name_room = width > over + LAST_NAME ? width - over : LAST_NAME;
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
    const size_t main = text_fit_main(c);
    text_fit_set_objects(c, terminal);
    text_fit_lower_room(c, main, terminal);
    while (share < most) { /* the largest that fits */
        const size_t middle = (share + most + 1) / 2;
        if (text_fit_line(c, middle) <= terminal)
            share = middle;
        else
            most = middle - 1;
    }
    const size_t line = text_fit_line(c, share);
    const size_t left = line < terminal ? terminal - line : 0;
    for (size_t i = 0; i < c->count; i++) {
        const size_t width = text_fit_column(c, i, main, share) + (i == main ? left : 0);
        c->widths[i] = width < c->widths[i] ? width : c->widths[i];
    }
}
