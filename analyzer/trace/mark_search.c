/* Finds the time of a mark by its number or text: reads the events of all chunks. */
#include "trace/mark_search.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "trace/chunk_window.h"

struct mark_query {
    const char *wanted;
    bool is_number;
    uint32_t number;
    uint64_t begin, found; /* `found` is UINT64_MAX until a mark is found */
};

static bool mark_search_matches(const struct mark_query *s, const struct decoded_mark *mark)
{
    if (s->is_number && mark->number == s->number)
        return true;
    char *text = need_copy(mark->text, mark->length);
    const bool same = fnmatch(s->wanted, text, 0) == 0 || strcmp(s->wanted, text) == 0;
    free(text);
    return same;
}

static void mark_search_window(struct mark_query *s, struct decoder *d)
{
    enum decoded event;
    while ((event = decode_next(d)) != DECODED_END) {
        if (event != DECODED_CONTROL || d->control_type != DWELL_EXT_MARK)
            continue;
        const struct decoded_mark mark = decode_mark(d);
        if (mark.time >= s->begin && mark.time < s->found && mark_search_matches(s, &mark))
            s->found = mark.time;
    }
}

bool mark_search(const struct session_file *file, const char *wanted, uint64_t begin, uint64_t *time)
{
    struct mark_query s = { .wanted = wanted, .begin = begin, .found = UINT64_MAX };
    char *end;
    errno = 0;
    const unsigned long number = strtoul(wanted, &end, 10);
    s.is_number = !errno && end != wanted && !*end && *wanted != '-' && number <= UINT32_MAX;
    s.number = (uint32_t)number;
    struct chunk_window window = { 0 };
    struct decoder d;
    progress_begin("searching", file->path, file->chunk_count);
    for (size_t i = 0; i < file->chunk_count; i++, progress_add(1)) {
        const struct trace_chunk *chunk = &file->chunks[i];
        if (chunk->kind != DWELL_CHUNK_EVENTS || chunk->start_time >= s.found ||
            !window_begin(&window, file, chunk, &d))
            continue;
        do
            mark_search_window(&s, &d);
        while (window_more(&window, &d));
    }
    window_free(&window);
    progress_end();
    *time = s.found;
    return s.found != UINT64_MAX;
}
