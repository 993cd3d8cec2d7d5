/*
 * What the causing threads did meanwhile: the holder while a slow call waited for what it held, the waker while it was
 * awaited. So a row whose cause lies outside of the thread is followed one step further.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"
#include "causes/why.h"
#include "profile/path_scan.h"
#include "report/text_options.h"
#include "symbols/display_name.h"

enum { MOST_LINES = 3, MOST_PARTS = 3 };

struct meanwhile_ranges {
    struct path_range *list;
    size_t count, room;
};

/* A function's time of one kind. */
struct meanwhile_part {
    const char *how;
    uint32_t function; /* of the analysis; its number of functions for none */
    uint64_t ticks;
};

static void meanwhile_add_call(struct meanwhile_ranges *r, const struct why *why, const struct why_sampled *call,
                               const struct why_wait *wait)
{
    const struct why_waits *waits = &why->waits;
    for (size_t i = why_waits_seek(waits, call->thread, call->begin); i < waits->interval_count; i++) {
        const struct why_interval *in = &waits->intervals[i];
        if (in->thread != call->thread || in->begin >= call->end)
            return;
        if (&waits->list[in->wait] != wait || !in->cause || in->woken <= in->begin)
            continue;
        GROW(r->list, r->count, r->room);
        r->list[r->count++] = (struct path_range){ in->cause, in->begin, in->woken, in->begin };
    }
}

static int meanwhile_compare_ranges(const void *a, const void *b)
{
    const struct path_range *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/* Several calls may wait for one thread at a time, whose time counts once. */
static void meanwhile_join(struct meanwhile_ranges *r)
{
    size_t kept = 0;
    if (r->count)
        qsort(r->list, r->count, sizeof *r->list, meanwhile_compare_ranges);
    for (size_t i = 0; i < r->count; i++) {
        struct path_range *last = kept ? &r->list[kept - 1] : NULL;
        if (!last || last->thread != r->list[i].thread || last->end <= r->list[i].begin)
            r->list[kept++] = r->list[i];
        else if (last->end < r->list[i].end)
            last->end = r->list[i].end;
    }
    r->count = kept;
}

static int meanwhile_compare_parts(const void *a, const void *b)
{
    const struct meanwhile_part *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

static size_t meanwhile_list_parts(struct meanwhile_part *parts, const struct path_scan *scan, uint64_t *all)
{
    size_t count = 0;
    *all = 0;
    for (size_t i = 0; i < scan->functions; i++) {
        const struct path_times *times = &scan->sums[i];
        parts[count++] = (struct meanwhile_part){ "working", (uint32_t)i, times->work };
        parts[count++] = (struct meanwhile_part){ "ready to run", (uint32_t)i, times->runnable };
        parts[count++] = (struct meanwhile_part){ "waiting", (uint32_t)i, times->outside };
        *all += path_times_total(times);
    }
    qsort(parts, count, sizeof *parts, meanwhile_compare_parts);
    return count;
}

static void meanwhile_say_part(FILE *out, const struct analysis *analysis, const struct meanwhile_part *part,
                               double percent)
{
    fprintf(out, "%.0f %% %s", percent, part->how);
    if (part->function == analysis->profile->function_count) {
        fputs(" outside of functions", out);
        return;
    }
    const char *name = analysis->names[part->function].name;
    char *shown = text_options()->full_names ? need_text("%s", name) : display_name(name);
    fprintf(out, " in %s", shown);
    free(shown);
}

/* "97 % waiting in nanosleep, 3 % working in evict", or NULL if nothing was recorded. */
static char *meanwhile_text(const struct analysis *analysis, const struct path_scan *scan)
{
    static const double little = 1;
    struct meanwhile_part *parts = need_memory(3 * scan->functions, sizeof *parts);
    uint64_t all;
    const size_t count = meanwhile_list_parts(parts, scan, &all);
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < count && i < MOST_PARTS && all; i++) {
        const double percent = percent_of(parts[i].ticks, all);
        if (percent < little)
            break;
        fputs(i ? ", " : "", out);
        meanwhile_say_part(out, analysis, &parts[i], percent);
    }
    need_stream_end(out);
    free(parts);
    if (length)
        return text;
    free(text);
    return NULL;
}

static char *meanwhile_find(const struct why *why, const struct analysis *analysis, const struct why_wait *wait)
{
    struct meanwhile_ranges ranges = { 0 };
    char *text = NULL;
    for (size_t i = 0; i < why->scan.sampled_count; i++)
        if (why->scan.sampled[i].set == WHY_SLOW)
            meanwhile_add_call(&ranges, why, &why->scan.sampled[i], wait);
    meanwhile_join(&ranges);
    if (ranges.count) {
        struct path_scan scan =
            path_scan_run(analysis->file, analysis->profile, analysis_jobs(analysis), ranges.list, ranges.count, false);
        text = meanwhile_text(analysis, &scan);
        path_scan_drop(&scan);
    }
    free(ranges.list);
    return text;
}

void why_find_meanwhile(struct why *why, const struct analysis *analysis)
{
    for (size_t i = 0, asked = 0; i < why->line_count && asked < MOST_LINES; i++) {
        struct why_line *line = &why->lines[i];
        if (!line->found || !line->wait)
            continue;
        line->meanwhile = meanwhile_find(why, analysis, line->wait);
        asked++;
    }
}
