#include "report/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/message.h"
#include "base/wide.h"
#include "report/hints.h"
#include "report/table.h"
#include "trace/mark_search.h"

void slice_request_drop(struct slice_request *r)
{
    slice_free(&r->slice);
    row_filters_drop(&r->filters);
}

bool slice_is_asked_for(const struct slice_request *r)
{
    return r && (r->from.given || r->to.given || r->root || r->slice.threads.count || r->slice.processes.count);
}

/* ---- moments ---- */

struct slice_moment slice_moment_parse(const char *option, const char *text)
{
    static const char mark[] = "mark:";
    struct slice_moment moment = { .given = true };
    if (strncmp(text, mark, strlen(mark)) == 0 && text[strlen(mark)])
        moment.mark = text + strlen(mark);
    else if (!duration_parse(text, &moment.ns))
        die(STATUS_ERROR, "%s: '%s' is no time such as 500us, 2.5ms or 1s, and no mark as mark:1 or mark:loaded",
            option, text);
    return moment;
}

uint64_t slice_ticks(uint64_t ns, const struct session_file *file)
{
    const uint128 ticks = ((uint128)ns * file->header.ticks_per_second + 500000000u) / 1000000000u;
    return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

static uint64_t slice_ns_to_ticks(uint64_t ns, const struct session_file *file)
{
    const uint128 ticks = (uint128)slice_ticks(ns, file) + file->header.start_ticks;
    return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

/* The earliest that is later than `after`. */
static uint64_t slice_find_mark(struct slice_moment *m, const char *option, const struct session_file *file,
                                uint64_t after)
{
    uint64_t found;
    if (!mark_search(file, m->mark, after + 1, &found)) {
        if (after && mark_search(file, m->mark, 0, &found))
            die(STATUS_ERROR, "%s: %s: no mark '%s' is later than --from", file->path, option, m->mark);
        die(STATUS_ERROR, "%s: %s: no mark '%s'%s dwell marks lists them", file->path, option, m->mark,
            hint_mark(file, m->mark, ";"));
    }
    m->ns = found > file->header.start_ticks
                ? ticks_to_ns(found - file->header.start_ticks, file->header.ticks_per_second)
                : 0;
    return found;
}

void slice_moments_find(struct slice_moment *from, struct slice_moment *to, const struct session_file *file,
                        uint64_t *begin, uint64_t *end)
{
    *begin = 0;
    *end = UINT64_MAX;
    if (from->given)
        *begin = from->mark ? slice_find_mark(from, "--from", file, 0) : slice_ns_to_ticks(from->ns, file);
    if (to->given)
        *end = to->mark ? slice_find_mark(to, "--to", file, *begin) : slice_ns_to_ticks(to->ns, file);
    if (*begin >= *end)
        die(STATUS_ERROR, "%s: --from is not before --to", file->path);
}

static void slice_find_range(struct slice_request *r, const struct session_file *file)
{
    struct slice *s = &r->slice;
    const bool imported = file->header.origin & DWELL_ORIGIN_IMPORTED;
    if (imported || file->header.mode == DWELL_MODE_PROFILE)
        die(STATUS_ERROR, "%s: %s, so it has sums without times and cannot be cut by --from and --to", file->path,
            imported ? "imported" : "recorded in mode profile");
    *s = (struct slice){ .cut = true, .threads = s->threads, .processes = s->processes };
    slice_moments_find(&r->from, &r->to, file, &s->from, &s->to);
}

void slice_check_names(const struct slice *s, const struct session_file *file)
{
    const char *what, *name = slice_unknown_name(s, file, &what);
    if (!name)
        return;
    const bool is_thread = strcmp(what, "thread") == 0;
    die(STATUS_ERROR, "%s: no %s '%s'%s dwell report --by %s lists them", file->path, what, name,
        is_thread ? hint_thread(file, name, ";") : hint_process(file, name, ";"), what);
}

void slice_find(struct slice_request *r, const struct session_file *file)
{
    if (r->from.given || r->to.given)
        slice_find_range(r, file);
    slice_check_names(&r->slice, file);
}

/* ---- in words ---- */

static void slice_describe_moment(FILE *out, const char *word, const struct slice_moment *m)
{
    char time[DURATION_TEXT];
    if (!m->given)
        return;
    duration_text(m->ns, time);
    fputs(word, out);
    if (m->mark)
        fprintf(out, "mark %s (%s)", m->mark, time);
    else
        fputs(time, out);
}

static void slice_describe_names(FILE *out, const char *what, const struct slice_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        fprintf(out, "%s%s", i ? " or " : what, names->list[i]);
}

/* Before each part but the first. */
static const char *slice_separator(FILE *out)
{
    return ftell(out) > 0 ? ", " : "";
}

char *slice_describe(const struct slice_request *r)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        die(STATUS_ERROR, "out of memory");
    slice_describe_moment(out, "from ", &r->from);
    slice_describe_moment(out, r->from.given ? " to " : "to ", &r->to);
    if (r->slice.threads.count)
        fputs(slice_separator(out), out);
    slice_describe_names(out, "thread ", &r->slice.threads);
    if (r->slice.processes.count)
        fputs(slice_separator(out), out);
    slice_describe_names(out, "process ", &r->slice.processes);
    if (r->slice.below)
        fprintf(out, "%sin calls of %s", slice_separator(out), r->root);
    if (fclose(out) != 0)
        die(STATUS_ERROR, "out of memory");
    if (!*text) {
        free(text);
        text = NULL;
    }
    return text;
}
