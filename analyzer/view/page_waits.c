/* Packs the tables of dwell waits for the page, with the single waits, the critical path and the ranking. It joins the
 * rows of reports and the containers of pages, which do not know of each other. */
#include "view/page_waits.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "tables/cause_rows.h"
#include "view/critical_path.h"
#include "view/longest_waits.h"

enum { MAX_TEXTS = 13, MAX_NUMBERS = 4, MAX_COLUMNS = MAX_TEXTS + MAX_NUMBERS };
enum { TABLE_COUNT = 5, ALL_TABLES = TABLE_COUNT + 2 + CRITICAL_TABLES };
enum { MAX_ROWS = 2000, MAX_PATH = 2000, THOUSAND = 1000 };

/* The size of a wait in a page is at most about this. Waits take an eighth of the detail. */
enum { WAIT_SIZE = 32, WAITS_OF_DETAIL = 8 };

/* A table of dwell waits as columns of numbers: texts are numbers in the list of texts, from 1; 0 is none. */
struct page_table {
    const char *name;
    uint64_t *numbers; /* column by column */
    size_t rows, columns;
    size_t left_out; /* rows */
    struct container_column described[MAX_COLUMNS];
};

static const char *const page_table_names[TABLE_COUNT] = { [WAITS_BY_PATH] = "by_path",
                                                           [WAITS_BY_LOCK] = "by_lock",
                                                           [WAITS_BY_FUNCTION] = "by_function",
                                                           [WAITS_BY_THREAD] = "by_thread",
                                                           [WAITS_BY_WAKER] = "by_waker" };

/* Texts are those of the terminal: threads of one name have their titles. Paths may be long, and there are many. */
static uint64_t page_table_number(struct intern *texts, const struct column *column, const struct cell *cell)
{
    if (!cell->known)
        return 0;
    switch (column->kind) {
    case CELL_COUNT:
    case CELL_TICKS:
        return cell->number;
    case CELL_PERCENT:
        return (uint64_t)(cell->percent * THOUSAND + 0.5);
    default: {
        const char *text = cell->shown ? cell->shown : cell->text;
        return text[0] ? 1 + (uint64_t)intern(texts, text, strlen(text)) : 0;
    }
    }
}

/* The page's texts are titles already. */
static bool page_table_has(const struct column *column)
{
    static const char *const left_out[] = { "thread_title", "tid", "cause_thread_title", "cause_tid" };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (strcmp(column->key, left_out[i]) == 0)
            return false;
    return true;
}

static struct page_table page_table_of(const struct table *t, const char *name, struct intern *texts)
{
    struct page_table p = { .name = name, .rows = t->row_count, .left_out = t->hidden_rows };
    p.numbers = need_memory(p.rows * t->column_count + 1, sizeof *p.numbers);
    for (size_t i = 0; i < t->column_count && p.columns < MAX_COLUMNS; i++) {
        uint64_t *values = &p.numbers[p.columns * p.rows];
        const struct column *column = &t->columns[i];
        if (!page_table_has(column))
            continue;
        for (size_t row = 0; row < p.rows; row++)
            values[row] = page_table_number(texts, column, &t->cells[row * t->column_count + i]);
        p.described[p.columns++] =
            (struct container_column){ column->key, values, sizeof *values, CONTAINER_U64, NULL };
    }
    return p;
}

static struct json_object *page_waits_texts(const struct intern *texts)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < texts->count; i++)
        json_object_array_add(list, json_new_text(texts->pieces[i].bytes));
    return list;
}

static struct json_object *page_waits_header(const struct wait_causes *causes, bool has_single,
                                             const struct page_table *tables, const struct page_waits *waits,
                                             const struct intern *texts)
{
    struct json_object *header = json_object_new_object(), *left_out = json_object_new_object();
    json_object_object_add(header, "causes", json_object_new_boolean(causes->acting != NULL));
    json_object_object_add(header, "counted", json_object_new_boolean(causes->counted));
    json_object_object_add(header, "waits", json_object_new_uint64(has_single ? causes->count : 0));
    for (int i = 0; i < TABLE_COUNT; i++)
        json_object_object_add(left_out, tables[i].name, json_object_new_uint64(tables[i].left_out));
    json_object_object_add(left_out, "edges", json_object_new_uint64(waits->edges_left_out));
    json_object_object_add(header, "left_out", left_out);
    json_object_object_add(header, "texts", page_waits_texts(texts));
    return header;
}

/* Makes the tables of dwell waits, and what the page shows of single waits. Returns the header without the critical
 * path. */
static struct json_object *page_waits_read(const struct analysis *analysis, const struct order *order,
                                           const struct wait_causes *causes, size_t detail, struct page_table *tables,
                                           struct page_waits *waits)
{
    struct intern texts = { 0 };
    uint32_t *rows[TABLE_COUNT] = { NULL }; /* of each wait, in the two tables that single waits refer to */
    rows[WAITS_BY_PATH] = need_memory(causes->count + 1, sizeof **rows);
    rows[WAITS_BY_LOCK] = need_memory(causes->count + 1, sizeof **rows);
    for (int i = 0; i < TABLE_COUNT; i++) {
        const struct cause_limits limits = { MAX_ROWS, MAX_PATH, rows[i] };
        struct table t = view_causes_limited(analysis, causes, (enum waits_by)i, &limits);
        tables[i] = page_table_of(&t, page_table_names[i], &texts);
        table_drop(&t);
    }
    const struct wait_places places = { rows[WAITS_BY_PATH], rows[WAITS_BY_LOCK] };
    page_waits_find(waits, analysis, order, causes, &places, detail / WAITS_OF_DETAIL / WAIT_SIZE);
    struct json_object *header =
        page_waits_header(causes, analysis->file->header.mode != DWELL_MODE_PROFILE, tables, waits, &texts);
    free(rows[WAITS_BY_PATH]);
    free(rows[WAITS_BY_LOCK]);
    intern_drop(&texts);
    return header;
}

bool page_waits_make(const struct analysis *analysis, size_t detail, struct packed *packed)
{
    struct page_table tables[TABLE_COUNT];
    struct page_waits waits;
    struct page_critical critical;
    struct container_table all[ALL_TABLES];
    if (analysis->summary.imported)
        return false;
    struct order *order = order_new(analysis);
    struct wait_causes causes = wait_causes_find(analysis);
    struct json_object *header = page_waits_read(analysis, order, &causes, detail, tables, &waits);
    page_critical_find(&critical, analysis, order, &causes);
    json_object_object_add(header, "critical", page_critical_facts(&critical, analysis, order));
    for (int i = 0; i < TABLE_COUNT; i++)
        all[i] = (struct container_table){ tables[i].name, tables[i].rows, tables[i].described, tables[i].columns };
    all[TABLE_COUNT] = page_waits_table(&waits);
    all[TABLE_COUNT + 1] = page_waits_edge_table(&waits);
    const size_t count = TABLE_COUNT + 2 + page_critical_tables(&critical, all + TABLE_COUNT + 2);
    const bool good = container_pack(header, all, count, packed);
    for (int i = 0; i < TABLE_COUNT; i++)
        free(tables[i].numbers);
    page_critical_drop(&critical);
    page_waits_drop(&waits);
    order_free(order);
    return good;
}
