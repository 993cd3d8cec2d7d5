/* Reads the plan chunk and the values chunks of a session (docs/format.md). */
#include "trace/recorded_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "trace/session_file.h"
#include "trace/value_names.h"

/* ---- the plan ---- */

/* The sites of a function only have to be skipped. False if they do not fill the entry. */
static bool values_add_sites(struct recorded_values *v, const uint8_t *at, const uint8_t *end, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct dwell_values_site site;
        if ((size_t)(end - at) < sizeof site)
            return false;
        memcpy(&site, at, sizeof site);
        if (site.size < sizeof site || site.size > (size_t)(end - at))
            return false;
        at += site.size;
        GROW(v->sites, v->site_count, v->site_room);
        v->sites[v->site_count++] = (struct recorded_site){ (uint32_t)(v->function_count - 1), site.exit != 0 };
    }
    return at == end;
}

static struct recorded_value values_value(const uint8_t *at)
{
    struct dwell_value from;
    memcpy(&from, at, sizeof from);
    struct recorded_value value = { .kind = (enum dwell_value_kind)from.kind,
                                    .bytes = from.bytes,
                                    .result = from.result != 0 };
    memcpy(value.name, from.name, sizeof value.name - 1);
    return value;
}

/* Returns the size of the entry; zero if it is damaged. */
static size_t values_add_function(struct recorded_values *v, const uint8_t *at, size_t room)
{
    struct dwell_values_function f;
    if (room < sizeof f)
        return 0;
    memcpy(&f, at, sizeof f);
    const size_t texts = ((size_t)f.build_id_length + f.path_length + 7) & ~(size_t)7;
    const size_t head = sizeof f + texts + f.values * sizeof(struct dwell_value);
    if (f.values > DWELL_VALUES_MOST || f.size < head || f.size > room || f.size % 8)
        return 0;
    GROW(v->functions, v->function_count, v->function_room);
    struct recorded_function *function = &v->functions[v->function_count++];
    *function = (struct recorded_function){ .offset = f.offset, .value_count = f.values };
    function->build_id = (uint8_t *)need_copy((const char *)at + sizeof f, f.build_id_length);
    function->build_id_length = f.build_id_length;
    function->path = need_copy((const char *)at + sizeof f + f.build_id_length, f.path_length);
    for (uint32_t i = 0; i < f.values; i++)
        function->values[i] = values_value(at + sizeof f + texts + i * sizeof(struct dwell_value));
    return values_add_sites(v, at + head, at + f.size, f.sites) ? f.size : 0;
}

static void values_read_plan(struct recorded_values *v, const uint8_t *data, size_t end)
{
    struct dwell_values_plan plan;
    size_t at = sizeof plan;
    if (end < sizeof plan)
        return;
    memcpy(&plan, data, sizeof plan);
    for (uint32_t i = 0; i < plan.functions; i++) {
        const size_t size = values_add_function(v, data + at, end - at);
        v->damaged_chunks += !size;
        if (!size)
            return;
        at += size;
    }
    if (plan.names)
        v->damaged_chunks += plan.names < at || plan.names > end || !value_names_read(v, data + plan.names, data + end);
}

/* ---- rows ---- */

/* Of a value that begins there. */
static size_t values_word_count(const struct recorded_value *value, const uint64_t *words)
{
    return 1 + (value->kind == DWELL_VALUE_TEXT ? (recorded_text_length(words) + 7) / 8 : 0);
}

/* Whether the words are what the function's values take. */
static bool values_row_fits(const struct recorded_values *v, const struct recorded_row *row)
{
    const struct recorded_function *f = &v->functions[row->function];
    size_t at = 0;
    for (uint32_t i = 0; i < f->value_count; i++) {
        if (row->unread >> i & 1)
            continue;
        if (at == row->word_count)
            return false;
        const uint64_t *words = &row->words[at];
        if (f->values[i].kind == DWELL_VALUE_TEXT && recorded_text_length(words) > DWELL_VALUES_TEXT_MOST)
            return false;
        at += values_word_count(&f->values[i], words);
        if (at > row->word_count)
            return false;
    }
    return at == row->word_count;
}

