/* Marks of rows in text: what kind of figures a row has, once beside its name. */
#include "report/text_marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { WIDE = 20 /* percent: intervals of estimates from here on are shown */ };

/* The mark of a row, without the blank behind it. The first time that is an estimate says how certain they are. */
static char *text_marks_make(const struct table *t, const size_t *order, size_t count, size_t row)
{
    bool is_estimated = false;
    unsigned spread = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &t->cells[row * t->column_count + order[i]];
        if (cell->partial)
            return need_text(">");
        is_estimated |= cell->estimated;
        if (cell->estimated && !spread && column_is_time(&t->columns[order[i]]))
            spread = cell->spread;
    }
    if (spread >= WIDE)
        return need_text("~%u%%", spread);
    return need_text("%s", is_estimated ? "~" : "");
}

/* The last name, or else the first text. The number of columns if there is none. */
static size_t text_marks_column(const struct table *t, const size_t *order, size_t count)
{
    size_t first = t->column_count;
    for (size_t i = count; i-- > 0;) {
        if (t->columns[order[i]].kind == CELL_NAME)
            return order[i];
        if (column_is_words(&t->columns[order[i]]))
            first = order[i];
    }
    return first;
}

struct text_marks text_marks_find(const struct table *t, const size_t *order, size_t count)
{
    struct text_marks marks = { .column = text_marks_column(t, order, count) };
    size_t widest = 0;
    if (t->marks_cells || marks.column == t->column_count)
        return marks;
    marks.texts = need_memory(t->row_count + 1, sizeof *marks.texts);
    for (size_t row = 0; row < t->row_count; row++) {
        marks.texts[row] = text_marks_make(t, order, count, row);
        const size_t width = strlen(marks.texts[row]);
        widest = width > widest ? width : widest;
    }
    for (size_t row = 0; row < t->row_count && widest; row++) {
        char *mark = marks.texts[row];
        const int width = t->columns[marks.column].tree ? (int)strlen(mark) : (int)widest;
        marks.texts[row] = need_text("%-*s%s", width, mark, width ? " " : "");
        free(mark);
    }
    return marks;
}

const char *text_marks_of(const struct text_marks *marks, size_t column, size_t row)
{
    return marks->texts && column == marks->column ? marks->texts[row] : "";
}

void text_marks_drop(struct text_marks *marks)
{
    for (size_t row = 0; marks->texts && marks->texts[row]; row++)
        free(marks->texts[row]);
    free(marks->texts);
}
