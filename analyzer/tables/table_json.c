/* Makes JSON of a table's rows: each is an object, with a member for each column. */
#include "tables/table_json.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"

struct json_object *table_json_percent(double percent)
{
    char digits[PERCENT_ROOM];
    percent_digits(percent, digits);
    return json_object_new_double_s(percent, digits);
}

static struct json_object *table_json_change(const struct table *t, const struct cell *cell)
{
    const uint64_t ns = cell_change_ns(t, cell), most = INT64_MAX;
    return json_object_new_int64(cell->change < 0 ? -(int64_t)(ns < most ? ns : most)
                                                  : (int64_t)(ns < most ? ns : most));
}

/* JSON has no number for what is none, or endless. */
static struct json_object *table_json_digits(const char *digits)
{
    static const char *const texts[] = { "nan", "inf", "-inf" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(digits, texts[i]) == 0)
            return json_new_text(digits);
    return json_object_new_double_s(0, digits);
}

static struct json_object *table_json_path(const char *names)
{
    struct json_object *list = json_object_new_array();
    for (const char *at = names; *at;) {
        const size_t length = strcspn(at, ";");
        char *name = need_copy(at, length);
        json_object_array_add(list, json_new_text(name));
        free(name);
        at += length + (at[length] == ';');
    }
    return list;
}

static struct json_object *table_json_cell(const struct table *t, const struct column *column, const struct cell *cell)
{
    if (!cell->known)
        return NULL; /* null */
    switch (column->kind) {
    case CELL_TEXT:
        return cell->is_number ? json_object_new_double_s(0, cell->text) : json_new_text(cell->text);
    case CELL_NAME:
    case CELL_SOURCE:
    case CELL_THREADS:
    case CELL_OBJECT:
        return json_new_text(cell->text);
    case CELL_PATH:
        return table_json_path(cell->text);
    case CELL_COUNT:
    case CELL_NS:
        return json_object_new_uint64(cell->number);
    case CELL_TICKS:
    case CELL_MOMENT:
        return json_object_new_uint64(cell_ns(t, cell));
    case CELL_CHANGE:
        return table_json_change(t, cell);
    case CELL_DIGITS:
        return table_json_digits(cell->text);
    case CELL_PERCENT:
        return table_json_percent(cell->percent);
    }
    return NULL;
}

/* The next dot that separates members. Names of recorded values can have dots themselves, as req->head.size: behind
 * "values.", only an end of a range is a member, if there are ranges. */
static char *table_json_dot(const struct table *t, char *key, bool of_values)
{
    static const char *const ends[] = { ".from", ".to" };
    const size_t length = strlen(key);
    for (size_t i = 0; of_values && !t->single_values && i < sizeof ends / sizeof *ends; i++)
        if (length > strlen(ends[i]) && strcmp(key + length - strlen(ends[i]), ends[i]) == 0)
            return key + length - strlen(ends[i]);
    return of_values ? NULL : strchr(key, '.');
}

/* The key "object.kind" is the member "kind" of the member "object". */
static void table_json_add(const struct table *t, struct json_object *to, char *key, struct json_object *value)
{
    bool of_values = false;
    for (char *dot; (dot = table_json_dot(t, key, of_values)); key = dot + 1) {
        struct json_object *inner;
        *dot = 0;
        of_values = strcmp(key, "values") == 0;
        if (!json_object_object_get_ex(to, key, &inner)) {
            inner = json_object_new_object();
            json_object_object_add(to, key, inner);
        }
        to = inner;
    }
    json_object_object_add(to, key, value);
}

struct json_object *table_json_row(const struct table *t, const size_t *order, size_t count, size_t row)
{
    struct json_object *object = json_object_new_object();
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &t->columns[order[i]];
        char key[80];
        column_key(t, column, key, sizeof key);
        table_json_add(t, object, key, table_json_cell(t, column, &t->cells[row * t->column_count + order[i]]));
    }
    return object;
}

struct json_object *table_json_rows(const struct table *t, const size_t *order, size_t count, size_t most)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < t->row_count && i < most; i++)
        json_object_array_add(list, table_json_row(t, order, count, i));
    return list;
}