/* What the rows of a session can be. */
struct values_kind {
    bool repeats; /* chunks begin with the rows of the calls that are open, as in mode ring */
    bool grows;   /* commands can add functions to the plan meanwhile */
};

/* A row of a function that the plan lacks. Returns false if there cannot be one. */
static bool values_add_later(struct recorded_values *v, const struct trace_chunk *chunk,
                             const struct dwell_values_row *head, struct values_kind kind)
{
    if (!kind.grows || head->site >= DWELL_VALUES_SITES)
        return false;
    if (head->state == DWELL_VALUES_WHOLE) {
        GROW(v->later, v->later_count, v->later_room);
        v->later[v->later_count++] = (struct recorded_later){ chunk->thread, head->time };
    }
    return true;
}

/* Returns the size of the row; zero if it is damaged. */
static uint32_t values_add_row(struct recorded_values *v, const struct trace_chunk *chunk, const uint8_t *at,
                               uint32_t room, struct values_kind kind)
{
    struct dwell_values_row head;
    if (room < sizeof head)
        return 0;
    memcpy(&head, at, sizeof head);
    const uint32_t size = (uint32_t)(sizeof head + head.words * sizeof(uint64_t));
    if (size > room || head.state > DWELL_VALUES_WHOLE)
        return 0;
    if (head.site >= v->site_count)
        return values_add_later(v, chunk, &head, kind) ? size : 0;
    const struct recorded_row row = {
        .thread = chunk->thread,
        .function = v->sites[head.site].function,
        .time = head.time,
        .unread = head.unread,
        .word_count = head.words,
        .words = (const uint64_t *)(const void *)(at + sizeof head),
        .exit = v->sites[head.site].exit,
        .chunk = (uint32_t)v->chunk_count,
    };
    if (head.state != DWELL_VALUES_WHOLE)
        return size;
    if (!values_row_fits(v, &row))
        return 0;
    v->functions[row.function].rows += !row.exit && (!kind.repeats || row.time >= chunk->start_time);
    GROW(v->rows, v->row_count, v->row_room);
    v->rows[v->row_count++] = row;
    return size;
}

/* Rows begin before `last`. Zeros were claimed by a probe that did not come to write them. */
static void values_add_rows(struct recorded_values *v, const struct trace_chunk *chunk, const uint8_t *data,
                            uint32_t last, struct values_kind kind)
{
    const uint32_t end = trace_chunk_end(chunk) / 8 * 8;
    for (uint32_t at = sizeof(struct dwell_chunk_header), size; at < end && at < last; at += size) {
        uint64_t first;
        memcpy(&first, data + at, sizeof first);
        size = first ? values_add_row(v, chunk, data + at, end - at, kind) : (uint32_t)sizeof first;
        if (!size) {
            v->damaged_chunks++;
            return;
        }
    }
}

static int values_compare_rows(const void *a, const void *b)
{
    const struct recorded_row *x = a, *y = b;
    const int order = ORDER_BY(x, y, thread, time, function, exit);
    return order ? order : x->chunk != y->chunk ? ORDER(x->chunk, y->chunk) : ORDER(x->words, y->words);
}

/* As those of one thread usually are. Sorting them takes longer than reading them. */
static bool values_are_sorted(const struct recorded_values *v)
{
    for (size_t i = 1; i < v->row_count; i++)
        if (values_compare_rows(&v->rows[i - 1], &v->rows[i]) > 0)
            return false;
    return true;
}

static bool values_same_call(const struct recorded_row *a, const struct recorded_row *b)
{
    return a->thread == b->thread && a->time == b->time && a->function == b->function;
}

static bool values_same_row(const struct recorded_row *a, const struct recorded_row *b)
{
    return values_same_call(a, b) && a->exit == b->exit;
}

/* Some rows of one chunk. */
struct values_run {
    size_t first, count;
};

