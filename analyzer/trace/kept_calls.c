/* The calls whose windows a session keeps, and these windows. */
#include "trace/kept_calls.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "trace/session_file.h"

bool kept_call_read(struct trace_kept *call, uint32_t process, const void *record, size_t size)
{
    struct dwell_rec_kept r = { .around = UINT64_MAX };
    if (size < offsetof(struct dwell_rec_kept, around))
        return false;
    memcpy(&r, record, size < sizeof r ? offsetof(struct dwell_rec_kept, around) : sizeof r);
    *call = (struct trace_kept){
        .process = process,
        .thread = r.thread,
        .watch = r.watch,
        .usual = r.usual,
        .function = r.function,
        .enter_time = r.enter_time,
        .exit_time = r.exit_time,
        .missing = r.missing,
        .around = r.around,
    };
    return true;
}

void kept_calls_add(struct kept_calls *kept, const struct trace_kept *call)
{
    GROW(kept->calls, kept->count, kept->room);
    kept->calls[kept->count++] = *call;
}

static int kept_compare_calls(const void *a, const void *b)
{
    const struct trace_kept *x = a, *y = b;
    return ORDER_BY(x, y, exit_time, process, thread);
}

void kept_calls_order(struct session_file *file)
{
    if (file->kept.count && (file->more.dropped_calls || file->more.dropped_usual))
        qsort(file->kept.calls, file->kept.count, sizeof *file->kept.calls, kept_compare_calls);
}

bool kept_calls_are_all(const struct session_file *file)
{
    return file->more.keep && file->header.state == DWELL_COMPLETE;
}

bool kept_settings_read(const struct session_file *file, struct dwell_keep *keep)
{
    const struct trace_chunk *chunk = session_file_chunk(file, DWELL_CHUNK_KEEP, file->more.keep);
    uint8_t bytes[DWELL_UNIT + TRACE_PADDING];
    if (!chunk || chunk->size != DWELL_UNIT || !session_file_read_chunk(file, chunk, bytes))
        return false;
    memcpy(keep, bytes, sizeof *keep);
    if (keep->watches > DWELL_KEEP_WATCHES)
        return false;
    for (uint32_t j = 0; j < keep->watches; j++)
        keep->watch[j].text[DWELL_KEEP_TEXT - 1] = '\0';
    return true;
}

uint64_t kept_around(const struct trace_kept *call, const struct dwell_keep *keep)
{
    return smaller(call->around, keep->around);
}

static int kept_compare_windows(const void *a, const void *b)
{
    const struct kept_window *x = a, *y = b;
    return ORDER_BY(x, y, process, begin);
}

struct kept_window *kept_windows(const struct kept_calls *kept, const struct dwell_keep *keep, size_t *count)
{
    struct kept_window *windows = need_memory(kept->count, sizeof *windows);
    for (size_t i = 0; i < kept->count; i++) {
        const struct trace_kept *call = &kept->calls[i];
        const uint64_t around = kept_around(call, keep);
        windows[i] = (struct kept_window){
            .process = keep->flags & DWELL_KEEP_OTHERS ? 0 : call->process,
            .begin = less(call->enter_time, around),
            .end = add_saturated(call->exit_time, around),
        };
    }
    if (kept->count)
        qsort(windows, kept->count, sizeof *windows, kept_compare_windows);
    *count = 0;
    for (size_t i = 0; i < kept->count; i++) {
        struct kept_window *last = *count ? &windows[*count - 1] : NULL;
        if (last && last->process == windows[i].process && windows[i].begin <= last->end)
            last->end = windows[i].end > last->end ? windows[i].end : last->end;
        else
            windows[(*count)++] = windows[i];
    }
    return windows;
}

static bool kept_windows_overlap(const struct kept_window *windows, size_t count, const struct kept_window *range)
{
    /* the first one that ends at or after the range's begin */
    const size_t first = LOWER_BOUND(
        w, windows, count, w->process < range->process || (w->process == range->process && w->end < range->begin));
    return first < count && windows[first].process == range->process && windows[first].begin <= range->end;
}

bool kept_windows_cover(const struct kept_window *windows, size_t count, const struct kept_window *range)
{
    const struct kept_window of_all = { 0, range->begin, range->end };
    return kept_windows_overlap(windows, count, range) || kept_windows_overlap(windows, count, &of_all);
}
