/* Takes the waits and their names from the view of waits, which has a row for each path, object and cause. */
#include "causes/why_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "tables/cause_rows.h"

enum { MAX_PATH_BYTES = 4096 };

enum why_text { KIND, NAME, WAITS_FOR, CAUSE, CAUSE_FUNCTION, CAUSE_PATH, CAUSE_THREAD, TEXTS };

static size_t why_waits_column(const char *key)
{
    size_t column = 0;
    while (strcmp(view_causes_columns[column].key, key) != 0)
        column++;
    return column;
}

static void why_waits_find_columns(size_t columns[TEXTS])
{
    static const char *const keys[TEXTS] = { "object.kind",    "object.name", "waits_for",   "cause",
                                             "cause_function", "cause_path",  "cause_thread" };
    for (size_t i = 0; i < TEXTS; i++)
        columns[i] = why_waits_column(keys[i]);
}

static const char *why_waits_keep(struct why_waits *w, const char *text)
{
    GROW(w->texts, w->text_count, w->text_room);
    return w->texts[w->text_count++] = need_copy(text, strlen(text));
}

static struct why_wait why_waits_make(struct why_waits *w, const char *const *texts, const struct cell *title,
                                      const struct cell *tid)
{
    struct why_wait wait = { .tid = tid->known ? (uint32_t)tid->number : 0 };
    wait.kind = why_waits_keep(w, texts[KIND]);
    wait.name = why_waits_keep(w, texts[NAME]);
    wait.text = why_waits_keep(w, texts[WAITS_FOR]);
    wait.cause = why_waits_keep(w, texts[CAUSE]);
    wait.function = why_waits_keep(w, texts[CAUSE_FUNCTION]);
    wait.path = why_waits_keep(w, texts[CAUSE_PATH]);
    wait.thread = why_waits_keep(w, texts[CAUSE_THREAD]);
    wait.title = why_waits_keep(w, title->known ? title->text : "");
    return wait;
}

void why_waits_join_threads(struct why_waits *w, struct why_wait *wait, const struct why_wait *other)
{
    const size_t length = thread_title_length(wait->title);
    if (wait->tid != other->tid)
        wait->tid = 0;
    if (strcmp(wait->title, other->title) == 0)
        return;
    const bool alike = length == thread_title_length(other->title) && strncmp(wait->title, other->title, length) == 0;
    char *common = need_copy(alike ? wait->title : wait->thread, alike ? length : strlen(wait->thread));
    wait->title = why_waits_keep(w, common);
    free(common);
}

/* Rows of the view differ by the paths that waited, too. Returns the number of each row's wait; the caller frees it. */
static uint32_t *why_waits_number(struct why_waits *w, const struct table *t)
{
    size_t columns[TEXTS] = { 0 }, length;
    const size_t title = why_waits_column("cause_thread_title"), tid = why_waits_column("cause_tid");
    struct intern known = { 0 };
    uint32_t *numbers = need_memory(t->row_count + 1, sizeof *numbers);
    why_waits_find_columns(columns);
    for (size_t i = 0; i < t->row_count; i++) {
        const char *texts[TEXTS];
        char *key;
        FILE *out = need_stream(&key, &length);
        for (size_t j = 0; j < TEXTS; j++) {
            const struct cell *cell = &t->cells[i * t->column_count + columns[j]];
            texts[j] = cell->known ? cell->text : "";
            fwrite(texts[j], 1, strlen(texts[j]) + 1, out);
        }
        need_stream_end(out);
        numbers[i] = intern(&known, key, length);
        free(key);
        const struct cell *cells = &t->cells[i * t->column_count];
        const struct why_wait wait = why_waits_make(w, texts, &cells[title], &cells[tid]);
        if (numbers[i] < w->count) {
            why_waits_join_threads(w, &w->list[numbers[i]], &wait);
            continue;
        }
        GROW(w->list, w->count, w->room);
        w->list[w->count++] = wait;
    }
    intern_drop(&known);
    return numbers;
}

struct why_waits why_waits_find(const struct analysis *analysis)
{
    struct why_waits w = { .count = 0 };
    struct analysis whole = *analysis; /* a call may have begun before the selected part */
    whole.selection = NULL;
    struct wait_causes causes = wait_causes_find(&whole);
    uint32_t *rows = need_memory(causes.count + 1, sizeof *rows);
    const struct cause_limits limits = { SIZE_MAX, MAX_PATH_BYTES, rows };
    struct table t = view_causes_limited(&whole, &causes, WAITS_BY_OBJECT, &limits);
    uint32_t *numbers = why_waits_number(&w, &t);
    w.intervals = need_memory(causes.count + 1, sizeof *w.intervals);
    for (size_t i = 0; i < causes.count; i++) {
        const struct caused_wait *wait = &causes.list[i];
        w.intervals[w.interval_count++] = (struct why_interval){
            wait->wait.place.thread,
            wait->wait.place.begin,
            wait->wait.place.end,
            wait->ticks,
            numbers[rows[i]],
            wait->thread,
            wait->woken ? wait->woken : wait->wait.place.end,
        };
    }
    free(numbers);
    free(rows);
    table_drop(&t);
    wait_causes_drop(&causes);
    return w;
}

size_t why_waits_seek(const struct why_waits *waits, uint32_t thread, uint64_t time)
{
    return LOWER_BOUND(wait, waits->intervals, waits->interval_count,
                       wait->thread < thread || (wait->thread == thread && wait->begin < time));
}

void why_waits_drop(struct why_waits *waits)
{
    for (size_t i = 0; i < waits->text_count; i++)
        free(waits->texts[i]);
    free(waits->texts);
    free(waits->list);
    free(waits->intervals);
}