/* Of the rows from `first` to `end`, those of the chunk that has the most: it repeats those of the chunks before it. */
static struct values_run values_longest_run(const struct recorded_values *v, size_t first, size_t end)
{
    struct values_run longest = { first, 0 }, run = longest;
    for (size_t i = first; i < end; i++) {
        if (v->rows[i].chunk != v->rows[run.first].chunk)
            run = (struct values_run){ i, 0 };
        run.count++;
        if (run.count > longest.count)
            longest = run;
    }
    return longest;
}

/* Leaves one of the rows of a call that several chunks have. Two calls can have the same time. */
static void values_drop_repeated(struct recorded_values *v)
{
    size_t kept = 0;
    for (size_t first = 0, end; first < v->row_count; first = end) {
        for (end = first; end < v->row_count && values_same_row(&v->rows[first], &v->rows[end]);)
            end++;
        const struct values_run run = values_longest_run(v, first, end);
        memmove(&v->rows[kept], &v->rows[run.first], run.count * sizeof *v->rows);
        kept += run.count;
    }
    v->row_count = kept;
}

/* Adds the rows of exits to those of their enters. If two calls have the same time, it is not known whose they are. */
static void values_join_exits(struct recorded_values *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct recorded_row row = v->rows[i];
        struct recorded_row *last = kept ? &v->rows[kept - 1] : NULL;
        const bool twin = kept > 1 && values_same_call(last, &v->rows[kept - 2]);
        if (!row.exit) {
            v->rows[kept++] = row;
        } else if (last && values_same_call(last, &row) && !twin && !last->results) {
            last->results = row.words;
            last->results_unread = row.unread;
        }
    }
    v->row_count = kept;
}

static int values_compare_later(const void *a, const void *b)
{
    const struct recorded_later *x = a, *y = b;
    return ORDER_BY(x, y, thread, time);
}

/* A call can have a row of its enter and one of its exit. */
static void values_count_later(struct recorded_values *v)
{
    if (v->later_count)
        qsort(v->later, v->later_count, sizeof *v->later, values_compare_later);
    for (size_t i = 0; i < v->later_count; i++)
        v->later_calls += i == 0 || values_compare_later(&v->later[i - 1], &v->later[i]) != 0;
    free(v->later);
    v->later = NULL;
    v->later_count = v->later_room = 0;
}

/* ---- the session ---- */

/* Returns the chunk's bytes, or NULL. */
static uint8_t *values_read_chunk(struct recorded_values *v, const struct session_file *file,
                                  const struct trace_chunk *chunk)
{
    uint8_t *data = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    if (session_file_read_chunk(file, chunk, data))
        return data;
    v->damaged_chunks++;
    free(data);
    return NULL;
}

/* Where the words end that are not zero. */
static uint32_t values_written(const uint8_t *data, uint32_t size)
{
    uint32_t end = size / 8 * 8;
    for (uint64_t word = 0; end > 0 && !word; end -= word ? 0 : 8)
        memcpy(&word, data + end - 8, sizeof word);
    return end;
}

/*
 * A thread may write rows while they are read. A row's first word is stored first, and its state last. A copy is made
 * from its start to its end, so it can have later words of a row without the first one. A second copy has the first
 * words of all rows that the first copy knows of. Returns NULL if the chunk is another one now, and sets *last.
 */
static uint8_t *values_read_live_chunk(const struct session_file *file, struct trace_chunk *chunk, uint32_t *last)
{
    struct trace_chunk now = { .offset = 0 };
    uint64_t next;
    uint8_t *data = need_memory((size_t)chunk->size + TRACE_PADDING, 1);
    bool same = session_file_read_chunk(file, chunk, data);
    *last = values_written(data, chunk->size);
    same = same && session_file_read_chunk(file, chunk, data) &&
           session_file_look(file, chunk->offset, &now, &next) == PLACE_CHUNK;
    if (same && now.kind == chunk->kind && now.thread == chunk->thread && now.sequence == chunk->sequence &&
        now.size <= chunk->size) {
        *chunk = now; /* it may have ended meanwhile */
        return data;
    }
    free(data);
    return NULL;
}

