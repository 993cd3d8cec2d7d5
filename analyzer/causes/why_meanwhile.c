/*
 * What the causing threads did meanwhile: the holder while a slow call waited for what it held, the waker while it was
 * awaited. So a row whose cause lies outside of the thread is followed one step further.
 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/units.h"
#include "causes/why.h"
#include "profile/path_scan.h"
#include "symbols/display_name.h"

enum { MOST_LINES = 3, MOST_PARTS = 3 };

struct meanwhile_ranges {
    struct path_range *list;
    size_t count, room;
};

/* A function's time of one kind. */
struct meanwhile_part {
    const char *how;
    const char *name; /* NULL outside of functions */
    uint32_t function;
    uint64_t ticks;
};

/* The parts of all sessions. Functions of one name and module are one. */
struct meanwhile_parts {
    struct intern functions;
    struct meanwhile_part *list; /* one of each kind for each function */
    size_t count, room;
    uint64_t all; /* ticks */
};

static void meanwhile_add_call(struct meanwhile_ranges *r, const struct why_waits *waits,
                               const struct why_sampled *call, const struct why_wait *wait)
{
    for (size_t i = why_waits_seek(waits, call->thread, call->begin); i < waits->interval_count; i++) {
        const struct why_interval *in = &waits->intervals[i];
        if (in->thread != call->thread || in->begin >= call->end)
            return;
        if (waits->list[in->wait].number != wait->number || !in->cause || in->woken <= in->begin)
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

/* Adds a function's time in a session. */
static void meanwhile_add(struct meanwhile_parts *parts, const struct why_part *part, const char *name,
                          const char *module, const struct path_times *times)
{
    const char *const hows[] = { "working", "ready to run", "waiting" };
    const uint64_t ticks[] = { times->work, times->runnable, times->outside };
    enum { KINDS = sizeof hows / sizeof *hows };
    const uint32_t function = intern_pair(&parts->functions, name ? name : "", module, strlen(module));
    for (size_t i = 0; i < KINDS && parts->count == KINDS * function + i; i++) {
        GROW(parts->list, parts->count, parts->room);
        parts->list[parts->count++] = (struct meanwhile_part){ hows[i], name, function, 0 };
    }
    for (size_t i = 0; i < KINDS; i++) {
        const uint64_t added = why_ticks_of(part, ticks[i]);
        parts->list[KINDS * function + i].ticks += added;
        parts->all += added;
    }
}

static void meanwhile_add_scan(struct meanwhile_parts *parts, const struct why_part *part, const struct path_scan *scan)
{
    const struct analysis *analysis = part->session.analysis;
    const size_t functions = analysis->profile->function_count; /* the last sum is of time outside of them */
    for (size_t i = 0; i < scan->functions; i++)
        meanwhile_add(parts, part, i < functions ? analysis->names[i].name : NULL,
                      i < functions ? analysis->names[i].module : "", &scan->sums[i]);
}

static void meanwhile_say_part(FILE *out, const struct meanwhile_part *part, double percent)
{
    fprintf(out, "%.0f %% %s", percent, part->how);
    if (!part->name) {
        fputs(" outside of functions", out);
        return;
    }
    char *shown = text_options()->full_names ? need_text("%s", part->name) : display_name(part->name);
    fprintf(out, " in %s", shown);
    free(shown);
}

/* "97 % waiting in nanosleep, 3 % working in evict", or NULL if nothing was recorded. */
static char *meanwhile_text(struct meanwhile_parts *parts)
{
    static const double little = 1;
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (parts->count)
        qsort(parts->list, parts->count, sizeof *parts->list, meanwhile_compare_parts);
    for (size_t i = 0; i < parts->count && i < MOST_PARTS && parts->all; i++) {
        const double percent = percent_of(parts->list[i].ticks, parts->all);
        if (percent < little)
            break;
        fputs(i ? ", " : "", out);
        meanwhile_say_part(out, &parts->list[i], percent);
    }
    need_stream_end(out);
    if (length)
        return text;
    free(text);
    return NULL;
}

static void meanwhile_add_session(struct meanwhile_parts *parts, const struct why *why, const struct why_part *part,
                                  const struct why_wait *wait)
{
    const struct analysis *analysis = part->session.analysis;
    struct meanwhile_ranges ranges = { 0 };
    for (size_t i = part->first_sample; i < part->first_sample + part->sample_count; i++)
        if (why->scan.sampled[i].set == WHY_SLOW)
            meanwhile_add_call(&ranges, &part->waits, &why->scan.sampled[i], wait);
    meanwhile_join(&ranges);
    if (ranges.count) {
        struct path_scan scan = path_scan_run(analysis->file, analysis->profile, analysis_jobs(analysis), ranges.list,
                                              ranges.count, false, NULL);
        meanwhile_add_scan(parts, part, &scan);
        path_scan_drop(&scan);
    }
    free(ranges.list);
}

static char *meanwhile_find(const struct why *why, const struct why_wait *wait)
{
    struct meanwhile_parts parts = { .count = 0 };
    for (size_t i = 0; i < why->part_count; i++)
        meanwhile_add_session(&parts, why, &why->parts[i], wait);
    char *text = meanwhile_text(&parts);
    free(parts.list);
    intern_drop(&parts.functions);
    return text;
}

void why_find_meanwhile(struct why *why)
{
    for (size_t i = 0, asked = 0; i < why->line_count && asked < MOST_LINES; i++) {
        struct why_line *line = &why->lines[i];
        if (!line->found || !line->wait)
            continue;
        line->meanwhile = meanwhile_find(why, line->wait);
        asked++;
    }
}
