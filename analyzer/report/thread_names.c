/* The view by names of threads: those of a pool are one row. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/views.h"

static const struct column columns[] = {
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "threads", "THREADS", CELL_COUNT, USE_ALWAYS, false },
    TIME_COLUMNS,
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct named {
    const char *name;
    uint64_t threads;
    struct times times;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* By name; to be freed. */
static struct named *name_threads(const struct loaded *l, const struct times *times, size_t *count)
{
    struct named *list = need_memory(l->profile->thread_count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < l->profile->thread_count; i++) {
        const struct trace_thread *t = session_file_thread(l->file, l->profile->threads[i].thread);
        if (!l->slice || !times_are_empty(&times[i]))
            list[(*count)++] = (struct named){ t && t->name[0] ? t->name : "[unknown]", 1, times[i] };
    }
    if (*count)
        qsort(list, *count, sizeof *list, compare_names);
    return list;
}

struct table view_thread_names(const struct loaded *l, const struct sorting *sorting)
{
    struct table t = table_make(columns, COLUMN_COUNT, &l->summary);
    t.first_value = COLUMN_COUNT - TIME_COLUMN_COUNT;
    size_t count;
    struct times *times = rollup_groups(l->rollup, BY_THREAD);
    struct named *list = name_threads(l, times, &count);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && strcmp(list[next].name, list[first].name) == 0; next++) {
            times_add(&list[first].times, &list[next].times);
            list[first].threads++;
        }
        struct cell *cells = table_row(&t);
        cell_text(&cells[0], list[first].name);
        cell_number(&cells[1], list[first].threads);
        fill_times(&t, &list[first].times);
    }
    free(list);
    free(times);
    view_sort(&t, sorting);
    return t;
}