static struct recorded_values values_begin(const struct session_file *file)
{
    struct recorded_values v = { .functions = NULL };
    const struct trace_chunk *chunk = session_file_chunk(file, DWELL_CHUNK_PLAN, file->more.values);
    uint8_t *data = chunk ? values_read_chunk(&v, file, chunk) : NULL;
    if (data)
        values_read_plan(&v, data, trace_chunk_end(chunk));
    free(data);
    return v;
}

/* In mode ring, the chunks before a chunk may be gone. */
static struct values_kind values_kind_of(const struct session_file *file)
{
    return (struct values_kind){ .repeats = file->header.mode == DWELL_MODE_RING,
                                 .grows = file->header.state != DWELL_COMPLETE };
}

/* Reads all rows; without `keep`, they are only counted. */
static struct recorded_values values_read(const struct session_file *file, bool keep)
{
    struct recorded_values v = values_begin(file);
    const struct values_kind kind = values_kind_of(file);
    for (size_t i = 0; i < file->chunk_count && v.function_count; i++) {
        struct trace_chunk chunk = file->chunks[i];
        uint32_t last = UINT32_MAX;
        if (chunk.kind != DWELL_CHUNK_VALUES)
            continue;
        uint8_t *data = kind.grows && !chunk.used ? values_read_live_chunk(file, &chunk, &last)
                                                  : values_read_chunk(&v, file, &chunk);
        if (!data)
            continue;
        values_add_rows(&v, &chunk, data, last, kind);
        if (keep) {
            GROW(v.chunks, v.chunk_count, v.chunk_room);
            v.chunks[v.chunk_count++] = data;
        } else {
            v.row_count = 0;
            free(data);
        }
    }
    values_count_later(&v);
    return v;
}

bool recorded_values_are_withheld(void)
{
    const char *wanted = getenv(RECORDED_VALUES_WITHHELD);
    return wanted && *wanted;
}

struct recorded_values recorded_values_read(const struct session_file *file)
{
    if (recorded_values_are_withheld())
        return (struct recorded_values){ .functions = NULL };
    struct recorded_values v = values_read(file, true);
    if (!values_are_sorted(&v))
        qsort(v.rows, v.row_count, sizeof *v.rows, values_compare_rows);
    if (values_kind_of(file).repeats)
        values_drop_repeated(&v);
    values_join_exits(&v);
    return v;
}

struct recorded_values recorded_values_of_plan(const uint8_t *plan, size_t end)
{
    struct recorded_values v = { .functions = NULL };
    values_read_plan(&v, plan, end);
    return v;
}

struct recorded_values recorded_values_list(const struct session_file *file)
{
    return values_read(file, false);
}

void recorded_values_free(struct recorded_values *values)
{
    for (size_t i = 0; i < values->function_count; i++) {
        for (uint32_t j = 0; j < values->functions[i].value_count; j++)
            value_names_drop(&values->functions[i].values[j]);
        free(values->functions[i].path);
        free(values->functions[i].build_id);
    }
    for (size_t i = 0; i < values->chunk_count; i++)
        free(values->chunks[i]);
    free(values->functions);
    free(values->sites);
    free(values->rows);
    free(values->chunks);
}

const uint64_t *recorded_value_words(const struct recorded_values *values, const struct recorded_row *row,
                                     uint32_t value)
{
    const struct recorded_function *f = &values->functions[row->function];
    const bool result = f->values[value].result;
    const uint64_t *words = result ? row->results : row->words;
    const uint32_t unread = result ? row->results_unread : row->unread;
    if (!words || unread >> value & 1)
        return NULL;
    for (uint32_t i = 0; i < value; i++) {
        if (!(unread >> i & 1))
            words += values_word_count(&f->values[i], words);
    }
    return words;
}

const struct recorded_row *recorded_values_at(const struct recorded_values *values, uint32_t thread, uint64_t time,
                                              size_t *count)
{
    const size_t first = LOWER_BOUND(row, values->rows, values->row_count,
                                     row->thread < thread || (row->thread == thread && row->time < time));
    for (*count = 0; first + *count < values->row_count; ++*count) {
        const struct recorded_row *row = &values->rows[first + *count];
        if (row->thread != thread || row->time != time)
            break;
    }
    return &values->rows[first];
}
