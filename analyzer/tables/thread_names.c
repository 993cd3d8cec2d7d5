/* The view by names of threads: all threads of one name, such as those of a pool, are one row. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/views.h"

static const struct column columns[] = {
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "threads", "THREADS", CELL_COUNT, USE_ALWAYS, false },
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct thread_name_row {
    const char *name;
    uint64_t threads;
    struct times times;
};

static int thread_names_compare(const void *a, const void *b)
{
    return strcmp(((const struct thread_name_row *)a)->name, ((const struct thread_name_row *)b)->name);
}

/* The threads, sorted by name. The caller frees the list. */
static struct thread_name_row *thread_names_list(const struct analysis *analysis, const struct times *times,
                                                 size_t *count)
{
    struct thread_name_row *list = need_memory(analysis->profile->thread_count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < analysis->profile->thread_count; i++) {
        const struct trace_thread *t = session_file_thread(analysis->file, analysis->profile->threads[i].thread);
        if (!analysis->selection || !times_are_empty(&times[i]))
            list[(*count)++] = (struct thread_name_row){ t && t->name[0] ? t->name : "[unknown]", 1, times[i] };
    }
    if (*count)
        qsort(list, *count, sizeof *list, thread_names_compare);
    return list;
}

struct table view_thread_names(const struct analysis *analysis)
{
    struct table t = values_table(columns, COLUMN_COUNT, NULL, 0, &analysis->summary);
    size_t count;
    struct times *times = rollup_groups(analysis->rollup, BY_THREAD);
    struct thread_name_row *list = thread_names_list(analysis, times, &count);
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
    return t;
}
